// Steps of optimisers. 16-bit elements are computed in float and rounded once.
#pragma once

#include "cuda/device/optim_args.h"
#include "cuda/device/reduce.cuh"

namespace fb::device {

// Calls step(tensor, element) for the elements of this block's piece.
template <class Step>
__device__ inline void for_each_element(const OptimTensors& tensors, Step step) {
  const long long piece = blockIdx.x;
  int tensor = 0;
  while (piece >= tensors.pieces_before[tensor + 1]) ++tensor;
  const long long begin = (piece - tensors.pieces_before[tensor]) * kOptimPiece;
  const long long n = tensors.n[tensor];
  const long long end = begin + kOptimPiece < n ? begin + kOptimPiece : n;
  for (long long i = begin + threadIdx.x; i < end; i += kThreads) step(tensor, i);
}

template <class T>
__device__ inline Wide<T> direction(const OptimTensors& tensors, int t, long long i, Wide<T> param,
                                    double weight_decay, bool maximize) {
  const Wide<T> grad = convert<Wide<T>>(static_cast<const T*>(tensors.grad[t])[i]);
  return (maximize ? -grad : grad) + static_cast<Wide<T>>(weight_decay) * param;
}

template <class T>
__device__ inline void sgd_step(const SgdArguments& args) {
  using V = Wide<T>;
  for_each_element(args.tensors, [&](int t, long long i) {
    T& param = static_cast<T*>(args.tensors.param[t])[i];
    const V p = convert<V>(param);
    V g = direction<T>(args.tensors, t, i, p, args.weight_decay, args.maximize);
    if (args.tensors.states[0][t]) {
      T& kept = static_cast<T*>(args.tensors.states[0][t])[i];
      const auto momentum = static_cast<V>(args.momentum);
      const V buffer =
          args.first ? g : convert<V>(kept) * momentum + g * static_cast<V>(args.dampened);
      kept = convert<T>(buffer);
      g = args.nesterov ? g + buffer * momentum : buffer;
    }
    param = convert<T>(p - static_cast<V>(args.lr) * g);
  });
}

template <class T>
__device__ inline void adam_step(const AdamArguments& args) {
  using V = Wide<T>;
  for_each_element(args.tensors, [&](int t, long long i) {
    T& param = static_cast<T*>(args.tensors.param[t])[i];
    T& first = static_cast<T*>(args.tensors.states[0][t])[i];
    T& second = static_cast<T*>(args.tensors.states[1][t])[i];
    const V p = convert<V>(param);
    const V g = direction<T>(args.tensors, t, i, p, args.weight_decay, args.maximize);
    const V before = convert<V>(first);
    const V average = before + (g - before) * static_cast<V>(1 - args.beta1);
    V square = convert<V>(second) * static_cast<V>(args.beta2) +
               g * g * static_cast<V>(1 - args.beta2);
    first = convert<T>(average);
    second = convert<T>(square);
    if (args.largest) {
      T& kept = static_cast<T*>(args.tensors.states[2][t])[i];
      square = scalar::maximum(convert<V>(kept), square);
      kept = convert<T>(square);
    }
    const V scale = math::sqrt(square) / static_cast<V>(args.correction) + static_cast<V>(args.eps);
    param = convert<T>(p * static_cast<V>(args.shrink) -
                       static_cast<V>(args.step_size) * average / scale);
  });
}

}  // namespace fb::device
