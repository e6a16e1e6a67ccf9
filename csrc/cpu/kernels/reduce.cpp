// Sums, products, extrema and logical reductions.
#include "cpu/kernels/fold.h"

namespace fb::cpu::FB_ISA {
namespace {

template <class T>
struct Summed {
  using Acc = int64_t;
  using Wide = int64_t;
  using Out = int64_t;
};
template <>
struct Summed<float> {
  using Acc = float;
  using Wide = double;
  using Out = float;
};
template <>
struct Summed<double> {
  using Acc = double;
  using Wide = double;
  using Out = double;
};
template <>
struct Summed<Half> {
  using Acc = float;
  using Wide = double;
  using Out = Half;
};
template <>
struct Summed<BFloat16> {
  using Acc = float;
  using Wide = double;
  using Out = BFloat16;
};
template <class T>
struct Summed<Complex<T>> {
  using Acc = Complex<T>;
  using Wide = Complex<double>;
  using Out = Complex<T>;
};

// Integers wrap, which is defined for unsigned ones; the bits are the same.
template <class V>
struct Unsigned {
  using type = Vec<uint64_t, static_cast<int>(sizeof(V) / sizeof(uint64_t))>;
};
template <class V>
FB_FN V wrapping_sum(const V& a, const V& b) {
  using U = typename Unsigned<V>::type;
  return (V)((U)a + (U)b);
}
template <class V>
FB_FN V wrapping_product(const V& a, const V& b) {
  using U = typename Unsigned<V>::type;
  return (V)((U)a * (U)b);
}

template <class T>
struct Sum {
  using Acc = typename Summed<T>::Acc;
  using Wide = typename Summed<T>::Wide;
  using Out = typename Summed<T>::Out;
  static constexpr int kLanes = FB_ISA::kLanes<Acc>;
  static constexpr bool kGroups = __is_same(T, float) || __is_same(T, double);
  static Acc identity() { return Acc(0); }
  template <class V>
  static FB_FN V map(const V& x) {
    return x;
  }
  template <class V>
  static FB_FN V combine(const V& a, const V& b) {
    if constexpr (kIsInteger<Acc>)
      return wrapping_sum(a, b);
    else
      return a + b;
  }
  // A mean is a sum with a divisor.
  static FB_FN Wide result(Wide total, const ReducePlan& plan) {
    if constexpr (!kIsInteger<Wide>) {
      // Clang would divide first and ask afterwards.
      if (plan.param != 0) [[unlikely]]
        return total / Wide(plan.param);
    }
    return total;
  }
};

template <class T>
struct NanSum : Sum<T> {
  template <class V>
  static FB_FN V map(const V& x) {
    return x != x ? V{} : x;
  }
};

// Products stay in the element's own precision: overflow to infinity is part of the answer.
template <class T>
struct Prod {
  using Acc = typename Summed<T>::Acc;
  using Wide = Acc;
  using Out = typename Summed<T>::Out;
  static constexpr int kLanes = FB_ISA::kLanes<Acc>;
  static Acc identity() { return Acc(1); }
  template <class V>
  static FB_FN V map(const V& x) {
    return x;
  }
  template <class V>
  static FB_FN V combine(const V& a, const V& b) {
    if constexpr (kIsInteger<Acc>)
      return wrapping_product(a, b);
    else
      return a * b;
  }
  static FB_FN Wide result(Wide total, const ReducePlan&) { return total; }
};

// Truth is asked of the bits, as integers of the element's size; a float's sign bit is shifted out,
// so that -0.0 is false and NaN true.
template <size_t kSize>
struct BitsOf;
template <>
struct BitsOf<1> {
  using type = unsigned char;
};
template <>
struct BitsOf<2> {
  using type = unsigned short;
};
template <>
struct BitsOf<4> {
  using type = unsigned;
};
template <>
struct BitsOf<8> {
  using type = unsigned long;
};

template <class Bits, bool kShiftSign>
struct Truth {
  template <class V>
  static FB_FN V map(const V& x) {
    if constexpr (kShiftSign)
      return x + x;
    else
      return x;
  }
};

template <class Bits, bool kShiftSign>
struct Any : Truth<Bits, kShiftSign> {
  using Acc = Bits;
  using Wide = Bits;
  using Out = bool;
  static constexpr int kLanes = FB_ISA::kLanes<Acc>;
  static Acc identity() { return 0; }
  template <class V>
  static FB_FN V combine(const V& a, const V& b) {
    return a | b;
  }
  static FB_FN bool result(Wide total, const ReducePlan&) { return total != 0; }
};

template <class Bits, bool kShiftSign>
struct All : Truth<Bits, kShiftSign> {
  using Acc = Bits;
  using Wide = Bits;
  using Out = bool;
  static constexpr int kLanes = FB_ISA::kLanes<Acc>;
  static Acc identity() { return static_cast<Bits>(~Bits(0)); }
  template <class V>
  static FB_FN V combine(const V& a, const V& b) {
    return a < b ? a : b;
  }
  static FB_FN bool result(Wide total, const ReducePlan&) { return total != 0; }
};

// A block has at most 4096 elements: too many to count in a byte, few enough for 16 bits.
template <class Bits, bool kShiftSign>
struct CountNonzero {
  using Acc = std::conditional_t<sizeof(Bits) == 1, unsigned short, Bits>;
  using Wide = int64_t;
  using Out = int64_t;
  static constexpr int kLanes = FB_ISA::kLanes<Acc>;
  static Acc identity() { return 0; }
  template <class V>
  static FB_FN V map(const V& x) {
    const V magnitude = Truth<Bits, kShiftSign>::map(x);
    return magnitude != 0 ? V{} + Acc(1) : V{};
  }
  template <class V>
  static FB_FN V combine(const V& a, const V& b) {
    return a + b;
  }
  static FB_FN Wide result(Wide total, const ReducePlan&) { return total; }
};

template <class F>
void visit_bits(DType dtype, F f) {
  switch (dtype) {
    case DType::kBool:
    case DType::kUInt8:
    case DType::kInt8: return f(TypeTag<unsigned char>{}, std::false_type{});
    case DType::kInt16: return f(TypeTag<unsigned short>{}, std::false_type{});
    case DType::kInt32: return f(TypeTag<unsigned>{}, std::false_type{});
    case DType::kInt64: return f(TypeTag<unsigned long>{}, std::false_type{});
    case DType::kFloat16:
    case DType::kBFloat16: return f(TypeTag<unsigned short>{}, std::true_type{});
    case DType::kFloat32: return f(TypeTag<unsigned>{}, std::true_type{});
    case DType::kFloat64: return f(TypeTag<unsigned long>{}, std::true_type{});
    default: fail(ErrorKind::kNotImplemented, "not implemented for dtype ", dtype);
  }
}

template <template <class, bool> class Op>
void run_truth(DType dtype, const ReducePlan& plan) {
  visit_bits(dtype, [&](auto tag, auto shift) {
    using T = typename decltype(tag)::type;
    using Bits = typename BitsOf<sizeof(T)>::type;
    run_reduction<Fold<T, Op<Bits, decltype(shift)::value>>>(plan);
  });
}

void run_nansum(DType dtype, const ReducePlan& plan) {
  switch (dtype) {
    case DType::kFloat16: return run_reduction<Fold<Half, NanSum<Half>>>(plan);
    case DType::kBFloat16: return run_reduction<Fold<BFloat16, NanSum<BFloat16>>>(plan);
    case DType::kFloat32: return run_reduction<Fold<float, NanSum<float>>>(plan);
    case DType::kFloat64: return run_reduction<Fold<double, NanSum<double>>>(plan);
    default: fail(ErrorKind::kNotImplemented, "not implemented for dtype ", dtype);
  }
}

template <template <class> class Op>
void run_numeric(DType dtype, const ReducePlan& plan) {
  visit_all(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    run_reduction<Fold<T, Op<T>>>(plan);
  });
}

// Of truth values the largest is whether any is true, the smallest whether all are.
template <bool kMax>
void run_extremum(DType dtype, const ReducePlan& plan) {
  if (dtype == DType::kBool)
    return kMax ? run_truth<Any>(dtype, plan) : run_truth<All>(dtype, plan);
  visit_real(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    run_reduction<Fold<T, Extremum<T, kMax>>>(plan);
  });
}

}  // namespace

void reduce_fold(ReduceOp op, DType dtype, const ReducePlan& plan) {
  switch (op) {
    case ReduceOp::kSum: return run_numeric<Sum>(dtype, plan);
    case ReduceOp::kNanSum: return run_nansum(dtype, plan);
    case ReduceOp::kProd: return run_numeric<Prod>(dtype, plan);
    case ReduceOp::kAmax: return run_extremum<true>(dtype, plan);
    case ReduceOp::kAmin: return run_extremum<false>(dtype, plan);
    case ReduceOp::kAny: return run_truth<Any>(dtype, plan);
    case ReduceOp::kAll: return run_truth<All>(dtype, plan);
    default: return run_truth<CountNonzero>(dtype, plan);
  }
}

}  // namespace fb::cpu::FB_ISA
