// Softmax, its logarithm and the logarithm of sums of exponentials.
#pragma once

#include "cuda/device/exponentials.cuh"
#include "cuda/device/softmax_args.h"

namespace fb::device {

// As kernel::SoftmaxOp.
enum class SoftmaxOp : int { kSoftmax, kLogSoftmax, kLogSumExp };

// What softmax makes of an exponential or of a difference, of rows whose sum is known. A sum is one
// at least, or NaN.
template <SoftmaxOp op, class V>
struct SoftmaxResult {
  V factor, log_total;

  __device__ explicit SoftmaxResult(V total)
      : factor(V(1) / total), log_total(op == SoftmaxOp::kSoftmax ? V(0) : math::log(total)) {}
  __device__ V from_power(V power) const { return power * factor; }
  __device__ V operator()(V difference) const {
    return op == SoftmaxOp::kSoftmax ? math::exp(difference) * factor : difference - log_total;
  }
};

template <class V>
__device__ inline V log_sum(V largest, V total) {
  return math::abs(largest) == math::infinity<V>() ? largest : math::log(total) + largest;
}

// The rows of a block.
struct SoftmaxPlace : LanePlace {
  bool inside;
  long long base;

  __device__ explicit SoftmaxPlace(const SoftmaxArguments& args)
      : LanePlace(args.lanes, args.inner > 1), inside(item < args.outer * args.inner), base(0) {
    if (!inside) return;
    const long long outer = args.inner > 1 ? item / args.inner : item;
    base = outer * args.n * args.inner + (item - outer * args.inner);
  }
};

// Rows of any length, which are read twice.
template <class T, SoftmaxOp op, int pack, bool ragged>
__device__ inline void softmax_rows(const SoftmaxArguments& args) {
  using V = Wide<T>;
  const SoftmaxPlace place(args);
  const auto* in = static_cast<const T*>(args.in) + place.base;
  const RowPacks<T, pack, ragged> row(in, args.n, args.inner);
  const ExponentialSum<V> sum = sum_exponentials<kPacksTogether, V>(place, place.inside, in, row);
  if (!place.inside) return;
  if constexpr (op == SoftmaxOp::kLogSumExp) {
    if (place.lane == 0)
      static_cast<T*>(args.out)[place.item] = convert<T>(log_sum(sum.largest, sum.total));
  } else {
    const SoftmaxResult<op, V> result(sum.total);
    auto* out = static_cast<T*>(args.out) + place.base;
    for_packs<kPacksTogether>(place, in, row, V(0), [&](auto& values, auto first) {
#pragma unroll
      for (int h = 0; h < kPacksTogether; ++h) {
#pragma unroll
        for (int p = 0; p < pack; ++p) values[h][p] = result(values[h][p] - sum.largest);
        row.store(out, first + h * place.lanes, values[h]);
      }
    });
  }
}

// Contiguous rows of at most `lanes * held` packs, which stay in registers.
template <class T, SoftmaxOp op, int pack, int held, bool ragged>
__device__ inline void softmax_held_rows(const SoftmaxArguments& args) {
  using V = Wide<T>;
  const SoftmaxPlace place(args);
  const auto* in = static_cast<const T*>(args.in) + place.base;
  const RowPacks<T, pack, ragged> row(in, place.inside ? args.n : 0, 1);
  V x[held][pack];
#pragma unroll
  for (int h = 0; h < held; ++h)
    row.load(in, place.lane + h * place.lanes, -math::infinity<V>(), x[h]);
  V largest = x[0][0];
#pragma unroll
  for (int h = 0; h < held; ++h)
#pragma unroll
    for (int p = 0; p < pack; ++p) largest = extreme<true>(largest, x[h][p]);
  largest = join_neighbours(place, largest, Larger<V>());
  V total = V(0);
#pragma unroll
  for (int h = 0; h < held; ++h)
#pragma unroll
    for (int p = 0; p < pack; ++p) {
      x[h][p] -= largest;
      const V power = math::exp(x[h][p]);
      total += power;
      if constexpr (op == SoftmaxOp::kSoftmax) x[h][p] = power;
    }
  total = sum_lanes(place, total);
  if constexpr (op == SoftmaxOp::kLogSumExp) {
    if (place.inside && place.lane == 0)
      static_cast<T*>(args.out)[place.item] = convert<T>(log_sum(largest, total));
  } else {
    const SoftmaxResult<op, V> result(total);
    auto* out = static_cast<T*>(args.out) + place.base;
#pragma unroll
    for (int h = 0; h < held; ++h) {
#pragma unroll
      for (int p = 0; p < pack; ++p)
        x[h][p] = op == SoftmaxOp::kSoftmax ? result.from_power(x[h][p]) : result(x[h][p]);
      row.store(out, place.lane + h * place.lanes, x[h]);
    }
  }
}

// --- gradients, which are computed from results

template <SoftmaxOp op, class V>
__device__ inline V softmax_term(V gradient, V result) {
  return op == SoftmaxOp::kSoftmax ? gradient * result : gradient;
}
template <SoftmaxOp op, class V>
__device__ inline V softmax_gradient(V gradient, V result, V total) {
  return op == SoftmaxOp::kSoftmax ? (gradient - total) * result
                                   : gradient - math::exp(result) * total;
}

template <class T, SoftmaxOp op, int pack, bool ragged>
__device__ inline void softmax_gradients(const SoftmaxArguments& args) {
  using V = Wide<T>;
  constexpr int kTogether = kPacksTogether / 2;  // of both
  const SoftmaxPlace place(args);
  const auto* result = static_cast<const T*>(args.in) + place.base;
  const auto* gradient = static_cast<const T*>(args.gradient) + place.base;
  const RowPacks<T, pack, ragged> row(result, place.inside ? args.n : 0, args.inner);
  using Index = typename PackIndex<pack>::Type;
  const Index packs = place.inside ? row.count() : 0;
  // f(pack, gradients, results) for those of this lane.
  const auto walk = [&](auto f) {
    for (Index i = place.lane; i < packs; i += kTogether * place.lanes) {
      V g[kTogether][pack], y[kTogether][pack];
#pragma unroll
      for (int h = 0; h < kTogether; ++h) {
        row.load(gradient, i + h * place.lanes, V(0), g[h]);
        row.load(result, i + h * place.lanes, V(0), y[h]);
      }
#pragma unroll
      for (int h = 0; h < kTogether; ++h)
        if (i + h * place.lanes < packs) f(i + h * place.lanes, g[h], y[h]);
    }
  };
  V total = V(0);
  walk([&](Index, V(&g)[pack], V(&y)[pack]) {
#pragma unroll
    for (int p = 0; p < pack; ++p) total += softmax_term<op>(g[p], y[p]);
  });
  total = join_lanes(place, total, Sum<V>());
  auto* out = static_cast<T*>(args.out) + place.base;
  walk([&](Index i, V(&g)[pack], V(&y)[pack]) {
#pragma unroll
    for (int p = 0; p < pack; ++p) g[p] = softmax_gradient<op>(g[p], y[p], total);
    row.store(out, i, g);
  });
}

template <class T, SoftmaxOp op, int pack, int held, bool ragged>
__device__ inline void softmax_held_gradients(const SoftmaxArguments& args) {
  using V = Wide<T>;
  const SoftmaxPlace place(args);
  const auto* result = static_cast<const T*>(args.in) + place.base;
  const auto* gradient = static_cast<const T*>(args.gradient) + place.base;
  const RowPacks<T, pack, ragged> row(result, place.inside ? args.n : 0, 1);
  V y[held][pack], g[held][pack], total = V(0);
#pragma unroll
  for (int h = 0; h < held; ++h) {
    row.load(result, place.lane + h * place.lanes, V(0), y[h]);
    row.load(gradient, place.lane + h * place.lanes, V(0), g[h]);
  }
#pragma unroll
  for (int h = 0; h < held; ++h)
#pragma unroll
    for (int p = 0; p < pack; ++p) total += softmax_term<op>(g[h][p], y[h][p]);
  total = sum_lanes(place, total);
  auto* out = static_cast<T*>(args.out) + place.base;
#pragma unroll
  for (int h = 0; h < held; ++h) {
#pragma unroll
    for (int p = 0; p < pack; ++p) g[h][p] = softmax_gradient<op>(g[h][p], y[h][p], total);
    row.store(out, place.lane + h * place.lanes, g[h]);
  }
}

}  // namespace fb::device
