// Steps of optimisers. 16-bit elements are computed in float.
#pragma once

#include "cuda/device/lanes.cuh"
#include "cuda/device/optim_args.h"
#include "cuda/device/reduce.cuh"
#include "scalar/optim.h"

namespace fb::device {

// Calls run(tensor, begin, end) for this block's piece.
template <class Run>
__device__ inline void for_piece(const OptimTensors& tensors, Run run) {
  const long long piece = blockIdx.x;
  int tensor = 0;
  while (piece >= tensors.pieces_before[tensor + 1]) ++tensor;
  const long long begin = (piece - tensors.pieces_before[tensor]) * kOptimPiece;
  const long long n = tensors.n[tensor];
  run(tensor, begin, begin + kOptimPiece < n ? begin + kOptimPiece : n);
}

// Elements that a thread reads before it writes any, so that it waits for memory once.
inline constexpr int kTogether = 4;

template <class T, class Rule>
struct Stepped {
  static constexpr int kStates = Rule::kStates;
  using V = Wide<T>;
  V param, grad, state[kStates > 0 ? kStates : 1];

  __device__ void step(const Rule& rule) {
    using E = scalar::optim::Elementwise<T>;
    if constexpr (kStates == 0)
      param = rule.template step<E>(param, grad);
    else if constexpr (kStates == 1)
      param = rule.template step<E>(param, grad, state[0]);
    else if constexpr (kStates == 2)
      param = rule.template step<E>(param, grad, state[0], state[1]);
    else
      param = rule.template step<E>(param, grad, state[0], state[1], state[2]);
  }
};

template <class T, template <class> class RuleOf, class Numbers>
__device__ inline void optim_step(const StepArguments<Numbers>& args) {
  using Rule = RuleOf<Wide<T>>;
  const Rule rule(args.numbers);
  for_piece(args.tensors, [&](int t, long long begin, long long end) {
    auto* const param = static_cast<T*>(args.tensors.param[t]);
    const auto* const grad = static_cast<const T*>(args.tensors.grad[t]);
    T* states[Rule::kStates + 1] = {};
#pragma unroll
    for (int k = 0; k < Rule::kStates; ++k)
      states[k] = static_cast<T*>(args.tensors.states[Rule::kSlots[k]][t]);
    for (long long first = begin + threadIdx.x; first < end; first += kTogether * kThreads) {
      Stepped<T, Rule> elements[kTogether];
#pragma unroll
      for (int j = 0; j < kTogether; ++j) {
        const long long i = first + j * kThreads;
        if (i >= end) continue;
        elements[j].param = convert<Wide<T>>(param[i]);
        elements[j].grad = convert<Wide<T>>(grad[i]);
#pragma unroll
        for (int k = 0; k < Rule::kStates; ++k)
          elements[j].state[k] = convert<Wide<T>>(states[k][i]);
      }
#pragma unroll
      for (int j = 0; j < kTogether; ++j) {
        const long long i = first + j * kThreads;
        if (i >= end) continue;
        elements[j].step(rule);
        param[i] = convert<T>(elements[j].param);
#pragma unroll
        for (int k = 0; k < Rule::kStates; ++k) states[k][i] = convert<T>(elements[j].state[k]);
      }
    }
  });
}

// --- rows: a thread for each element

template <class T, template <class> class RuleOf, class Numbers>
__device__ inline void step_row_element(const RowStepArguments<Numbers>& args) {
  using V = Wide<T>;
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.n) return;
  const long long row = i / args.width;
  const long long at = args.rows[row] * args.width + (i - row * args.width);
  const RuleOf<V> rule(args.numbers);
  T& param = static_cast<T*>(args.param)[at];
  T& first = static_cast<T*>(args.states[0])[at];
  const V grad = convert<V>(static_cast<const T*>(args.gradients)[i]);
  V p = convert<V>(param), a = convert<V>(first);
  if constexpr (RuleOf<V>::kStates == 1) {
    p = rule.step(p, grad, a);
  } else {
    T& second = static_cast<T*>(args.states[1])[at];
    V b = convert<V>(second);
    p = rule.step(p, grad, a, b);
    second = convert<T>(b);
  }
  param = convert<T>(p);
  first = convert<T>(a);
}

// --- GradScaler

template <class T>
__device__ inline void unscale_piece(const UnscaleArguments& args) {
  const auto factor = static_cast<T>(*args.factor);
  for_piece(args.tensors, [&](int t, long long begin, long long end) {
    auto* const x = static_cast<T*>(args.tensors.param[t]);
    bool finite = true;
    for (long long i = begin + threadIdx.x; i < end; i += kThreads) {
      const T value = x[i];
      finite &= math::is_finite(value);
      x[i] = value * factor;
    }
    if (!finite) *args.found_inf = 1;  // whoever else writes, writes the same
  });
}

template <class T>
__device__ inline void update_scale(const ScaleArguments& args) {
  if (threadIdx.x == 0)
    scalar::optim::update_scale(args.numbers, *args.found_inf != 0, *args.scale, *args.steps);
}

// --- Adafactor

template <class T>
__device__ inline T bounded(T moment, double least) {
  const auto bound = static_cast<T>(least);
  return bound > moment ? bound : moment;
}

struct Added {
  __device__ double operator()(double a, double b) const { return a + b; }
};

// Adds up f(i) for the elements of this block.
template <class F>
__device__ inline void sum_of_block(long long n, double* sums, F f) {
  double own = 0;
  for (long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x; i < n;
       i += static_cast<long long>(gridDim.x) * kThreads)
    own += f(i);
  own = join_block(own, Added());
  if (threadIdx.x == 0) sums[blockIdx.x] = own;
}

