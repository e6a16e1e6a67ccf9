// Positions of the blocks of sparse tensors.
#pragma once

#include "cuda/device/order.cuh"
#include "cuda/device/sparse_args.h"

namespace fb::device {

template <class T>
__device__ inline void number_position(const PositionArguments& args) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.n) return;
  long long position = 0;
  for (int d = 0; d < args.dims; ++d) position = position * args.sizes[d] + args.in[d * args.n + i];
  args.out[i] = position;
}

template <class T>
__device__ inline void locate_position(const PositionArguments& args) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.n) return;
  long long rest = args.in[i];
  for (int d = args.dims - 1; d >= 0; --d) {
    const long long next = rest / args.sizes[d];
    args.out[d * args.n + i] = rest - next * args.sizes[d];
    rest = next;
  }
}

template <class T>
__device__ inline void position_group_count(const PositionGroupArguments& args) {
  count_flagged(args.parts,
                [&](long long i) { return i == 0 || args.sorted[i] != args.sorted[i - 1]; });
}

template <class T>
__device__ inline void position_group_place(const PositionGroupArguments& args) {
  place_flagged(
      args.parts, [&](long long i) { return i == 0 || args.sorted[i] != args.sorted[i - 1]; },
      [&](long long i, bool starts, long long before) {
        if (starts) args.distinct[before] = args.sorted[i];
        args.groups[args.order[i]] = starts ? before : before - 1;
      });
}

__device__ inline long long place_in_list(const MatchArguments& args, long long i) {
  return sorted_before(args.positions[i], args.count, false,
                       [&](long long k) { return args.list[k]; });
}
__device__ inline bool is_in_list(const MatchArguments& args, long long i) {
  const long long at = place_in_list(args, i);
  return at < args.count && args.list[at] == args.positions[i];
}

template <class T>
__device__ inline void match_count(const MatchArguments& args) {
  count_flagged(args.parts, [&](long long i) { return is_in_list(args, i); });
}

template <class T>
__device__ inline void match_place(const MatchArguments& args) {
  place_flagged(
      args.parts, [&](long long i) { return is_in_list(args, i); },
      [&](long long i, bool is_in, long long before) {
        if (!args.of_list) {  // those that are in both count once
          args.of_positions[i] = i + place_in_list(args, i) - before;
        } else if (is_in) {
          args.of_positions[before] = i;
          args.of_list[before] = place_in_list(args, i);
        }
      });
}

template <class T>
__device__ inline void number_from(const NumberArguments& args) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < args.n) args.out[i] = args.first + i;
}

}  // namespace fb::device
