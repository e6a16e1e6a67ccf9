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

// The rows of a block, whose elements are counted in packs.
template <int pack>
struct SoftmaxPlace : LanePlace {
  bool inside;
  long long base, packs, step;

  __device__ explicit SoftmaxPlace(const SoftmaxArguments& args)
      : LanePlace(args.lanes, args.inner > 1),
        inside(item < args.outer * args.inner),
        base(0),
        packs(args.n / pack),
        step(args.inner * pack) {
    if (!inside) return;
    const long long outer = args.inner > 1 ? item / args.inner : item;
    base = outer * args.n * args.inner + (item - outer * args.inner);
  }
};

// Rows of any length, which are read twice.
template <class T, SoftmaxOp op, int pack>
__device__ inline void softmax_rows(const SoftmaxArguments& args) {
  using V = Wide<T>;
  const SoftmaxPlace<pack> place(args);
  const auto* in = static_cast<const T*>(args.in) + place.base;
  const ExponentialSum<V> sum =
      sum_exponentials<pack, V>(place, place.inside, in, place.packs, place.step);
  if (!place.inside) return;
  if constexpr (op == SoftmaxOp::kLogSumExp) {
    if (place.lane == 0)
      static_cast<T*>(args.out)[place.item] = convert<T>(log_sum(sum.largest, sum.total));
  } else {
    const SoftmaxResult<op, V> result(sum.total);
    auto* out = static_cast<T*>(args.out) + place.base;
    long long at = place.lane;
    for_packs<pack>(place, in, place.packs, place.step, V(0), [&](const auto& values) {
#pragma unroll
      for (int h = 0; h < kPacksTogether; ++h, at += place.lanes) {
        if (at >= place.packs) continue;
        V part[pack];
#pragma unroll
        for (int p = 0; p < pack; ++p) part[p] = result(values[h * pack + p] - sum.largest);
        store_pack<pack>(out + at * place.step, 0, part);
      }
    });
  }
}

// Contiguous rows of at most `lanes * held` packs, which stay in registers.
template <class T, SoftmaxOp op, int pack, int held>
__device__ inline void softmax_held_rows(const SoftmaxArguments& args) {
  using V = Wide<T>;
  const SoftmaxPlace<pack> place(args);
  const auto* in = static_cast<const T*>(args.in) + place.base;
  const int packs = place.inside ? static_cast<int>(place.packs) : 0;
  V x[held][pack];
#pragma unroll
  for (int h = 0; h < held; ++h) {
    const int i = place.lane + h * place.lanes;
    if (i < packs) {
      load_pack<pack>(in, i, x[h]);
    } else {
#pragma unroll
      for (int p = 0; p < pack; ++p) x[h][p] = -math::infinity<V>();
    }
  }
  V largest = x[0][0];
#pragma unroll
  for (int h = 0; h < held; ++h)
#pragma unroll
    for (int p = 0; p < pack; ++p) largest = scalar::maximum(largest, x[h][p]);
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
      const int i = place.lane + h * place.lanes;
      if (i >= packs) continue;
#pragma unroll
      for (int p = 0; p < pack; ++p)
        x[h][p] = op == SoftmaxOp::kSoftmax ? result.from_power(x[h][p]) : result(x[h][p]);
      store_pack<pack>(out, i, x[h]);
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

template <class T, SoftmaxOp op, int pack>
__device__ inline void softmax_gradients(const SoftmaxArguments& args) {
  using V = Wide<T>;
  constexpr int kTogether = kPacksTogether / 2;  // of both
  const SoftmaxPlace<pack> place(args);
  const auto* result = static_cast<const T*>(args.in) + place.base;
  const auto* gradient = static_cast<const T*>(args.gradient) + place.base;
  const long long packs = place.inside ? place.packs : 0;
  // f(pack, gradients, results) for those of this lane.
  const auto walk = [&](auto f) {
    for (long long i = place.lane; i < packs; i += kTogether * place.lanes) {
      V g[kTogether][pack], y[kTogether][pack];
#pragma unroll
      for (int h = 0; h < kTogether; ++h) {
        const long long j = i + h * place.lanes;
        if (j >= packs) continue;
        load_pack<pack>(gradient + j * place.step, 0, g[h]);
        load_pack<pack>(result + j * place.step, 0, y[h]);
      }
#pragma unroll
      for (int h = 0; h < kTogether; ++h)
        if (i + h * place.lanes < packs) f(i + h * place.lanes, g[h], y[h]);
    }
  };
  V total = V(0);
  walk([&](long long, V(&g)[pack], V(&y)[pack]) {
#pragma unroll
    for (int p = 0; p < pack; ++p) total += softmax_term<op>(g[p], y[p]);
  });
  total = join_lanes(place, total, Sum<V>());
  auto* out = static_cast<T*>(args.out) + place.base;
  walk([&](long long i, V(&g)[pack], V(&y)[pack]) {
#pragma unroll
    for (int p = 0; p < pack; ++p) g[p] = softmax_gradient<op>(g[p], y[p], total);
    store_pack<pack>(out + i * place.step, 0, g);
  });
}

template <class T, SoftmaxOp op, int pack, int held>
__device__ inline void softmax_held_gradients(const SoftmaxArguments& args) {
  using V = Wide<T>;
  const SoftmaxPlace<pack> place(args);
  const auto* result = static_cast<const T*>(args.in) + place.base;
  const auto* gradient = static_cast<const T*>(args.gradient) + place.base;
  const int packs = place.inside ? static_cast<int>(place.packs) : 0;
  V y[held][pack], g[held][pack], total = V(0);
#pragma unroll
  for (int h = 0; h < held; ++h) {
    const int i = place.lane + h * place.lanes;
    if (i < packs) {
      load_pack<pack>(result, i, y[h]);
      load_pack<pack>(gradient, i, g[h]);
    } else {
#pragma unroll
      for (int p = 0; p < pack; ++p) y[h][p] = g[h][p] = V(0);
    }
  }
#pragma unroll
  for (int h = 0; h < held; ++h)
#pragma unroll
    for (int p = 0; p < pack; ++p) total += softmax_term<op>(g[h][p], y[h][p]);
  total = sum_lanes(place, total);
  auto* out = static_cast<T*>(args.out) + place.base;
#pragma unroll
  for (int h = 0; h < held; ++h) {
    const int i = place.lane + h * place.lanes;
    if (i >= packs) continue;
#pragma unroll
    for (int p = 0; p < pack; ++p) g[h][p] = softmax_gradient<op>(g[h][p], y[h][p], total);
    store_pack<pack>(out, i, g[h]);
  }
}

}  // namespace fb::device
