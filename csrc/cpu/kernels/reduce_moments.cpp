// Variance, standard deviation and mean in one pass over memory: each block is read twice while it
// is in the cache (mean, then squared deviations), and blocks are joined by Chan's update in
// double.
#include <cmath>

#include "cpu/kernels/moments.h"
#include "cpu/kernels/reduce_driver.h"

namespace fb::cpu::FB_ISA {
namespace {

template <class T, bool kRoot>
struct MomentsReducer {
  using Element = T;
  using State = Moments;
  using Acc = std::conditional_t<__is_same(T, double), double, float>;
  static constexpr int L = kLanes<Acc>;
  using V = Vec<Acc>;

  static FB_FN Moments init() { return {0, 0, 0}; }

  // The sum of f(x) over a block.
  template <class F>
  static FB_FN Acc sum(const T* p, int64_t n, F f) {
    Acc total = 0;
    int64_t i = 0;
    if (n >= L) {
      V a{}, b{}, c{}, d{};
      for (; i + 4 * L <= n; i += 4 * L) {
        a += f(load<Acc, L>(p + i));
        b += f(load<Acc, L>(p + i + L));
        c += f(load<Acc, L>(p + i + 2 * L));
        d += f(load<Acc, L>(p + i + 3 * L));
      }
      for (; i + L <= n; i += L) a += f(load<Acc, L>(p + i));
      total =
          fold_lanes<Acc, L>((a + b) + (c + d), [](const auto& x, const auto& y) { return x + y; });
    }
    for (; i < n; ++i) total += f(load<Acc, 1>(p + i));
    return total;
  }

  static void block(const T* p, int64_t n, int64_t, Moments& state) {
    const double count = static_cast<double>(n);
    const Acc center = sum(p, n, [](const auto& x) { return x; }) / static_cast<Acc>(n);
    // The sum of deviations, which would be 0 otherwise, corrects the rounding of `center`.
    const double drift = sum(p, n, [&](const auto& x) { return x - center; });
    const double squares = sum(p, n, [&](const auto& x) { return (x - center) * (x - center); });
    state.join(static_cast<double>(center) + drift / count, squares - drift * drift / count, n,
               count / static_cast<double>(state.n + n));
  }

  static void rows(const T* p, int64_t n, int64_t stride, int64_t width, int64_t, Moments* state) {
    alignas(64) Acc center[kRowWidth];
    alignas(64) Acc squares[kRowWidth];
    const Acc scale = Acc(1) / static_cast<Acc>(n);
    for (int64_t c = 0; c < width; ++c) center[c] = squares[c] = 0;
    for_columns(p, n, stride, width, center,
                [](auto total, const auto& x, int64_t) { return total + x; });
    for (int64_t c = 0; c < width; ++c) center[c] *= scale;
    for_columns(p, n, stride, width, squares, [&](auto total, const auto& x, int64_t c) {
      const auto deviation = x - load<Acc, kWidthOf<decltype(total)>>(center + c);
      return total + deviation * deviation;
    });
    const double weight = static_cast<double>(n) / static_cast<double>(state[0].n + n);
    for (int64_t c = 0; c < width; ++c) state[c].join(center[c], squares[c], n, weight);
  }

  static void merge(Moments& into, const Moments& later) { into.join(later); }

  static void finish(const ReducePlan& plan, const Moments& state, int64_t offset) {
    const double divisor = static_cast<double>(plan.count) - plan.param;
    const double variance = (plan.count ? state.m2 : NAN) / (divisor > 0 ? divisor : 0);
    static_cast<T*>(plan.out)[offset] = convert<T>(kRoot ? std::sqrt(variance) : variance);
    if (plan.out2) static_cast<T*>(plan.out2)[offset] = convert<T>(plan.count ? state.mean : NAN);
  }

 private:
  template <class W>
  static constexpr int kWidthOf = sizeof(W) / sizeof(Acc);

  // total[c] = f(total[c], element, c) down each column.
  template <class F>
  static FB_FN void for_columns(const T* p, int64_t n, int64_t stride, int64_t width, Acc* total,
                                F f) {
    for (int64_t r = 0; r < n; ++r) {
      const T* q = p + r * stride;
      int64_t c = 0;
      for (; c + L <= width; c += L)
        store(total + c, f(load<Acc, L>(total + c), load<Acc, L>(q + c), c));
      for (; c < width; ++c) total[c] = f(total[c], load<Acc, 1>(q + c), c);
    }
  }
};

template <bool kRoot>
void run_moments(DType dtype, const ReducePlan& plan) {
  switch (dtype) {
    case DType::kFloat16: return run_reduction<MomentsReducer<Half, kRoot>>(plan);
    case DType::kBFloat16: return run_reduction<MomentsReducer<BFloat16, kRoot>>(plan);
    case DType::kFloat32: return run_reduction<MomentsReducer<float, kRoot>>(plan);
    case DType::kFloat64: return run_reduction<MomentsReducer<double, kRoot>>(plan);
    default: fail(ErrorKind::kNotImplemented, "not implemented for dtype ", dtype);
  }
}

}  // namespace

void reduce_moments(ReduceOp op, DType dtype, const ReducePlan& plan) {
  if (op == ReduceOp::kStd)
    run_moments<true>(dtype, plan);
  else
    run_moments<false>(dtype, plan);
}

}  // namespace fb::cpu::FB_ISA
