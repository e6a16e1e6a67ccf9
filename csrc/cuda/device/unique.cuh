// Groups of equal slices.
#pragma once

#include "cuda/device/order.cuh"
#include "cuda/device/unique_args.h"

namespace fb::device {

// Whether slice i differs from the one before it in the order.
template <class T>
__device__ inline bool starts_group(const GroupArguments& args, long long i) {
  if (i == 0) return true;
  const auto* data = static_cast<const Stored<T>*>(args.data);
  const auto* a = data + (args.order ? args.order[i] : i) * args.width;
  const auto* b = data + (args.order ? args.order[i - 1] : i - 1) * args.width;
  for (long long k = 0; k < args.width; ++k)
    if (comparable<T>(a[k]) != comparable<T>(b[k])) return true;
  return false;
}

template <class T>
__device__ inline void group_count(const GroupArguments& args) {
  count_flagged(args.parts, [&](long long i) { return starts_group<T>(args, i); });
}

template <class T>
__device__ inline void group_place(const GroupArguments& args) {
  place_flagged(
      args.parts, [&](long long i) { return starts_group<T>(args, i); },
      [&](long long i, bool starts, long long before) {
        const long long at = args.order ? args.order[i] : i;
        args.inverse[at] = starts ? before : before - 1;
        if (!starts) return;
        args.firsts[before] = at;
        args.starts[before] = i;
      });
}

template <class T>
__device__ inline void group_size(const GroupArguments& args) {
  const long long g = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (g >= args.groups) return;
  const long long end = g + 1 < args.groups ? args.starts[g + 1] : args.parts.n;
  args.counts[g] = end - args.starts[g];
}

template <class T>
__device__ inline bool differs_from_last(const DistinctArguments& args, long long i) {
  const auto* in = static_cast<const Stored<T>*>(args.in);
  return i == 0 || comparable<T>(in[i]) != comparable<T>(in[i - 1]);
}

template <class T>
__device__ inline void distinct_count(const DistinctArguments& args) {
  count_flagged(args.parts, [&](long long i) { return differs_from_last<T>(args, i); });
}

template <class T>
__device__ inline void distinct_place(const DistinctArguments& args) {
  const auto* in = static_cast<const Stored<T>*>(args.in);
  place_flagged(
      args.parts, [&](long long i) { return differs_from_last<T>(args, i); },
      [&](long long i, bool differs, long long before) {
        if (differs) static_cast<Stored<T>*>(args.out)[before] = in[i];
      });
}

// Lexicographically, NaN counts as largest.
template <class T>
__device__ inline bool is_less(const Stored<T>* a, const Stored<T>* b, long long width) {
  for (long long k = 0; k < width; ++k) {
    const auto x = comparable<T>(a[k]);
    const auto y = comparable<T>(b[k]);
    if (x < y || (x == x && y != y)) return true;
    if (y < x || (y == y && x != x)) return false;
  }
  return false;
}

// A slice goes behind those before it in its own run, and behind those of the other run that come
// first: equal ones of the left run do.
template <class T>
__device__ inline void merge_runs(const MergeArguments& args) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.n) return;
  const auto* data = static_cast<const Stored<T>*>(args.data);
  const auto slice = [&](long long at) { return data + (args.in ? args.in[at] : at) * args.width; };
  const long long own_run = i / args.run, pair = own_run / 2 * 2 * args.run;
  const bool is_left = own_run % 2 == 0;
  const long long first = is_left ? pair + args.run : pair;
  const long long end = first + args.run;
  long long low = first < args.n ? first : args.n, high = end < args.n ? end : args.n;
  const long long other = low;
  while (low < high) {
    const long long middle = low + (high - low) / 2;
    const bool before = is_left ? is_less<T>(slice(middle), slice(i), args.width)
                                : !is_less<T>(slice(i), slice(middle), args.width);
    if (before)
      low = middle + 1;
    else
      high = middle;
  }
  args.out[pair + (i - own_run * args.run) + (low - other)] = args.in ? args.in[i] : i;
}

}  // namespace fb::device
