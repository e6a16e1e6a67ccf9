// Gradients of softmax and log-softmax: a sum along the line, then every element.
#include "cpu/kernels/fold.h"
#include "cpu/softmax.h"
#include "scalar/math.h"

namespace fb::cpu::FB_ISA {
namespace {

constexpr int64_t kColumns = 256;

// What is summed along a line: g y for softmax, g for its logarithm.
template <SoftmaxOp op, class T>
FB_FN T term(T g, T y) {
  return op == SoftmaxOp::kSoftmax ? g * y : g;
}
template <SoftmaxOp op, class T>
FB_FN T gradient(T g, T y, T total) {
  return op == SoftmaxOp::kSoftmax ? (g - total) * y : g - math::exp(y) * total;
}

template <class T, SoftmaxOp op>
void row(const T* g, const T* y, T* out, int64_t n) {
  double total = 0;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = min64(n, begin + kBlock);
    T sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = begin; i < end; ++i) sum += term<op>(g[i], y[i]);
    total += static_cast<double>(sum);
  }
  const T whole = static_cast<T>(total);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) out[i] = gradient<op>(g[i], y[i], whole);
}

// `width` <= kColumns neighbouring columns of n elements, rows `stride` apart.
template <class T, SoftmaxOp op>
void columns(const T* g, const T* y, T* out, int64_t n, int64_t stride, int64_t width) {
  double total[kColumns] = {};
  for (int64_t r = 0; r < n; ++r)
    for (int64_t c = 0; c < width; ++c)
      total[c] += static_cast<double>(term<op>(g[r * stride + c], y[r * stride + c]));
  T whole[kColumns];
  for (int64_t c = 0; c < width; ++c) whole[c] = static_cast<T>(total[c]);
  for (int64_t r = 0; r < n; ++r) {
    const int64_t at = r * stride;
#pragma GCC ivdep
    for (int64_t c = 0; c < width; ++c) out[at + c] = gradient<op>(g[at + c], y[at + c], whole[c]);
  }
}

template <class T, SoftmaxOp op>
void run(const void* gradients, const void* results, void* outputs, int64_t outer, int64_t n,
         int64_t inner) {
  const T* const g = static_cast<const T*>(gradients);
  const T* const y = static_cast<const T*>(results);
  T* const out = static_cast<T*>(outputs);
  const int64_t blocks = ceil_div(inner, kColumns);
  parallel_for(outer * blocks, ceil_div(kGrain, n * min64(inner, kColumns)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t b = begin; b < end; ++b) {
                   const int64_t column = b % blocks * kColumns;
                   const int64_t at = b / blocks * n * inner + column;
                   if (inner == 1)
                     row<T, op>(g + at, y + at, out + at, n);
                   else
                     columns<T, op>(g + at, y + at, out + at, n, inner,
                                    min64(kColumns, inner - column));
                 }
               });
}

}  // namespace

void softmax_backward(SoftmaxOp op, DType dtype, const void* gradient, const void* result,
                      void* out, int64_t outer, int64_t n, int64_t inner) {
  if (outer == 0 || n == 0 || inner == 0) return;
  const bool single = dtype == DType::kFloat32;
  if (op == SoftmaxOp::kSoftmax)
    return (single ? run<float, SoftmaxOp::kSoftmax>
                   : run<double, SoftmaxOp::kSoftmax>)(gradient, result, out, outer, n, inner);
  (single ? run<float, SoftmaxOp::kLogSoftmax>
          : run<double, SoftmaxOp::kLogSoftmax>)(gradient, result, out, outer, n, inner);
}

}  // namespace fb::cpu::FB_ISA