__device__ inline long long numel(const AdafactorArguments& args) {
  return args.count * args.rows * args.cols;
}

// The second moment of an element, bounded below.
template <class T>
__device__ inline T second_moment(const AdafactorArguments& args, long long i) {
  const double least = args.numbers.eps1 * args.numbers.eps1;  // the root is taken after the bound
  const auto* const columns = static_cast<const T*>(args.scaled);
  if (!args.row_var) return bounded(columns[i], least);
  const long long row = i / args.cols, matrix = row / args.rows;
  const T moment = columns[matrix * args.cols + (i - row * args.cols)];
  return bounded(moment * static_cast<const T*>(args.row_var)[row], least);
}

template <class T>
__device__ inline double update_square(const AdafactorArguments& args, long long i) {
  const T g = static_cast<const T*>(args.grad)[i];
  return static_cast<double>(g * g / second_moment<T>(args, i));
}

// The squares of the parameter; of a vector also its moments and the squares of its update.
template <class T>
__device__ inline void adafactor_squares(const AdafactorArguments& args) {
  const auto* const param = static_cast<const T*>(args.param);
  sum_of_block(numel(args), args.param_squares, [&](long long i) {
    return static_cast<double>(param[i]) * static_cast<double>(param[i]);
  });
  if (args.row_var) return;
  const auto weight = static_cast<T>(args.numbers.weight);
  sum_of_block(numel(args), args.update_squares, [&](long long i) {
    const T g = static_cast<const T*>(args.grad)[i];
    T& moment = static_cast<T*>(args.col_var)[i];
    moment = scalar::lerp(moment, g * g, weight);
    return update_square<T>(args, i);
  });
}

// A block for each row of the matrices: its running mean square.
template <class T>
__device__ inline void adafactor_row(const AdafactorArguments& args) {
  const long long row = blockIdx.x;
  const auto* const grad = static_cast<const T*>(args.grad) + row * args.cols;
  double sum = 0;
  for (long long c = threadIdx.x; c < args.cols; c += kThreads)
    sum += static_cast<double>(grad[c]) * static_cast<double>(grad[c]);
  sum = join_block(sum, Added());
  if (threadIdx.x != 0) return;
  T& moment = static_cast<T*>(args.row_var)[row];
  moment = scalar::lerp(moment, static_cast<T>(sum / static_cast<double>(args.cols)),
                        static_cast<T>(args.numbers.weight));
}

// A block for 32 columns of a matrix: their running mean squares, and what they are over the mean
// of the rows.
template <class T>
__device__ inline void adafactor_columns(const AdafactorArguments& args) {
  __shared__ double sums[kThreads / 32][32];
  const int lane = static_cast<int>(threadIdx.x) % 32, part = static_cast<int>(threadIdx.x) / 32;
  const long long groups = (args.cols + 31) / 32;
  const long long matrix = blockIdx.x / groups;
  const long long column = (blockIdx.x - matrix * groups) * 32 + lane;
  const auto* const grad = static_cast<const T*>(args.grad) + matrix * args.rows * args.cols;
  const auto* const row_var = static_cast<const T*>(args.row_var) + matrix * args.rows;
  double total = 0;
  for (long long r = threadIdx.x; r < args.rows; r += kThreads)
    total += static_cast<double>(row_var[r]);
  total = join_block(total, Added());
  double sum = 0;
  if (column < args.cols)
    for (long long r = part; r < args.rows; r += kThreads / 32) {
      const auto g = static_cast<double>(grad[r * args.cols + column]);
      sum += g * g;
    }
  sums[part][lane] = sum;
  __syncthreads();
  if (part != 0 || column >= args.cols) return;
  for (int p = 1; p < kThreads / 32; ++p) sum += sums[p][lane];
  const auto rows = static_cast<double>(args.rows);
  const T divisor = bounded(static_cast<T>(total / rows), args.numbers.eps1);
  const long long at = matrix * args.cols + column;
  T& moment = static_cast<T*>(args.col_var)[at];
  moment = scalar::lerp(moment, static_cast<T>(sum / rows), static_cast<T>(args.numbers.weight));
  static_cast<T*>(args.scaled)[at] = moment / divisor;
}

template <class T>
__device__ inline void adafactor_update_squares(const AdafactorArguments& args) {
  sum_of_block(numel(args), args.update_squares,
               [&](long long i) { return update_square<T>(args, i); });
}

template <class T>
__device__ inline void adafactor_apply(const AdafactorArguments& args) {
  static_assert(kAdafactorBlocks == kThreads);
  const long long n = numel(args);
  const double root = math::sqrt(static_cast<double>(n));
  const auto root_mean = [&](const double* sums) {
    const double own = static_cast<int>(threadIdx.x) < args.blocks ? sums[threadIdx.x] : 0;
    return math::sqrt(join_block(own, Added())) / root;
  };
  const kernel::AdafactorNumbers& numbers = args.numbers;
  const double mean = root_mean(args.param_squares);
  const double update = root_mean(args.update_squares) / numbers.d;
  const double size = numbers.eps2 < mean ? mean : numbers.eps2;
  const double length = size * numbers.relative / (1 < update ? update : 1);
  const auto rate = static_cast<T>(numbers.maximize ? -length : length);
  const auto shrink = static_cast<T>(numbers.shrink);
  auto* const param = static_cast<T*>(args.param);
  for (long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x; i < n;
       i += static_cast<long long>(gridDim.x) * kThreads) {
    const T g = static_cast<const T*>(args.grad)[i];
    param[i] = param[i] * shrink - rate * (g / math::sqrt(second_moment<T>(args, i)));
  }
}

}  // namespace fb::device
