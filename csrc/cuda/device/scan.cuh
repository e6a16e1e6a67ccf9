// Running sums, products and extrema. A scanner says what is loaded for an element, how neighbours
// are joined and what is stored.
#pragma once

#define FB_LEAST_BLOCKS 4
#include "cuda/device/order.cuh"
#include "cuda/device/scan_args.h"
#include "scalar/arith.h"
#include "scalar/math.h"

namespace fb::device {

// As kernel::ScanOp, and others that scan.cpp has.
enum class ScanOp : int { kSum, kProd, kLogSumExp, kMax, kMin, kRecurrence, kRuns };

// Totals run in double where elements are float, as on the CPU.
template <class T>
struct RunningOf {
  using Type = T;
};
template <>
struct RunningOf<float> {
  using Type = double;
};
template <>
struct RunningOf<Complex<float>> {
  using Type = Complex<double>;
};
template <class T>
using Running = typename RunningOf<T>::Type;

// Element j of a row, in the order of the scan, is at `at` of the arrays.
template <class T, ScanOp op>
struct Scanner {
  using Item = T;  // what an element is kept as
  using Total = Running<T>;
  static constexpr bool kPlain = true;  // items are elements, of which nothing else is needed
  __device__ static Total identity() { return Total(op == ScanOp::kProd ? 1 : 0); }
  __device__ static Total join(Total a, Total b) {
    return op == ScanOp::kProd ? scalar::mul(a, b) : scalar::add(a, b, Total(1));
  }
  __device__ static T item(const ScanArguments& args, long long at, long long) {
    return static_cast<const T*>(args.in)[at];
  }
  __device__ static Total total(T item, long long) { return convert<Total>(item); }
  __device__ static void store(const ScanArguments& args, long long at, long long, Total total) {
    static_cast<T*>(args.out)[at] = convert<T>(total);
  }
};

template <class T>
struct Scanner<T, ScanOp::kLogSumExp> : Scanner<T, ScanOp::kSum> {
  using Total = Running<T>;
  __device__ static Total identity() { return Total(-math::infinity<double>()); }
  __device__ static Total join(Total a, Total b) {
    if constexpr (kIsComplex<T>) {
      const Total high = a.re > b.re ? a : b, low = a.re > b.re ? b : a;
      if (high.re == -math::infinity<double>()) return high;
      return high + math::log(Total(1) + math::exp(low - high));
    } else {
      // Equal infinities must not be subtracted; a NaN shows in the sum of the two.
      if (a == b) return a + math::kLn2<Total>;
      if ((a != a) | (b != b)) return a + b;
      const Total high = a > b ? a : b, low = a > b ? b : a;
      return high + math::log1p(math::exp(low - high));
    }
  }
};

// The last element that is at least as good as all before it; NaN is better than numbers.
template <class T, bool largest>
struct ExtremumScanner {
  using Item = T;
  struct Total {
    T value;
    long long index;  // -1: none yet
  };
  static constexpr bool kPlain = false;
  __device__ static Total identity() { return {T(0), -1}; }
  __device__ static Total join(Total a, Total b) {
    if (a.index < 0) return b;
    if (b.index < 0) return a;
    const bool better = largest ? b.value >= a.value : b.value <= a.value;
    return (b.value != b.value) | (better & (a.value == a.value)) ? b : a;
  }
  __device__ static T item(const ScanArguments& args, long long at, long long) {
    return static_cast<const T*>(args.in)[at];
  }
  __device__ static Total total(T item, long long j) { return {item, j}; }
  __device__ static void store(const ScanArguments& args, long long at, long long, Total best) {
    static_cast<T*>(args.out)[at] = best.value;
    args.indices[at] = best.index;
  }
};
template <class T>
struct Scanner<T, ScanOp::kMax> : ExtremumScanner<T, true> {};
template <class T>
struct Scanner<T, ScanOp::kMin> : ExtremumScanner<T, false> {};

// Maps y -> value + factor * y, one after the other.
template <class T>
struct Scanner<T, ScanOp::kRecurrence> {
  using Value = Running<T>;
  struct Total {
    Value factor, value;
  };
  using Item = Total;
  static constexpr bool kPlain = false;
  __device__ static Total identity() { return {Value(1), Value(0)}; }
  __device__ static Total join(Total a, Total b) {
    return {a.factor * b.factor, b.value + b.factor * a.value};
  }
  __device__ static Total item(const ScanArguments& args, long long at, long long j) {
    const auto* factor = static_cast<const T*>(args.factor) + (args.reverse ? args.inner : 0);
    return {j == 0 ? Value(0) : convert<Value>(factor[at]),
            convert<Value>(static_cast<const T*>(args.in)[at])};
  }
  __device__ static Total total(Total item, long long) { return item; }
  __device__ static void store(const ScanArguments& args, long long at, long long, Total total) {
    static_cast<T*>(args.out)[at] = convert<T>(total.value);
  }
};

// Sums of the elements with equal keys, added to out[key].
template <class T>
struct Scanner<T, ScanOp::kRuns> {
  using Value = Running<T>;
  struct Total {
    Value sum;
    long long begins;  // whether a key begins among the elements
  };
  using Item = Total;
  static constexpr bool kPlain = false;
  __device__ static Total identity() { return {Value(0), 0}; }
  __device__ static Total join(Total a, Total b) {
    return {b.begins ? b.sum : a.sum + b.sum, a.begins | b.begins};
  }
  __device__ static Total item(const ScanArguments& args, long long at, long long j) {
    return {convert<Value>(static_cast<const T*>(args.in)[args.order[at]]),
            j == 0 || args.keys[at] != args.keys[at - 1]};
  }
  __device__ static Total total(Total item, long long) { return item; }
  __device__ static void store(const ScanArguments& args, long long at, long long j, Total total) {
    const long long key = args.keys[at];
    if (key >= args.limit || (j + 1 < args.n && args.keys[at + 1] == key)) return;
    T& sum = static_cast<T*>(args.out)[key];
    sum = convert<T>(convert<Value>(sum) + total.sum);
  }
};

// `lanes` threads for each row, a block for several of them.
template <class S>
__device__ inline void scan_rows(const ScanArguments& args) {
  using Total = typename S::Total;
  constexpr int kItems = 4;
  const int thread = static_cast<int>(threadIdx.x), lane = thread & (args.lanes - 1);
  const long long per_block = kThreads / args.lanes;
  const long long row = blockIdx.x * per_block + thread / args.lanes;
  const bool inside = row < args.rows;
  const auto joined = [](Total a, Total b) { return S::join(a, b); };
  const auto place = [&](long long j) {
    return row * args.n + (args.reverse ? args.n - 1 - j : j);
  };
  Total carry = S::identity();
  for (long long tile = 0; tile < args.n; tile += args.lanes * kItems) {
    const long long first = tile + lane * kItems;
    Total items[kItems], own = S::identity();
    for (int k = 0; k < kItems; ++k) {
      const long long j = first + k;
      items[k] = S::identity();
      if (!inside || j >= args.n) continue;
      items[k] = S::total(S::item(args, place(j), j), j);
      own = S::join(own, items[k]);
    }
    const Scanned<Total> scanned = scan_group(own, args.lanes, S::identity(), joined);
    Total total = S::join(carry, scanned.before);
    for (int k = 0; k < kItems; ++k) {
      const long long j = first + k;
      if (!inside || j >= args.n) break;
      total = S::join(total, items[k]);
      S::store(args, place(j), j, total);
    }
    carry = S::join(carry, scanned.total);
  }
}

// A thread for each row, or for a segment of it: neighbours have neighbouring rows.
template <class S, bool writes>
__device__ inline void scan_columns(const ScanArguments& args) {
  using Total = typename S::Total;
  const long long row = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (row >= args.rows) return;
  const long long outer = row / args.inner;
  const long long base = outer * args.n * args.inner + (row - outer * args.inner);
  const long long segment = blockIdx.y, begin = segment * args.segment_length;
  const long long end = begin + args.segment_length < args.n ? begin + args.segment_length : args.n;
  Total* const totals = static_cast<Total*>(args.totals);
  Total total = S::identity();
  if (writes)
    for (long long s = 0; s < segment; ++s) total = S::join(total, totals[s * args.rows + row]);
  for (long long j = begin; j < end; ++j) {
    const long long at = base + (args.reverse ? args.n - 1 - j : j) * args.inner;
    total = S::join(total, S::total(S::item(args, at, j), j));
    if (writes) S::store(args, at, j, total);
  }
  if (!writes) totals[segment * args.rows + row] = total;
}

// --- long rows: read once
//
// Blocks publish the totals of tiles, of groups of 32 tiles and of groups of 32 groups. What is
// before a tile is joined from these, always in the same way, so that results do not depend on
// which block was the first. Blocks take their tiles in the order in which they begin, so that a
// block waits for none that has not begun.

// A total as words, each with a flag: every access is whole, so there is no order to keep.
template <class V>
struct Published {
  static constexpr int kWords = static_cast<int>(sizeof(V) / 4);
  unsigned long long words[kWords];

