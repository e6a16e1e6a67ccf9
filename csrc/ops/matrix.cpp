// Tensors as matrices.
#include "ops/matrix.h"

#include "kernel/table.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

bool is_row_major(int64_t rows, int64_t columns, int64_t row_stride, int64_t column_stride) {
  return (columns <= 1 || column_stride == 1) && (rows <= 1 || row_stride >= columns) &&
         (rows <= 1 || row_stride > 0);
}

// Writes a b, or out + a b, into `out`, which is contiguous.
void multiply_into(const Tensor& out, const Tensor& a, const Tensor& b, bool accumulate,
                   const void* bias) {
  const MatrixOperand left = matrix_operand(a, out.dtype());
  const MatrixOperand right = matrix_operand(b, out.dtype());
  const int64_t m = a.size(-2);
  const int64_t n = b.size(-1);
  kernel::of(out).gemm({.dtype = out.dtype(),
                        .batch = a.dim() == 3 ? a.size(0) : 1,
                        .m = m,
                        .n = n,
                        .k = a.size(-1),
                        .a = left.in,
                        .b = right.in,
                        .c = {out.data(), n, m * n},
                        .accumulate = accumulate,
                        .bias = bias});
}

Dims product_sizes(const Tensor& a, const Tensor& b) {
  if (a.dim() == 2) return {a.size(0), b.size(1)};
  return {a.size(0), a.size(1), b.size(2)};
}

}  // namespace

DType product_type(const Tensor& t) {
  const DType dtype = t.dtype();
  return kernel::of(t).gemm_supports(dtype) ? dtype : compute_type(dtype);
}

MatrixOperand matrix_operand(const Tensor& t, DType dtype) {
  MatrixOperand operand;
  if (t.dtype() != dtype) operand.owner = cast(t, dtype);
  const int64_t rows = t.size(-2);
  const int64_t columns = t.size(-1);
  const auto used = [&]() -> const Tensor& { return operand.owner ? operand.owner : t; };
  int64_t row_stride = used().stride(-2);
  int64_t column_stride = used().stride(-1);
  if (!is_row_major(rows, columns, row_stride, column_stride)) {
    if (is_row_major(columns, rows, column_stride, row_stride)) {
      operand.in.transposed = true;
    } else {
      operand.owner = contiguous(used());
      row_stride = columns;
      column_stride = 1;
    }
  }
  operand.in.data = used().data();
  if (operand.in.transposed)
    operand.in.ld = columns <= 1 ? std::max<int64_t>(rows, 1) : column_stride;
  else
    operand.in.ld = rows <= 1 ? std::max<int64_t>(columns, 1) : row_stride;
  if (t.dim() == 3 && t.size(0) > 1) operand.in.batch_stride = used().stride(0);
  return operand;
}

void check_same_dtype(const Tensor& a, const Tensor& b) {
  FB_CHECK(a.dtype() == b.dtype(), "expected both operands to have the same dtype, got ", a.dtype(),
           " and ", b.dtype());
}

Tensor transposed(const Tensor& t) {
  Dims order(t.dim());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return reordered(t, order);
}

Tensor reordered(const Tensor& t, const Dims& order) {
  Dims sizes, strides;
  for (const int64_t dim : order) {
    sizes.push_back(t.sizes()[dim]);
    strides.push_back(t.strides()[dim]);
  }
  return inner_view(t, sizes, strides, t.offset());
}

Tensor reshaped(const Tensor& t, IntSpan sizes) {
  return inner_view(t, sizes, contiguous_strides(sizes), t.offset());
}

Tensor matrix_product(const Tensor& a, const Tensor& b) {
  const DType type = product_type(a);
  Tensor out = make_tensor(product_sizes(a, b), type, a.device());
  if (a.size(-1) == 0)
    kernel::of(out).fill(out, 0);
  else
    multiply_into(out, a, b, false, nullptr);
  return cast(out, a.dtype());
}

Tensor matrix_product_plus(const Tensor& start, const Tensor& a, const Tensor& b) {
  const DType type = product_type(a);
  Tensor out = make_tensor(product_sizes(a, b), type, a.device());
  const bool is_bias = start.dim() == 1 && start.size(0) == b.size(-1) && start.is_contiguous() &&
                       start.dtype() == type && a.size(-1) > 0;
  if (is_bias) {
    multiply_into(out, a, b, false, start.data());
  } else {
    copy_into(out, start);
    if (a.size(-1) > 0) multiply_into(out, a, b, true, nullptr);
  }
  return cast(out, a.dtype());
}

}  // namespace fb::ops
