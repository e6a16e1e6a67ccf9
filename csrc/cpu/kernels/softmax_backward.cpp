// Gradients of softmax and log-softmax: a sum along the line, then every element.
#include "cpu/kernels/exp.h"
#include "cpu/kernels/fold.h"
#include "cpu/kernels/loops.h"
#include "cpu/softmax.h"

namespace fb::cpu::FB_ISA {
namespace {

constexpr int64_t kColumns = 256;

// What is summed along a line: g y for softmax, g for its logarithm.
template <SoftmaxOp op, class V>
FB_FN V term(const V& g, const V& y) {
  return op == SoftmaxOp::kSoftmax ? g * y : g;
}
template <SoftmaxOp op, class T>
FB_FN T gradient(T g, T y, T total) {
  return op == SoftmaxOp::kSoftmax ? (g - total) * y : g - exp_nonpositive(y) * total;
}

// Adds up the terms of n <= kBlock elements.
template <class T, SoftmaxOp op>
FB_FN T sum_of(const T* g, const T* y, int64_t n) {
  constexpr int L = kLanes<T>;
  Vec<T> a{}, b{};
  int64_t i = 0;
  for (; i + 2 * L <= n; i += 2 * L) {
    a += term<op>(load<T, L>(g + i), load<T, L>(y + i));
    b += term<op>(load<T, L>(g + i + L), load<T, L>(y + i + L));
  }
  for (; i + L <= n; i += L) a += term<op>(load<T, L>(g + i), load<T, L>(y + i));
  if (i < n) b += term<op>(load_part(g + i, n - i, T(0)), load_part(y + i, n - i, T(0)));
  return fold_lanes<T, L>(a + b, [](const auto& u, const auto& v) { return u + v; });
}

template <class T>
void softmax_row(const T* g, const T* y, T* out, int64_t n, T total) {
  constexpr int L = kLanes<T>;
  int64_t i = 0;
  for (; i + L <= n; i += L) store(out + i, (load<T, L>(g + i) - total) * load<T, L>(y + i));
  if (i < n)
    store_part<T>(out + i, (load_part(g + i, n - i, T(0)) - total) * load_part(y + i, n - i, T(0)),
                  n - i);
}

// The last incomplete vector is padded, as single exponentials would cost as much as the rest of a
// short row.
template <class T>
void log_softmax_row(const T* g, const T* y, T* out, int64_t n, T total) {
  constexpr int L = kLanes<T>;
  int64_t i = 0;
  for (; i + L <= n; i += L)
    store(out + i, load<T, L>(g + i) - exp_nonpositive(load<T, L>(y + i)) * total);
  if (i < n)
    store_part<T>(
        out + i,
        load_part(g + i, n - i, T(0)) - exp_nonpositive(load_part(y + i, n - i, T(0))) * total,
        n - i);
}

template <class T, SoftmaxOp op>
void row(const T* g, const T* y, T* out, int64_t n) {
  double total = 0;
  for (int64_t begin = 0; begin < n; begin += kBlock)
    total += static_cast<double>(sum_of<T, op>(g + begin, y + begin, min64(kBlock, n - begin)));
  if constexpr (op == SoftmaxOp::kSoftmax)
    softmax_row(g, y, out, n, static_cast<T>(total));
  else
    log_softmax_row(g, y, out, n, static_cast<T>(total));
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
    FB_IVDEP
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