  __device__ static void write(unsigned long long* states, long long number, V value) {
    const auto words = bit_cast<Words<V>>(value);
    volatile unsigned long long* const at = states + number * kWords;
#pragma unroll
    for (int w = 0; w < kWords; ++w) at[w] = 1ull << 32 | words.at[w];
  }
  __device__ void read(const unsigned long long* states, long long number) {
    const volatile unsigned long long* const at = states + number * kWords;
#pragma unroll
    for (int w = 0; w < kWords; ++w) words[w] = at[w];
  }
  __device__ static V awaited(const unsigned long long* states, long long number) {
    Published found;
    do found.read(states, number);
    while (!found.is_there());
    return found.value();
  }
  __device__ bool is_there() const {
    unsigned long long all = words[0];
#pragma unroll
    for (int w = 1; w < kWords; ++w) all &= words[w];
    return all >> 32 != 0;
  }
  __device__ V value() const {
    Words<V> plain;
#pragma unroll
    for (int w = 0; w < kWords; ++w) plain.at[w] = static_cast<unsigned>(words[w]);
    return bit_cast<V>(plain);
  }
};

// The totals of the lanes of a warp in order; every lane gets the result.
template <class S>
__device__ inline typename S::Total join_lanes_in_order(typename S::Total own) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  for (int by = 1; by < kWarp; by *= 2) {
    const auto left = shuffle_up(own, by);
    if (lane >= by) own = S::join(left, own);
  }
  return shuffle_from(own, kWarp - 1);
}

