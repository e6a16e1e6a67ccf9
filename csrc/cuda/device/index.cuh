// Elements picked by position. A bad position is noted and its element left alone.
#pragma once

#include "cuda/device/base.cuh"
#include "cuda/device/index_args.h"

namespace fb::device {

__device__ inline long long index_offset(const IndexDims& dims, long long number) {
  long long offset = 0;
  for (int d = dims.count - 1; d >= 0; --d) {
    const long long next = number / dims.sizes[d];
    offset += (number - next * dims.sizes[d]) * dims.strides[d];
    number = next;
  }
  return offset;
}

// Where element i of the values is in the array; -1 if a position is bad.
__device__ inline long long picked_offset(const PickArguments& args, long long i) {
  const long long after = i % args.after_size, rest = i / args.after_size;
  const long long pick = rest % args.picked, before = rest / args.picked;
  long long offset = index_offset(args.before, before) + index_offset(args.after, after);
  for (int d = 0; d < args.at.count; ++d) {
    const long long given = args.positions[d][pick], size = args.at.sizes[d];
    const long long at = args.from_the_end && given < 0 ? given + size : given;
    if (at < 0 || at >= size) {
      note_bad_index(args.error, given, size, args.before.count + d);
      return -1;
    }
    offset += at * args.at.strides[d];
  }
  return offset;
}

template <class T>
__device__ inline void pick_element(const PickArguments& args) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.n) return;
  const long long from = picked_offset(args, i);
  if (from >= 0) static_cast<T*>(args.values)[i] = static_cast<const T*>(args.array)[from];
}

template <class T>
__device__ inline void put_element(const PickArguments& args) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.n) return;
  const long long to = picked_offset(args, i);
  if (to >= 0) static_cast<T*>(args.array)[to] = static_cast<const T*>(args.values)[i];
}

__device__ inline long long gathered_offset(const GatherArguments& args, long long i) {
  const long long at = args.index[i];
  if (at < 0 || at >= args.array_size) {
    note_bad_index(args.error, at, args.array_size, args.dimension);
    return -1;
  }
  long long offset = 0;
  for (int d = args.dims.count - 1; d >= 0; --d) {
    const long long next = i / args.dims.sizes[d];
    offset += (d == args.dimension ? at : i - next * args.dims.sizes[d]) * args.dims.strides[d];
    i = next;
  }
  return offset;
}

template <class T>
__device__ inline void gather_element(const GatherArguments& args) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.n) return;
  const long long from = gathered_offset(args, i);
  if (from >= 0) static_cast<T*>(args.values)[i] = static_cast<const T*>(args.array)[from];
}

template <class T>
__device__ inline void scatter_element(const GatherArguments& args) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.n) return;
  const long long to = gathered_offset(args, i);
  if (to >= 0) static_cast<T*>(args.array)[to] = static_cast<const T*>(args.values)[i];
}

template <class T>
__device__ inline void masked_fill_element(const MaskedFillArguments& args) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.n) return;
  static_cast<T*>(args.out)[i] = args.mask[i] ? *reinterpret_cast<const T*>(args.value)
                                              : static_cast<const T*>(args.in)[i];
}

}  // namespace fb::device
