// Sequences of numbers: every element from its own position, so that rounding errors do not add up.
#include "cpu/create.h"

#include <cmath>
#include <type_traits>

#include "scalar/arith.h"

namespace fb::cpu::FB_ISA {
namespace {

// Counted from the nearer end, so that both ends are exact.
template <class V>
V between(V first, V last, V step, int64_t steps, int64_t i) {
  return i < steps / 2 ? first + step * static_cast<double>(i)
                       : last - step * static_cast<double>(steps - 1 - i);
}

}  // namespace

void arange_run(DType t, int64_t begin, int64_t end, const Scalar& start, const Scalar& step,
                void* out) {
  visit_real(t, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using V = std::conditional_t<is_integral(kDTypeOf<T>), int64_t, double>;
    const V first = start.to<V>();
    const V increment = step.to<V>();
    auto* __restrict target = static_cast<T*>(out);
    for (int64_t i = begin; i < end; ++i)
      target[i] = convert<T>(static_cast<V>(first + increment * static_cast<V>(i)));
  });
}

void linspace_run(DType t, int64_t begin, int64_t end, int64_t steps, const Scalar& first,
                  const Scalar& last, void* out) {
  const int64_t gaps = steps > 1 ? steps - 1 : 1;
  visit_all(t, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using V = std::conditional_t<kIsComplex<T>, Complex<double>, double>;
    // The ends are rounded to the result's type first, as integers would be.
    const V from = convert<V>(first.to<T>());
    const V to = convert<V>(last.to<T>());
    V step = (to - from) / V(static_cast<double>(gaps));
    // PyTorch computes the step in float32: this gives its results to the last bit.
    if constexpr (std::is_same_v<T, float>)
      step = static_cast<float>(to - from) / static_cast<float>(gaps);
    auto* target = static_cast<T*>(out);
    for (int64_t i = begin; i < end; ++i)
      target[i] = steps == 1 ? convert<T>(from) : convert<T>(between<V>(from, to, step, steps, i));
  });
}

void logspace_run(DType t, int64_t begin, int64_t end, int64_t steps, const Scalar& first,
                  const Scalar& last, double base, void* out) {
  const auto gaps = static_cast<double>(steps > 1 ? steps - 1 : 1);
  visit_all(t, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using V = std::conditional_t<kIsComplex<T>, Complex<double>, double>;
    // Exponents for integer results are integers, as in PyTorch.
    using Exponent = std::conditional_t<is_integral(kDTypeOf<T>), int64_t, V>;
    const V from = convert<V>(first.to<Exponent>());
    const V to = convert<V>(last.to<Exponent>());
    const V step = (to - from) / V(gaps);
    auto* target = static_cast<T*>(out);
    for (int64_t i = begin; i < end; ++i) {
      const V exponent = steps == 1 ? from : between<V>(from, to, step, steps, i);
      if constexpr (kIsComplex<T>)
        target[i] = convert<T>(scalar::pow(V(base), exponent));
      else
        target[i] = convert<T>(std::pow(base, exponent));
    }
  });
}

}  // namespace fb::cpu::FB_ISA