// What is before a tile of a row. Called by a whole warp, once for each tile.
template <class S>
__device__ inline typename S::Total total_before(unsigned long long* states, int tiles, int tile,
                                                 typename S::Total own) {
  using Total = typename S::Total;
  using State = Published<Total>;
  const long long groups = (tiles + kScanGroup - 1) / kScanGroup;
  unsigned long long* const of_groups = states + tiles * State::kWords;
  unsigned long long* const of_many = of_groups + groups * State::kWords;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const long long group = tile / kScanGroup, many = group / kScanGroup;
  if (lane == 0) State::write(states, tile, own);
  const bool has_tile = group * kScanGroup + lane < tile;
  const bool has_group = many * kScanGroup + lane < group;
  State of_tile, of_group;
  if (has_tile) of_tile.read(states, group * kScanGroup + lane);
  if (has_group) of_group.read(of_groups, many * kScanGroup + lane);
  Total before = S::identity();
  for (long long first = 0; first < many; first += kWarp) {
    Total own_many = S::identity();
    if (first + lane < many) own_many = State::awaited(of_many, first + lane);
    before = S::join(before, join_lanes_in_order<S>(own_many));
  }
  if (has_group)
    while (!of_group.is_there()) of_group.read(of_groups, many * kScanGroup + lane);
  const Total groups_before = join_lanes_in_order<S>(has_group ? of_group.value() : S::identity());
  if (has_tile)
    while (!of_tile.is_there()) of_tile.read(states, group * kScanGroup + lane);
  const Total tiles_before = join_lanes_in_order<S>(has_tile ? of_tile.value() : S::identity());
  if (lane == 0 && tile % kScanGroup == kScanGroup - 1) {
    const Total of_own = S::join(tiles_before, own);
    State::write(of_groups, group, of_own);
    if (group % kScanGroup == kScanGroup - 1)
      State::write(of_many, many, S::join(groups_before, of_own));
  }
  return S::join(S::join(before, groups_before), tiles_before);
}

// Of a row, and where it is.
struct ScanTile {
  long long row;
  int number;
};

