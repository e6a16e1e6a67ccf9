// Values that belong to the same place, joined in a fixed order.
//
// Threads take chunks of the sorted keys. A segment, the keys that are equal, is finished by the
// chunk that it lies in; where it goes on in others, each leaves its part, and the second kernel
// joins them for the chunk that the segment begins in.
#pragma once

#include "cuda/device/reduce.cuh"
#include "cuda/device/segments_args.h"
#include "scalar/arith.h"

namespace fb::device {

template <ScatterMode mode, class V>
__device__ inline V join_values(V a, V b) {
  if constexpr (mode == ScatterMode::kAdd)
    return scalar::add(a, b, V(1));
  else if constexpr (mode == ScatterMode::kMultiply)
    return scalar::mul(a, b);
  else if constexpr (mode == ScatterMode::kStore || kIsComplex<V>)
    return b;
  else  // NaN wins over every number
    return (mode == ScatterMode::kMax ? b > a : b < a) || b != b ? b : a;
}

// One column of the rows.
template <class T, class Out, ScatterMode mode>
struct SegmentColumn {
  using V = Wide<T>;
  const SegmentArguments& args;
  const Stored<T>* values;
  Stored<Out>* target;
  V* partial;

  __device__ SegmentColumn(const SegmentArguments& given, long long column)
      : args(given), partial(static_cast<V*>(given.partial) + column) {
    const long long block = column / args.after_size, after = column - block * args.after_size;
    values = static_cast<const Stored<T>*>(args.values) + block * args.value_block + after;
    target = static_cast<Stored<Out>*>(args.target) + index_offset(args.before, block) +
             index_offset(args.after, after);
  }
  __device__ V value(long long i) const {
    const long long number = args.order[i];
    const long long row = args.sources ? args.sources[number] : number;
    const V value = convert<V>(from_memory<T>(values[row * args.value_row]));
    if constexpr (kIsFloat<V>)
      return args.factors ? value * static_cast<const V*>(args.factors)[number] : value;
    else
      return value;
  }
  __device__ V& part(long long chunk, bool last) const {
    return partial[(2 * chunk + last) * args.width];
  }
  __device__ void finish(long long key, V total) const {
    Stored<Out>& element = target[index_offset(args.at, key)];
    const V before = convert<V>(from_memory<Out>(element));
    element = convert<Out>(join_values<mode>(before, total));
  }
};

// A thread for each chunk and column.
template <class T, class Out, ScatterMode mode>
__device__ inline void join_chunks(const SegmentArguments& args) {
  using V = Wide<T>;
  const long long tile = blockIdx.x % args.tiles;
  const long long chunk = blockIdx.x / args.tiles * (kThreads / args.columns) +
                          static_cast<int>(threadIdx.x) / args.columns;
  const long long column = tile * args.columns + static_cast<int>(threadIdx.x) % args.columns;
  if (chunk >= args.chunks || column >= args.width) return;
  const SegmentColumn<T, Out, mode> place(args, column);
  const long long begin = chunk * args.chunk;
  const long long end = begin + args.chunk < args.n ? begin + args.chunk : args.n;
  long long i = begin, key = args.keys[begin];
  bool continues = begin > 0 && args.keys[begin - 1] == key;
  while (key < args.limit) {
    V total = place.value(i++);
    while (i < end && args.keys[i] == key) total = join_values<mode>(total, place.value(i++));
    const bool goes_on = i == end && end < args.n && args.keys[end] == key;
    if (continues || goes_on)
      place.part(chunk, !continues) = total;
    else
      place.finish(key, total);
    if (i == end) return;
    key = args.keys[i];
    continues = false;
  }
}

// The position behind the last of these keys, where keys[from] is one of them.
__device__ inline long long end_of_segment(const SegmentArguments& args, long long from) {
  const long long key = args.keys[from];
  long long low = from, high = args.n;
  while (high - low > 1) {
    const long long middle = low + (high - low) / 2;
    if (args.keys[middle] == key)
      low = middle;
    else
      high = middle;
  }
  return high;
}

// `lanes` threads, a warp or one, for each chunk and column: the segments that begin in a chunk and
// end in a later one.
template <class T, class Out, ScatterMode mode>
__device__ inline void join_parts(const SegmentArguments& args) {
  using V = Wide<T>;
  const long long item =
      (static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x) / args.lanes;
  const long long chunk = item / args.width, column = item - chunk * args.width;
  const long long begin = chunk * args.chunk, end = begin + args.chunk;
  if (chunk >= args.chunks || end >= args.n) return;
  const long long key = args.keys[end];
  if (key >= args.limit || args.keys[end - 1] != key) return;
  if (begin > 0 && args.keys[begin - 1] == key) return;
  const SegmentColumn<T, Out, mode> place(args, column);
  const long long last = (end_of_segment(args, end) - 1) / args.chunk;
  const int lane = static_cast<int>(threadIdx.x) % args.lanes;
  V total = V();
  if (chunk + lane <= last) {
    total = lane == 0 ? place.part(chunk, true) : place.part(chunk + lane, false);
    for (long long c = chunk + lane + args.lanes; c <= last; c += args.lanes)
      total = join_values<mode>(total, place.part(c, false));
  }
  if (args.lanes > 1) {
    __shared__ V shared[kThreads];
    shared[threadIdx.x] = total;
    __syncwarp();
    if (lane != 0) return;
    for (int other = 1; other < args.lanes && chunk + other <= last; ++other)
      total = join_values<mode>(total, shared[threadIdx.x + other]);
  }
  place.finish(key, total);
}

}  // namespace fb::device
