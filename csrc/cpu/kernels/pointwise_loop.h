// The loop around an element function; the generator instantiates it for every pointwise operator
// and type.
#pragma once

#include <tuple>
#include <utility>

#include "cpu/pointwise.h"

namespace fb::cpu::FB_ISA {
namespace {

template <class T, bool Fixed>
struct Run {
  const T* __restrict data;
  FB_FN T operator[](int64_t i) const {
    if constexpr (Fixed)
      return *data;
    else
      return data[i];
  }
};

template <class F, unsigned Fixed, class... Inputs, size_t... I>
void run_fixed(int64_t n, void* out, const void* const* in, const typename F::Param* params,
               std::index_sequence<I...>) {
  using Out = decltype(F::call(Inputs{}..., params));
  auto* __restrict target = static_cast<Out*>(out);
  // Copies, so that the compiler knows that writing the output changes neither.
  typename F::Param local[F::kParams + 1];
  for (int p = 0; p < F::kParams; ++p) local[p] = params[p];
  const std::tuple<Run<Inputs, ((Fixed >> I) & 1) != 0>...> runs{
      {static_cast<const Inputs*>(in[I])}...};
  if constexpr (F::kRanged) {
    constexpr int64_t kBlock = 256;  // read twice, so it should stay in the first-level cache
    for (int64_t first = 0; first < n; first += kBlock) {
      const int64_t last = first + kBlock < n ? first + kBlock : n;
      int outside = 0;
      for (int64_t i = first; i < last; ++i)
        outside |= F::has_range(std::get<I>(runs)[i]...) ? 0 : 1;
      if (outside == 0) {
#pragma GCC ivdep
        for (int64_t i = first; i < last; ++i) target[i] = F::in_range(std::get<I>(runs)[i]...);
      } else {
        for (int64_t i = first; i < last; ++i) target[i] = F::call(std::get<I>(runs)[i]..., local);
      }
    }
  } else {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) target[i] = F::call(std::get<I>(runs)[i]..., local);
  }
}

// F has Param, kParams and call(inputs..., params). One loop per set of single-valued inputs; when
// all are, the value is computed once.
template <class F, class... Inputs>
void pointwise_loop(int64_t n, void* out, const void* const* in, unsigned fixed,
                    const void* params) {
  constexpr unsigned kAll = (1u << sizeof...(Inputs)) - 1;
  const auto* typed = static_cast<const typename F::Param*>(params);
  constexpr auto indices = std::make_index_sequence<sizeof...(Inputs)>{};
  if (fixed == kAll) {
    using Out = decltype(F::call(Inputs{}..., typed));
    run_fixed<F, 0, Inputs...>(1, out, in, typed, indices);
    auto* target = static_cast<Out*>(out);
    const Out value = *target;
    for (int64_t i = 1; i < n; ++i) target[i] = value;
    return;
  }
  if constexpr (kAll == 1) {
    run_fixed<F, 0, Inputs...>(n, out, in, typed, indices);
  } else {
    [&]<size_t... Fixed>(std::index_sequence<Fixed...>) {
      ((fixed == Fixed ? run_fixed<F, Fixed, Inputs...>(n, out, in, typed, indices) : void()), ...);
    }(std::make_index_sequence<kAll>{});
  }
}

}  // namespace
}  // namespace fb::cpu::FB_ISA