// A warp takes neighbours, a pack of each lane beside the next lane's. `packed`: a whole tile of
// elements that are read and written by packs.
template <class T, class S, bool packed>
__device__ inline void scan_tile(const ScanArguments& args, const ScanTile& tile) {
  using Total = typename S::Total;
  constexpr int kWide = 16 / static_cast<int>(sizeof(T)), kStep = kWarp * kWide;
  constexpr int kTile = kScanTileBytes / static_cast<int>(sizeof(T));
  __shared__ Total totals[kWarps], tile_before;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % kWarp, warp = thread / kWarp;
  const long long first =
      static_cast<long long>(tile.number) * kTile + warp * (kScanPacks * kStep) + lane * kWide;
  const long long pack = (tile.row * args.n + first) / kWide;
  const long long rest = args.n - first;
  const int count =
      packed || rest > kScanPacks * kStep ? kScanPacks * kStep : static_cast<int>(rest);
  const int direction = args.reverse ? -1 : 1;
  const long long place = tile.row * args.n + (args.reverse ? args.n - 1 - first : first);

  typename S::Item items[kScanPacks][kWide];
#pragma unroll
  for (int p = 0; p < kScanPacks; ++p) {
    if constexpr (packed) {
      load_pack(static_cast<const T*>(args.in), pack + p * kWarp, items[p]);
    } else {
#pragma unroll
      for (int k = 0; k < kWide; ++k)
        if (p * kStep + k < count)
          items[p][k] = S::item(args, place + direction * (p * kStep + k), first + p * kStep + k);
    }
  }
  const auto total_of = [&](int p, int k) {
    if (packed || p * kStep + k < count) return S::total(items[p][k], first + p * kStep + k);
    return S::identity();
  };
  Total before[kScanPacks];  // in the warp, of each pack
  Total of_warp = S::identity();
#pragma unroll
  for (int p = 0; p < kScanPacks; ++p) {
    Total own = total_of(p, 0);
#pragma unroll
    for (int k = 1; k < kWide; ++k) own = S::join(own, total_of(p, k));
#pragma unroll
    for (int by = 1; by < kWarp; by *= 2) {
      const Total left = shuffle_up(own, by);
      if (lane >= by) own = S::join(left, own);
    }
    const Total left = shuffle_up(own, 1);
    before[p] = lane == 0 ? of_warp : S::join(of_warp, left);
    of_warp = S::join(of_warp, shuffle_from(own, kWarp - 1));
  }
  if (lane == 0) totals[warp] = of_warp;
  __syncthreads();
  if (warp == 0) {
    Total own = totals[0];
    for (int w = 1; w < kWarps; ++w) own = S::join(own, totals[w]);
    unsigned long long* const states =
        args.states + tile.row * scan_states(args.tiles) * Published<Total>::kWords;
    const Total found = total_before<S>(states, args.tiles, tile.number, own);
    if (lane == 0) tile_before = found;
  }
  __syncthreads();
  Total warp_before = tile_before;
  for (int w = 0; w < warp; ++w) warp_before = S::join(warp_before, totals[w]);
#pragma unroll
  for (int p = 0; p < kScanPacks; ++p) {
    Total total = S::join(warp_before, before[p]);
    Total results[kWide];
#pragma unroll
    for (int k = 0; k < kWide; ++k) {
      total = S::join(total, total_of(p, k));
      if constexpr (packed)
        results[k] = total;
      else if (p * kStep + k < count)
        S::store(args, place + direction * (p * kStep + k), first + p * kStep + k, total);
    }
    if constexpr (packed) store_pack(static_cast<T*>(args.out), pack + p * kWarp, results);
  }
}

template <class T, class S>
__device__ inline void scan_tiles(const ScanArguments& args) {
  constexpr int kWide = 16 / static_cast<int>(sizeof(T));
  constexpr int kTile = kScanTileBytes / static_cast<int>(sizeof(T));
  __shared__ unsigned begun;
  if (threadIdx.x == 0) begun = atomicAdd(args.ticket, 1u);
  __syncthreads();
  const long long row = args.tiles == 1 ? begun : begun / static_cast<unsigned>(args.tiles);
  const ScanTile tile{row, static_cast<int>(begun - row * args.tiles)};
  const bool full = (tile.number + 1ll) * kTile <= args.n;
  const auto ends = reinterpret_cast<unsigned long long>(args.in) |
                    reinterpret_cast<unsigned long long>(args.out);
  const bool aligned = ends % 16 == 0;
  if constexpr (S::kPlain)
    if (full && aligned && row * args.n % kWide == 0) return scan_tile<T, S, true>(args, tile);
  scan_tile<T, S, false>(args, tile);
}

template <class T, ScanOp op>
__device__ inline void scan_long_rows(const ScanArguments& args) {
  scan_tiles<T, Scanner<T, op>>(args);
}

template <class T, ScanOp op>
__device__ inline void scan_totals(const ScanArguments& args) {
  scan_columns<Scanner<T, op>, false>(args);
}

template <class T, ScanOp op>
__device__ inline void scan_elements(const ScanArguments& args) {
  if (args.inner > 1)
    scan_columns<Scanner<T, op>, true>(args);
  else
    scan_rows<Scanner<T, op>>(args);
}

}  // namespace fb::device
