// Counting elements by value and by interval.
#pragma once

#include "cuda/device/histogram_args.h"
#include "cuda/device/join.cuh"
#include "cuda/device/order.cuh"

namespace fb::device {

// The bin of a value in [low, high]; the upper bound belongs to the last bin. Values on edges are
// rounded as PyTorch rounds them, which multiplies first.
template <class T>
__device__ inline long long even_bin(T value, T low, T high, long long bins) {
  const T position = (value - low) * static_cast<T>(bins) / (high - low);
  if (!(position < static_cast<T>(bins))) return bins - 1;
  const auto bin = static_cast<long long>(position);
  return bin < bins ? bin : bins - 1;
}

// The bin of element i, or the number of bins where it has none.
template <class T>
__device__ inline long long bin_of(const HistogramArguments& args, long long i) {
  const T value = static_cast<const T*>(args.in)[i];
  if constexpr (kIsInteger<T>) {
    return value;
  } else {
    const auto* edges = static_cast<const T*>(args.edges);
    const T low = edges ? edges[0] : static_cast<T>(args.low);
    const T high = edges ? edges[args.bins] : static_cast<T>(args.high);
    if (!(value >= low && value <= high)) return args.bins;
    if (edges && !args.uniform) {
      const long long behind =
          sorted_before(value, args.bins + 1, true, [&](long long k) { return edges[k]; });
      return (behind < args.bins ? behind : args.bins) - 1;
    }
    const long long bin = even_bin(value, low, high, args.bins);
    if (!edges) return bin;
    // Rounding can put a value next to an edge on its wrong side.
    if (value < edges[bin]) return bin - 1;
    return bin + 1 < args.bins && value >= edges[bin + 1] ? bin + 1 : bin;
  }
}

template <class T>
__device__ inline void count_bins(const HistogramArguments& args) {
  __shared__ unsigned counts[kSharedBins];
  const int thread = static_cast<int>(threadIdx.x);
  const bool shared = args.bins <= kSharedBins;
  if (shared)
    for (int b = thread; b < args.bins; b += kThreads) counts[b] = 0;
  __syncthreads();
  const long long step = static_cast<long long>(gridDim.x) * kThreads;
  for (long long i = static_cast<long long>(blockIdx.x) * kThreads + thread; i < args.n;
       i += step) {
    const long long bin = bin_of<T>(args, i);
    if (bin >= args.bins) continue;
    if (shared)
      atomicAdd(&counts[bin], 1u);
    else
      add_atomically(&args.counts[bin], 1ull);
  }
  __syncthreads();
  if (!shared) return;
  for (int b = thread; b < args.bins; b += kThreads)
    if (counts[b]) add_atomically(&args.counts[b], static_cast<unsigned long long>(counts[b]));
}

// Adds weights to the sum of their bin in the order in which threads come.
template <class T>
__device__ inline void add_weights(const HistogramArguments& args) {
  __shared__ T sums[kSharedBins];
  const int thread = static_cast<int>(threadIdx.x);
  const bool shared = args.bins <= kSharedBins;
  T* const hist = static_cast<T*>(args.hist);
  if (shared)
    for (int b = thread; b < args.bins; b += kThreads) sums[b] = T(0);
  __syncthreads();
  const long long step = static_cast<long long>(gridDim.x) * kThreads;
#pragma unroll 4
  for (long long i = static_cast<long long>(blockIdx.x) * kThreads + thread; i < args.n;
       i += step) {
    const long long bin = static_cast<const long long*>(args.in)[i];
    const T weight = static_cast<const T*>(args.weights)[i];
    if (shared)
      atomicAdd(&sums[bin], weight);
    else
      add_atomically(hist + bin, weight);
  }
  __syncthreads();
  if (!shared) return;
  for (int b = thread; b < args.bins; b += kThreads)
    if (sums[b] != T(0)) add_atomically(hist + b, sums[b]);
}

template <class T>
__device__ inline void add_counts(const HistogramArguments& args) {
  const long long b = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (b >= args.bins) return;
  static_cast<T*>(args.hist)[b] += static_cast<T>(args.counts[b]);
}

template <class T>
__device__ inline void number_bins(const HistogramArguments& args) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < args.n) args.numbers[i] = bin_of<T>(args, i);
}

}  // namespace fb::device
