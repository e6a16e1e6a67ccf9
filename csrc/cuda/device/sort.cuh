// Sorting and selection along rows.
#pragma once

#include "cuda/device/order.cuh"
#include "cuda/device/sort_args.h"

namespace fb::device {

// --- short rows: in shared memory, by a bitonic network

// A key and its position, which makes every item different: the order of equal keys is kept.
template <class T, bool wide = sizeof(T) == 8>
struct ShortItems {
  __device__ static unsigned long long* words() {
    __shared__ unsigned long long room[kShortRow];
    return room;
  }
  __device__ static void set(int i, Key<T> key, unsigned position) {
    words()[i] = static_cast<unsigned long long>(key) << 32 | position;
  }
  __device__ static void pad(int i) { words()[i] = ~0ull; }
  __device__ static unsigned position(int i) { return static_cast<unsigned>(words()[i]); }
  __device__ static void order(int i, int j, bool rising) {
    const unsigned long long a = words()[i], b = words()[j];
    if ((a > b) != rising) return;
    words()[i] = b;
    words()[j] = a;
  }
};
template <class T>
struct ShortItems<T, true> {
  __device__ static unsigned long long* keys() {
    __shared__ unsigned long long room[kShortRow];
    return room;
  }
  __device__ static unsigned* positions() {
    __shared__ unsigned room[kShortRow];
    return room;
  }
  __device__ static void set(int i, Key<T> key, unsigned position) {
    keys()[i] = key;
    positions()[i] = position;
  }
  __device__ static void pad(int i) { set(i, ~Key<T>(0), ~0u); }
  __device__ static unsigned position(int i) { return positions()[i]; }
  __device__ static void order(int i, int j, bool rising) {
    const unsigned long long a = keys()[i], b = keys()[j];
    const unsigned at_a = positions()[i], at_b = positions()[j];
    if ((a > b || (a == b && at_a > at_b)) != rising) return;
    keys()[i] = b, keys()[j] = a;
    positions()[i] = at_b, positions()[j] = at_a;
  }
};

template <class T>
__device__ inline void write_element(void* out, long long to, const void* in, long long from) {
  static_cast<Stored<T>*>(out)[to] =
      static_cast<Stored<T>>(from_memory<T>(static_cast<const Stored<T>*>(in)[from]));
}

template <class T>
__device__ inline void sort_short_rows(const ShortRowsArguments& args) {
  using Items = ShortItems<T>;
  const int thread = static_cast<int>(threadIdx.x), count = args.width * args.block_rows;
  const long long first_row = static_cast<long long>(blockIdx.x) * args.block_rows;
  for (int i = thread; i < count; i += kThreads) {
    const int position = i & (args.width - 1);
    const long long row = first_row + i / args.width;
    if (position < args.n && row < args.rows)
      Items::set(i,
                 key_of<T>(static_cast<const Stored<T>*>(args.in)[row * args.n + position],
                           args.descending),
                 static_cast<unsigned>(position));
    else
      Items::pad(i);
  }
  for (int size = 2; size <= args.width; size *= 2)
    for (int step = size / 2; step > 0; step /= 2) {
      __syncthreads();
      for (int pair = thread; pair < count / 2; pair += kThreads) {
        const int i = 2 * pair - (pair & (step - 1));
        Items::order(i, i + step, size == args.width || (i & size) == 0);
      }
    }
  __syncthreads();
  for (int i = thread; i < count; i += kThreads) {
    const int place = i & (args.width - 1);
    const long long row = first_row + i / args.width;
    if (row >= args.rows || (args.ranks ? place != args.ranks[row] : place >= args.kept)) continue;
    if (place >= args.n) continue;
    const long long to = args.ranks ? row : row * args.kept + place;
    const long long from = row * args.n + Items::position(i);
    if (args.values) write_element<T>(args.values, to, args.in, from);
    if (args.indices) args.indices[to] = args.names ? args.names[from] : Items::position(i);
  }
}

// --- long rows: the element of a rank, and those before it

template <class T>
struct Selected {
  unsigned long long prefix;  // the highest bytes of the wanted key
  long long rank;             // among the keys that begin like this
};

// By what the passes before `passes` have counted. Every thread gets the result.
template <class T>
__device__ inline Selected<T> selected_by(const SelectArguments& args, long long row, int passes) {
  __shared__ long long chosen_rank;
  __shared__ unsigned chosen;
  Selected<T> found{0, args.ranks ? args.ranks[row] : args.rank};
  for (int pass = 0; pass < passes; ++pass) {
    const long long own = args.counts[(pass * args.rows + row) * kThreads + threadIdx.x];
    const long long before = scan_block(own).before;
    if (before <= found.rank && found.rank < before + own) {
      chosen = threadIdx.x;
      chosen_rank = found.rank - before;
    }
    __syncthreads();
    found = {found.prefix << 8 | chosen, chosen_rank};
    __syncthreads();
  }
  return found;
}

template <class T>
__device__ inline void select_count(const SelectArguments& args) {
  __shared__ unsigned counts[kThreads];
  const RowPart at(args.n, args.part_length, args.parts);
  const unsigned long long prefix = selected_by<T>(args, at.row, args.pass).prefix;
  const auto* in = static_cast<const Stored<T>*>(args.in);
  const int shift = 8 * (args.passes - 1 - args.pass);
  counts[threadIdx.x] = 0;
  __syncthreads();
  for (long long i = at.begin + threadIdx.x; i < at.end; i += kThreads) {
    const unsigned long long key =
        static_cast<unsigned long long>(key_of<T>(in[i], args.descending));
    if (args.pass == 0 || key >> (shift + 8) == prefix)
      atomicAdd(&counts[static_cast<unsigned>(key >> shift) & 255u], 1u);
  }
  __syncthreads();
  if (counts[threadIdx.x])
    atomicAdd(&args.counts[(args.pass * args.rows + at.row) * kThreads + threadIdx.x],
              counts[threadIdx.x]);
}

template <class T>
__device__ inline void select_sum(const SelectArguments& args) {
  const RowPart at(args.n, args.part_length, args.parts);
  const unsigned long long wanted = selected_by<T>(args, at.row, args.passes).prefix;
  const auto* in = static_cast<const Stored<T>*>(args.in);
  long long before = 0, equals = 0;
  for (long long i = at.begin + threadIdx.x; i < at.end; i += kThreads) {
    const unsigned long long key =
        static_cast<unsigned long long>(key_of<T>(in[i], args.descending));
    before += key < wanted;
    equals += key == wanted;
  }
  before = scan_block(before).total;
  equals = scan_block(equals).total;
  if (threadIdx.x != 0) return;
  args.before[blockIdx.x] = before;
  args.equals[blockIdx.x] = equals;
}

// Writes the elements before the wanted key in the order of their positions, and behind them as
// many of its equals as there is room for.
template <class T>
__device__ inline void select_place(const SelectArguments& args) {
  const RowPart at(args.n, args.part_length, args.parts);
  const Selected<T> found = selected_by<T>(args, at.row, args.passes);
  const auto* in = static_cast<const Stored<T>*>(args.in);
  long long before = 0, equals = 0, all_before = 0;
  for (int p = static_cast<int>(threadIdx.x); p < args.parts; p += kThreads) {
    const long long part_before = args.before[at.row * args.parts + p];
    all_before += part_before;
    if (p >= at.part) continue;
    before += part_before;
    equals += args.equals[at.row * args.parts + p];
  }
  before = scan_block(before).total;
  equals = scan_block(equals).total;
  all_before = scan_block(all_before).total;
  constexpr int kItems = 4;
  for (long long tile = at.begin; tile < at.end; tile += kItems * kThreads) {
    const long long first = tile + threadIdx.x * kItems;
    unsigned sides = 0;  // two bits for each element
    unsigned own = 0;    // numbers of both sides, in its halves
    for (int k = 0; k < kItems; ++k) {
      if (first + k >= at.end) continue;
      const unsigned long long key =
          static_cast<unsigned long long>(key_of<T>(in[first + k], args.descending));
      const unsigned side = key < found.prefix ? 1 : key == found.prefix ? 2 : 0;
      sides |= side << 2 * k;
      own += side == 1 ? 1u : side == 2 ? 1u << 16 : 0u;
    }
    const Scanned<unsigned> sums = scan_block(own);
    long long next_before = before + (sums.before & 0xffffu),
              next_equal = equals + (sums.before >> 16);
    for (int k = 0; k < kItems; ++k) {
      const unsigned side = sides >> 2 * k & 3u;
      if (side == 0) continue;
      const long long equal = next_equal,
                      to = side == 1 ? next_before++ : all_before + next_equal++;
      if (args.single ? side != 2 || equal != found.rank : to >= args.kept) continue;
      const long long at_out = args.single ? at.row : at.row * args.kept + to;
      if (args.values) write_element<T>(args.values, at_out, args.in, first + k);
      if (args.indices) args.indices[at_out] = first + k - at.first;
    }
    before += sums.total & 0xffffu;
    equals += sums.total >> 16;
  }
}

// --- modes

template <class T>
__device__ inline bool is_same_value(Stored<T> a, Stored<T> b) {
  return comparable<T>(a) == comparable<T>(b);
}

// Finds the longest run that ends in the block's part of a row, the first of several.
template <class T>
__device__ inline void mode_run(const ModeArguments& args) {
  const RowPart at(args.n, args.part_length, args.parts);
  const auto* sorted = static_cast<const Stored<T>*>(args.sorted);
  unsigned long long best = 0;
  for (long long i = at.begin + threadIdx.x; i < at.end; i += kThreads) {
    if (i + 1 < at.first + args.n && is_same_value<T>(sorted[i], sorted[i + 1])) continue;
    // Equal elements are neighbours: the first of them by halving. NaN equals nothing.
    long long low = at.first, high = i;
    if (!is_same_value<T>(sorted[i], sorted[i])) low = high;
    while (low < high) {
      const long long middle = low + (high - low) / 2;
      if (is_same_value<T>(sorted[middle], sorted[i]))
        high = middle;
      else
        low = middle + 1;
    }
    const unsigned long long run = static_cast<unsigned long long>(i - low + 1) << 32 |
                                   (0xffffffffull - static_cast<unsigned long long>(i - at.first));
    if (run > best) best = run;
  }
  if (best) atomicMax(&args.best[at.row], best);
}

template <class T>
__device__ inline void mode_write(const ModeArguments& args) {
  const long long row = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (row >= args.rows) return;
  const long long at =
      row * args.n + static_cast<long long>(0xffffffffull - (args.best[row] & 0xffffffffull));
  write_element<T>(args.values, row, args.sorted, at);
  args.indices[row] = args.positions[at];
}

// --- medians

template <class T>
__device__ inline void median_rank(const RanksArguments& args) {
  const long long row = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (row >= args.rows) return;
  const long long nans = args.ranks[row], numbers = args.n - nans;
  const bool nan_wins = nans > 0 && (!args.ignore_nan || numbers == 0);
  args.ranks[row] = nan_wins ? numbers : (numbers - 1) / 2;
}

}  // namespace fb::device
