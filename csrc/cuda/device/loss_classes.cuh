// Losses of scores for classes, and their gradients. Elements are float or double.
#pragma once

#include "cuda/device/loss_classes_args.h"
#include "cuda/device/reduce.cuh"

namespace fb::device {

// Joins a number of each thread of the block, in a fixed order; every thread gets the result.
template <class V, class Join>
__device__ inline V join_block(V own, Join join) {
  __shared__ V shared[kThreads];
  __syncthreads();
  shared[threadIdx.x] = own;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) shared[threadIdx.x] = join(shared[threadIdx.x], shared[threadIdx.x + half]);
  }
  __syncthreads();
  return shared[0];
}

__device__ inline long long first_score(const ClassArguments& args, long long sample) {
  const long long outer = sample / args.inner;
  return outer * args.classes * args.inner + (sample - outer * args.inner);
}

template <class T>
__device__ inline T class_weight(const ClassArguments& args, long long c) {
  return args.weights ? static_cast<const T*>(args.weights)[c] : T(1);
}

// A block for each sample: its largest score, and the logarithm of the sum of what is below it.
template <class T>
__device__ inline void score_statistics(const ClassArguments& args) {
  const long long sample = blockIdx.x, samples = args.outer * args.inner;
  const auto* x = static_cast<const T*>(args.scores) + first_score(args, sample);
  T largest = -math::infinity<T>();
  for (long long c = threadIdx.x; c < args.classes; c += kThreads)
    largest = scalar::maximum(largest, x[c * args.inner]);
  largest = join_block(largest, [](T a, T b) { return scalar::maximum(a, b); });
  const T shift = largest == -math::infinity<T>() ? T(0) : largest;
  T total = T(0);
  for (long long c = threadIdx.x; c < args.classes; c += kThreads)
    total += math::exp(x[c * args.inner] - shift);
  total = join_block(total, [](T a, T b) { return a + b; });
  if (threadIdx.x != 0) return;
  auto* statistics = static_cast<T*>(args.statistics);
  statistics[sample] = shift;
  statistics[samples + sample] = math::log(total);
}

template <class T>
__device__ inline T log_softmax_of(const ClassArguments& args, long long sample, T score) {
  const auto* statistics = static_cast<const T*>(args.statistics);
  return (score - statistics[sample]) - statistics[args.outer * args.inner + sample];
}

// A block for each sample: the weighted losses of all its classes.
template <class T>
__device__ inline void all_class_losses(const ClassArguments& args) {
  const long long sample = blockIdx.x;
  const auto* x = static_cast<const T*>(args.scores) + first_score(args, sample);
  T total = T(0);
  for (long long c = threadIdx.x; c < args.classes; c += kThreads)
    total -= class_weight<T>(args, c) * log_softmax_of(args, sample, x[c * args.inner]);
  total = join_block(total, [](T a, T b) { return a + b; });
  if (threadIdx.x == 0) static_cast<T*>(args.out)[sample] = total;
}

// One block for all samples.
template <class T>
__device__ inline void class_losses(const ClassArguments& args) {
  const long long samples = args.outer * args.inner;
  const auto picked_share = static_cast<T>(1 - args.smoothing);
  const auto spread_share = static_cast<T>(args.smoothing / static_cast<double>(args.classes));
  double sum = 0, weights = 0;
  for (long long i = threadIdx.x; i < samples; i += kThreads) {
    const long long target = args.targets[i];
    auto* each = static_cast<T*>(args.each);
    const bool counts = target != args.ignored;
    const bool bad = counts && (target < 0 || target >= args.classes);
    if (bad) note_bad_index(args.error, target, args.classes, 1);
    if (!counts || bad) {
      if (each) each[i] = T(0);
      continue;
    }
    const T weight = class_weight<T>(args, target);
    const T score = static_cast<const T*>(args.scores)[first_score(args, i) + target * args.inner];
    T loss = args.statistics ? -log_softmax_of(args, i, score) : -score;
    loss *= weight;
    if (args.all_classes)
      loss = loss * picked_share + static_cast<const T*>(args.all_classes)[i] * spread_share;
    if (each) each[i] = loss;
    sum += static_cast<double>(loss);
    weights += static_cast<double>(weight);
  }
  sum = join_block(sum, [](double a, double b) { return a + b; });
  weights = join_block(weights, [](double a, double b) { return a + b; });
  if (threadIdx.x != 0) return;
  if (args.total)
    *static_cast<T*>(args.total) = static_cast<T>(args.mean ? sum / weights : sum);
  *static_cast<T*>(args.weight) = static_cast<T>(weights);
}

template <class T>
__device__ inline double gradient_of(const ClassArguments& args, long long sample) {
  const double scale =
      args.divisor ? args.scale / static_cast<double>(*static_cast<const T*>(args.divisor))
                   : args.scale;
  return static_cast<double>(static_cast<const T*>(args.gradients)[args.single ? 0 : sample]) * scale;
}

// Whether a sample counts.
__device__ inline bool counts(const ClassArguments& args, long long target) {
  return target != args.ignored && target >= 0 && target < args.classes;
}

// A block for each sample.
template <class T>
__device__ inline void cross_entropy_gradient(const ClassArguments& args) {
  const long long sample = blockIdx.x, target = args.targets[sample];
  const long long first = first_score(args, sample);
  auto* out = static_cast<T*>(args.out) + first;
  if (!counts(args, target)) {
    for (long long c = threadIdx.x; c < args.classes; c += kThreads) out[c * args.inner] = T(0);
    return;
  }
  double whole = static_cast<double>(args.classes);
  if (args.smoothing != 0 && args.weights) {
    whole = 0;
    for (long long c = threadIdx.x; c < args.classes; c += kThreads)
      whole += static_cast<double>(class_weight<T>(args, c));
    whole = join_block(whole, [](double a, double b) { return a + b; });
  }
  const double gradient = gradient_of<T>(args, sample);
  const double pick = gradient * static_cast<double>(class_weight<T>(args, target)) *
                      (1 - args.smoothing);
  const double spread = gradient * args.smoothing / static_cast<double>(args.classes);
  const auto scale = static_cast<T>(pick + spread * whole);
  const auto* x = static_cast<const T*>(args.scores) + first;
  for (long long c = threadIdx.x; c < args.classes; c += kThreads) {
    T value = scale * math::exp(log_softmax_of(args, sample, x[c * args.inner]));
    if (scale == T(0)) value = T(0);
    value -= static_cast<T>(spread) * class_weight<T>(args, c);
    out[c * args.inner] = c == target ? value - static_cast<T>(pick) : value;
  }
}

// A thread for each sample; `out` is zero.
template <class T>
__device__ inline void nll_gradient(const ClassArguments& args) {
  const long long sample = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (sample >= args.outer * args.inner) return;
  const long long target = args.targets[sample];
  if (!counts(args, target)) return;
  static_cast<T*>(args.out)[first_score(args, sample) + target * args.inner] = static_cast<T>(
      -gradient_of<T>(args, sample) * static_cast<double>(class_weight<T>(args, target)));
}

}  // namespace fb::device
