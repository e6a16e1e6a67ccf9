// Code shared by the pooling kernels: lanes, and a window's position in its plane.
#pragma once

#include "cpu/kernels/blocks.h"
#include "cpu/pool.h"
#include "cpu/threads.h"

namespace fb::cpu::FB_ISA {
namespace {

// The type that elements are compared and added in, and an integer of the same width.
template <class T>
struct Lane {
  using type = int;
};
template <>
struct Lane<float> {
  using type = float;
};
template <>
struct Lane<Half> {
  using type = float;
};
template <>
struct Lane<BFloat16> {
  using type = float;
};
template <>
struct Lane<double> {
  using type = double;
};
template <>
struct Lane<int64_t> {
  using type = int64_t;
};
template <class T>
using LaneOf = typename Lane<T>::type;
template <class A>
using NumberOf = std::conditional_t<sizeof(A) == 8, int64_t, int>;

FB_FN int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

// Lanes to elements of another type.
template <class T, class A, int N>
FB_FN void put(T* p, const Vec<A, N>& value) {
  if constexpr (N == 1)
    *p = convert<T>(value);
  else if constexpr (__is_same(T, A))
    store(p, value);
  else if constexpr (__is_same(T, Half) || __is_same(T, BFloat16))
    for (int i = 0; i < N; ++i) p[i] = convert<T>(A(value[i]));
  else
    store(p, __builtin_convertvector(value, Vec<T, N>));
}

// Whether fewer channels than lanes are computed in part of a vector: floats, and their numbers in
// windows.
template <class T>
inline constexpr bool kHasParts = __is_same(T, float) && kLoadsPart<T>;

// The first n < 16 numbers at p as lanes, and back.
FB_FN Vec<int, 16> load_numbers(const uint8_t* p, int64_t n) {
#if defined(__AVX512F__)
  const auto mask = static_cast<__mmask16>((1u << n) - 1);
  return (Vec<int, 16>)_mm512_maskz_cvtepu8_epi32(mask, _mm_maskz_loadu_epi8(mask, p));
#else
  Vec<int, 16> result{};
  for (int64_t i = 0; i < n; ++i) result[i] = p[i];
  return result;
#endif
}
FB_FN void store_numbers(uint8_t* p, const Vec<int, 16>& number, int64_t n) {
#if defined(__AVX512F__)
  const auto mask = static_cast<__mmask16>((1u << n) - 1);
  _mm512_mask_cvtepi32_storeu_epi8(p, mask, (__m512i)number);
#else
  for (int64_t i = 0; i < n; ++i) p[i] = static_cast<uint8_t>(number[i]);
#endif
}

// Calls f with the C++ type of a dtype that has an order.
template <class F>
void visit_pooled(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kFloat16: return f(TypeTag<Half>{});
    case DType::kBFloat16: return f(TypeTag<BFloat16>{});
    case DType::kFloat32: return f(TypeTag<float>{});
    case DType::kFloat64: return f(TypeTag<double>{});
    default: return visit_integral(dtype, f);
  }
}

// One axis of a plan, as plain pointers.
struct AxisView {
  explicit AxisView(const PoolAxis& axis)
      : in(axis.in),
        out(axis.out),
        kernel(axis.kernel),
        stride(axis.stride),
        dilation(axis.dilation),
        origin(axis.origin.data()),
        first(axis.first.data()),
        last(axis.last.data()) {}
  int64_t in, out, kernel, stride, dilation;
  const int32_t *origin, *first, *last;
};

struct PlanView {
  explicit PlanView(const PoolPlan& plan)
      : planes(plan.planes),
        inner(plan.inner),
        depth(plan.axis[0]),
        height(plan.axis[1]),
        width(plan.axis[2]),
        offsets(plan.offsets.data()) {}

  int64_t in_size() const { return depth.in * height.in * width.in; }
  int64_t out_size() const { return depth.out * height.out * width.out; }
  int64_t volume() const { return depth.kernel * height.kernel * width.kernel; }
  // The pixel that windows of output (d, h, w) start at; with padding it need not exist.
  int64_t origin(int64_t d, int64_t h, int64_t w) const {
    return (int64_t{depth.origin[d]} * height.in + height.origin[h]) * width.in + width.origin[w];
  }

  int64_t planes, inner;
  AxisView depth, height, width;
  const int64_t* offsets;
};

// How many of `unit` elements each make a worthwhile share of a thread.
FB_FN int64_t grain_of(int64_t unit) { return most(1, kGrain / most(1, unit)); }

}  // namespace
}  // namespace fb::cpu::FB_ISA
