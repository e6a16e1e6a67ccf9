// Running sums, products and extrema. A scanner says what is loaded for an element, how neighbours
// are joined and what is stored.
#pragma once

#define FB_LEAST_BLOCKS 3
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
  // Items are elements, of which nothing else is needed, and may be joined in any order.
  static constexpr bool kPlain = true;
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
  template <int count>
  __device__ static void store(const ScanArguments& args, long long pack, Total (&totals)[count]) {
    store_pack(static_cast<T*>(args.out), pack, totals);
  }
};

// The largest exponent and the sum of exponentials relative to it: one exponential for each join.
template <class T>
struct Scanner<T, ScanOp::kLogSumExp> : Scanner<T, ScanOp::kSum> {
  struct Total {
    T high;
    double sum;
  };
  __device__ static Total identity() { return {T(-math::infinity<T>()), 0}; }
  __device__ static Total join(Total a, Total b) {
    // NaN shows in the sum, and equal infinities must not be subtracted.
    const bool first = a.high > b.high;
    const T high = first ? a.high : b.high, low = first ? b.high : a.high;
    const auto less = static_cast<double>(high == low ? T(1) : math::exp(T(low - high)));
    return {high, first ? a.sum + b.sum * less : b.sum + a.sum * less};
  }
  __device__ static Total total(T item, long long) { return {item, 1}; }
  __device__ static T result(Total total) {
    return total.high + math::log(static_cast<T>(total.sum));
  }
  __device__ static void store(const ScanArguments& args, long long at, long long, Total total) {
    static_cast<T*>(args.out)[at] = result(total);
  }
  template <int count>
  __device__ static void store(const ScanArguments& args, long long pack, Total (&totals)[count]) {
    T results[count];
#pragma unroll
    for (int k = 0; k < count; ++k) results[k] = result(totals[k]);
    store_pack(static_cast<T*>(args.out), pack, results);
  }
};
template <class T>
struct ComplexLogSumExp : Scanner<T, ScanOp::kSum> {
  using Total = Running<T>;
  __device__ static Total identity() { return Total(-math::infinity<double>()); }
  __device__ static Total join(Total a, Total b) {
    const Total high = a.re > b.re ? a : b, low = a.re > b.re ? b : a;
    if (high.re == -math::infinity<double>()) return high;
    return high + math::log(Total(1) + math::exp(low - high));
  }
};
template <>
struct Scanner<Complex<float>, ScanOp::kLogSumExp> : ComplexLogSumExp<Complex<float>> {};
template <>
struct Scanner<Complex<double>, ScanOp::kLogSumExp> : ComplexLogSumExp<Complex<double>> {};

