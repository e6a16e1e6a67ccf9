// Vector norms 1, 2, inf and -inf. Norm 0 is count_nonzero, the others are powers of sums of
// powers; complex norms are norms of the absolute values.
#include <cmath>

#include "cpu/kernels/fold.h"

namespace fb::cpu::FB_ISA {
namespace {

template <class V>
FB_FN V magnitude(const V& x) {
  return x < 0 ? -x : x;
}

template <class T>
struct NormBase {
  using Acc = std::conditional_t<__is_same(T, double), double, float>;
  using Wide = double;
  using Out = T;
  static constexpr int kLanes = FB_ISA::kLanes<Acc>;
  static Acc identity() { return 0; }
  template <class V>
  static FB_FN V combine(const V& a, const V& b) {
    return a + b;
  }
  static FB_FN Wide result(Wide total, const ReducePlan&) { return total; }
};

template <class T>
struct Norm1 : NormBase<T> {
  template <class V>
  static FB_FN V map(const V& x) {
    return magnitude(x);
  }
};

template <class T>
struct Norm2 : NormBase<T> {
  template <class V>
  static FB_FN V map(const V& x) {
    return x * x;
  }
  static FB_FN double result(double total, const ReducePlan&) { return std::sqrt(total); }
};

template <class T, bool kMax>
struct NormExtremum : Extremum<typename NormBase<T>::Acc, kMax> {
  using Acc = typename NormBase<T>::Acc;
  using Out = T;
  static Acc identity() { return kMax ? Acc(0) : highest<Acc>(); }
  template <class V>
  static FB_FN V map(const V& x) {
    return magnitude(x);
  }
  static Acc result(Acc total, const ReducePlan&) { return std::fabs(total); }
};
template <class T>
using NormInf = NormExtremum<T, true>;
template <class T>
using NormNegInf = NormExtremum<T, false>;

template <template <class> class Op>
void run_floating(DType dtype, const ReducePlan& plan) {
  switch (dtype) {
    case DType::kFloat16: return run_reduction<Fold<Half, Op<Half>>>(plan);
    case DType::kBFloat16: return run_reduction<Fold<BFloat16, Op<BFloat16>>>(plan);
    case DType::kFloat32: return run_reduction<Fold<float, Op<float>>>(plan);
    case DType::kFloat64: return run_reduction<Fold<double, Op<double>>>(plan);
    default: fail(ErrorKind::kNotImplemented, "not implemented for dtype ", dtype);
  }
}

}  // namespace

void reduce_norm(ReduceOp op, DType dtype, const ReducePlan& plan) {
  switch (op) {
    case ReduceOp::kNorm1: return run_floating<Norm1>(dtype, plan);
    case ReduceOp::kNorm2: return run_floating<Norm2>(dtype, plan);
    case ReduceOp::kNormInf: return run_floating<NormInf>(dtype, plan);
    default: return run_floating<NormNegInf>(dtype, plan);
  }
}

}  // namespace fb::cpu::FB_ISA
