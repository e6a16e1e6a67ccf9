// Values that belong to the same place, joined in a fixed order.
//
// Threads take chunks of the sorted keys. A segment, the keys that are equal, is finished by the
// chunk that it lies in; where it goes on in others, each leaves its part, and the second kernel
// joins them for the chunk that the segment begins in.
#pragma once

#include "cuda/device/join.cuh"

namespace fb::device {

__device__ inline long long segment_key(const SegmentArguments& args, long long i) {
  return args.wide ? static_cast<const long long*>(args.keys)[i]
                   : static_cast<const int*>(args.keys)[i];
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
    const unsigned number = args.order[i];
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

// A thread for each chunk and column. `count` keys and values are loaded together.
template <class T, class Out, ScatterMode mode, int count>
__device__ inline void join_chunk(const SegmentArguments& args, long long chunk, long long column) {
  using V = Wide<T>;
  const SegmentColumn<T, Out, mode> place(args, column);
  const long long begin = chunk * args.chunk;
  const long long end = begin + args.chunk < args.n ? begin + args.chunk : args.n;
  long long key = segment_key(args, begin);
  bool continues = begin > 0 && segment_key(args, begin - 1) == key;
  V total = V();
  bool is_first = true;
  for (long long part = begin; part < end; part += count) {
    long long next[count];  // the key behind each value, -1 behind the last one
    V values[count];
#pragma unroll
    for (int k = 0; k < count; ++k)
      next[k] = part + k + 1 < args.n ? segment_key(args, part + k + 1) : -1;
    long long own = key;
#pragma unroll
    for (int k = 0; k < count; ++k) {
      if (part + k < end && own < args.limit) values[k] = place.value(part + k);
      own = next[k];
    }
#pragma unroll
    for (int k = 0; k < count; ++k) {
      if (part + k >= end || key >= args.limit) return;
      total = is_first ? values[k] : join_values<mode>(total, values[k]);
      is_first = next[k] != key;
      const bool is_last = part + k + 1 == end;
      if (!is_first && !is_last) continue;
      if (continues || !is_first)
        place.part(chunk, !continues) = total;
      else
        place.finish(key, total);
      continues = false;
      key = next[k];
    }
  }
}
template <class T, class Out, ScatterMode mode>
__device__ inline void join_chunks(const SegmentArguments& args) {
  const long long tile = blockIdx.x % args.tiles;
  const long long chunk = blockIdx.x / args.tiles * (kThreads / args.columns) +
                          static_cast<int>(threadIdx.x) / args.columns;
  const long long column = tile * args.columns + static_cast<int>(threadIdx.x) % args.columns;
  if (chunk >= args.chunks || column >= args.width) return;
  join_chunk<T, Out, mode, 8>(args, chunk, column);
}

// The position behind the last of these keys, where keys[from] is one of them.
__device__ inline long long end_of_segment(const SegmentArguments& args, long long from) {
  const long long key = segment_key(args, from);
  long long low = from, high = args.n;
  while (high - low > 1) {
    const long long middle = low + (high - low) / 2;
    if (segment_key(args, middle) == key)
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
  const long long key = segment_key(args, end);
  if (key >= args.limit || segment_key(args, end - 1) != key) return;
  if (begin > 0 && segment_key(args, begin - 1) == key) return;
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