// The last element that is at least as good as all before it; NaN is better than numbers.
template <class T, bool largest>
struct ExtremumScanner {
  using Item = T;
  struct Total {
    T value;
    long long index;  // -1: none yet
  };
  static constexpr bool kPlain = true;
  __device__ static Total identity() { return {T(0), -1}; }
  __device__ static Total join(Total a, Total b) {
    if (a.index < 0) return b;
    if (b.index < 0) return a;
    const bool better = largest ? b.value > a.value : b.value < a.value;
    const bool later = b.index > a.index, number = a.value == a.value;
    if (b.value != b.value) return number | later ? b : a;
    return number & (better | ((b.value == a.value) & later)) ? b : a;
  }
  __device__ static T item(const ScanArguments& args, long long at, long long) {
    return static_cast<const T*>(args.in)[at];
  }
  __device__ static Total total(T item, long long j) { return {item, j}; }
  __device__ static void store(const ScanArguments& args, long long at, long long, Total best) {
    static_cast<T*>(args.out)[at] = best.value;
    args.indices[at] = best.index;
  }
  template <int count>
  __device__ static void store(const ScanArguments& args, long long pack, Total (&totals)[count]) {
    T values[count];
    long long indices[count];
#pragma unroll
    for (int k = 0; k < count; ++k) values[k] = totals[k].value, indices[k] = totals[k].index;
    store_pack(static_cast<T*>(args.out), pack, values);
    store_pack(args.indices, pack, indices);
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

// Short rows: `lanes` threads of a warp for each row.
template <class S>
__device__ inline void scan_by_lanes(const ScanArguments& args) {
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
__device__ inline void scan_by_columns(const ScanArguments& args) {
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

// --- rows by tiles

// Where a warp's or a block's elements of a row are: a warp takes neighbours, a pack of each lane
// beside the next lane's.
template <class T, class S, int warps>
struct RowTiles {
  using Total = typename S::Total;
  using Item = typename S::Item;
  static constexpr int kWide = 16 / static_cast<int>(sizeof(T)), kStep = kWarp * kWide;
  static constexpr int kPacks = !S::kPlain ? 1 : sizeof(Total) > 8 ? 2 : 4;  // of a thread at once
  static constexpr int kTile = warps * kPacks * kStep;
  using Items = Item[kPacks][kWide];

  const ScanArguments& args;
  long long base, begin, end;  // of the row, and in it
  int own;                     // of the thread in a tile
  bool packed;                 // whether elements are read and written by packs

  __device__ RowTiles(const ScanArguments& args, long long row, long long begin, long long end)
      : args(args), base(row * args.n), begin(begin), end(end) {
    const int thread = static_cast<int>(threadIdx.x), warp = warps == 1 ? 0 : thread / kWarp;
    own = warp * (kPacks * kStep) + thread % kWarp * kWide;
    const auto ends = reinterpret_cast<unsigned long long>(args.in) |
                      reinterpret_cast<unsigned long long>(args.out) |
                      reinterpret_cast<unsigned long long>(args.indices);
    packed = S::kPlain && ends % 16 == 0 && base % kWide == 0;
  }
  __device__ int count(long long tile) const {
    const long long rest = end - tile - own;
    return rest < kPacks * kStep ? static_cast<int>(rest) : kPacks * kStep;
  }
  __device__ long long place(long long j) const {
    return base + (args.reverse ? args.n - 1 - j : j);
  }
  __device__ void load(long long tile, Items& items) const {
    const int count = this->count(tile);
    const long long first = tile + own;
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      if constexpr (S::kPlain) {
        if (packed && p * kStep + kWide <= count) {
          load_pack(static_cast<const T*>(args.in), (base + first) / kWide + p * kWarp, items[p]);
          continue;
        }
      }
#pragma unroll
      for (int k = 0; k < kWide; ++k)
        if (p * kStep + k < count)
          items[p][k] = S::item(args, place(first + p * kStep + k), first + p * kStep + k);
    }
  }
  __device__ Total total(const Items& items, long long tile, int count, int p, int k) const {
    if (p * kStep + k < count) return S::total(items[p][k], tile + own + p * kStep + k);
    return S::identity();
  }
  // The results of a pack, from what is before it.
  __device__ void store(const Items& items, long long tile, int count, int p, Total before) const {
    Total results[kWide];
#pragma unroll
    for (int k = 0; k < kWide; ++k)
      results[k] = before = S::join(before, total(items, tile, count, p, k));
    const long long first = tile + own + p * kStep;
    if constexpr (S::kPlain)
      if (packed && p * kStep + kWide <= count)
        return S::store(args, (base + first) / kWide, results);
#pragma unroll
    for (int k = 0; k < kWide; ++k)
      if (p * kStep + k < count) S::store(args, place(first + k), first + k, results[k]);
  }
};

// Scans tile after tile, the next one of which is read in the meantime. `total_before` is that of
// the elements before these. Only the total is of interest unless `writes`.
template <class T, class S, int warps, bool writes, class Before>
__device__ inline typename S::Total scan_tiles(const RowTiles<T, S, warps>& tiles,
                                               Before total_before) {
  using Tiles = RowTiles<T, S, warps>;
  using Total = typename S::Total;
  constexpr int kPacks = Tiles::kPacks, kWide = Tiles::kWide;
  __shared__ Total totals[2][warps];
  const int thread = static_cast<int>(threadIdx.x), lane = thread % kWarp, warp = thread / kWarp;
  typename Tiles::Items items, next;
  tiles.load(tiles.begin, items);
  Total carry = total_before();
  int buffer = 0;
  for (long long tile = tiles.begin; tile < tiles.end; tile += Tiles::kTile) {
    if (tile + Tiles::kTile < tiles.end) tiles.load(tile + Tiles::kTile, next);
    const int count = tiles.count(tile);
    Total own[kPacks], before[kPacks];
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      own[p] = tiles.total(items, tile, count, p, 0);
#pragma unroll
      for (int k = 1; k < kWide; ++k)
        own[p] = S::join(own[p], tiles.total(items, tile, count, p, k));
    }
#pragma unroll
    for (int by = 1; by < kWarp; by *= 2) {
#pragma unroll
      for (int p = 0; p < kPacks; ++p) {
        const Total left = shuffle_up(own[p], by);
        if (lane >= by) own[p] = S::join(left, own[p]);
      }
    }
    Total of_warp = S::identity();
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      const Total left = shuffle_up(own[p], 1);
      before[p] = lane == 0 ? of_warp : S::join(of_warp, left);
      of_warp = S::join(of_warp, shuffle_from(own[p], kWarp - 1));
    }
    Total here = carry;
    if constexpr (warps == 1) {
      carry = S::join(carry, of_warp);
    } else {
      if (lane == 0) totals[buffer][warp] = of_warp;
      __syncthreads();
#pragma unroll
      for (int w = 0; w < warps; ++w) {
        if (w == warp) here = carry;
        carry = S::join(carry, totals[buffer][w]);
      }
      buffer ^= 1;  // which all have read before the next barrier
    }
    if constexpr (writes) {
#pragma unroll
      for (int p = 0; p < kPacks; ++p)
        tiles.store(items, tile, count, p, S::join(here, before[p]));
    }
#pragma unroll
    for (int p = 0; p < kPacks; ++p)
#pragma unroll
      for (int k = 0; k < kWide; ++k) items[p][k] = next[p][k];
  }
  return carry;
}

// The total of a chunk whose elements may be joined in any order.
template <class T, class S>
__device__ inline typename S::Total join_tiles(const RowTiles<T, S, kWarps>& tiles) {
  using Tiles = RowTiles<T, S, kWarps>;
  using Total = typename S::Total;
  Total own[Tiles::kPacks];
  for (Total& total : own) total = S::identity();
  for (long long tile = tiles.begin; tile < tiles.end; tile += Tiles::kTile) {
    typename Tiles::Items items;
    tiles.load(tile, items);
    const int count = tiles.count(tile);
#pragma unroll
    for (int p = 0; p < Tiles::kPacks; ++p)
#pragma unroll
      for (int k = 0; k < Tiles::kWide; ++k)
        own[p] = S::join(own[p], tiles.total(items, tile, count, p, k));
  }
#pragma unroll
  for (int p = 1; p < Tiles::kPacks; ++p) own[0] = S::join(own[0], own[p]);
  return scan_group(own[0], kThreads, S::identity(), [](Total a, Total b) {
           return S::join(a, b);
         }).total;
}

// A block's chunk of a row.
struct RowChunk {
  long long row, begin, end;
  int number;
  __device__ explicit RowChunk(const ScanArguments& args) {
    const auto chunks = static_cast<unsigned>(args.segments);
    row = chunks == 1 ? blockIdx.x : blockIdx.x / chunks;
    number = static_cast<int>(blockIdx.x - row * chunks);
    begin = number * args.segment_length;
    end = begin + args.segment_length < args.n ? begin + args.segment_length : args.n;
  }
};

// What is before a chunk: each thread joins neighbouring totals.
template <class S>
__device__ inline typename S::Total total_before(const ScanArguments& args, const RowChunk& chunk) {
  using Total = typename S::Total;
  Total own = S::identity();
  if (args.segments == 1) return own;
  const auto* totals = static_cast<const Total*>(args.totals) + chunk.row * args.segments;
  const int each = (chunk.number + kThreads - 1) / kThreads;
  const int begin = static_cast<int>(threadIdx.x) * each;
  const int end = begin + each < chunk.number ? begin + each : chunk.number;
  for (int c = begin; c < end; ++c) own = S::join(own, totals[c]);
  return scan_group(own, kThreads, S::identity(), [](Total a, Total b) {
           return S::join(a, b);
         }).total;
}

template <class T, ScanOp op>
__device__ inline void chunk_totals(const ScanArguments& args) {
  using S = Scanner<T, op>;
  using Total = typename S::Total;
  const RowChunk chunk(args);
  const RowTiles<T, S, kWarps> tiles(args, chunk.row, chunk.begin, chunk.end);
  Total total;
  if constexpr (S::kPlain)
    total = join_tiles(tiles);
  else
    total = scan_tiles<T, S, kWarps, false>(tiles, [] { return S::identity(); });
  if (threadIdx.x == 0) static_cast<Total*>(args.totals)[blockIdx.x] = total;
}

template <class T, ScanOp op>
__device__ inline void scan_chunks(const ScanArguments& args) {
  using S = Scanner<T, op>;
  const RowChunk chunk(args);
  const RowTiles<T, S, kWarps> tiles(args, chunk.row, chunk.begin, chunk.end);
  scan_tiles<T, S, kWarps, true>(tiles, [&] { return total_before<S>(args, chunk); });
}

// A warp for each row, or fewer lanes.
template <class T, ScanOp op>
__device__ inline void scan_rows(const ScanArguments& args) {
  using S = Scanner<T, op>;
  if (args.lanes < kWarp) return scan_by_lanes<S>(args);
  const long long row = static_cast<long long>(blockIdx.x) * kWarps + threadIdx.x / kWarp;
  if (row >= args.rows) return;
  const RowTiles<T, S, 1> tiles(args, row, 0, args.n);
  scan_tiles<T, S, 1, true>(tiles, [] { return S::identity(); });
}

template <class T, ScanOp op>
__device__ inline void column_totals(const ScanArguments& args) {
  scan_by_columns<Scanner<T, op>, false>(args);
}

template <class T, ScanOp op>
__device__ inline void scan_columns(const ScanArguments& args) {
  scan_by_columns<Scanner<T, op>, true>(args);
}

}  // namespace fb::device
