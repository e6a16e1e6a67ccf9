// Linear maps of the last dimension: matrix products whose rows are all other dimensions.
#include "gen/ops/linear.h"

#include <algorithm>

#include "gen/ops/arith.h"
#include "gen/ops/matmul.h"
#include "gen/ops/view.h"
#include "kernel/table.h"
#include "ops/matrix.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

int64_t last_size(const Tensor& t) { return t.sizes()[t.dim() - 1]; }
int64_t row_count(const Tensor& t) {
  int64_t count = 1;
  for (int64_t i = 0; i + 1 < t.dim(); ++i) count *= t.sizes()[i];
  return count;
}

// Whether all dimensions but the last can be merged into one, and rows have no gaps.
bool has_foldable_rows(const Tensor& t) {
  const IntSpan sizes = t.sizes(), strides = t.strides();
  if (strides[t.dim() - 1] != 1 || strides[t.dim() - 2] < sizes[t.dim() - 1]) return false;
  for (int64_t i = 0; i + 2 < t.dim(); ++i) {
    if (strides[i] != strides[i + 1] * sizes[i + 1]) return false;
  }
  return true;
}

// All dimensions but the last as the rows of one matrix.
MatrixOperand rows_operand(const Tensor& t, DType dtype) {
  const int64_t columns = std::max<int64_t>(last_size(t), 1);
  if (t.is_contiguous() && t.dtype() == dtype) return {{}, {t.data(), columns}};
  if (t.dim() == 2) return matrix_operand(t, dtype);
  if (t.dim() > 2 && t.dtype() == dtype && has_foldable_rows(t))
    return {{}, {t.data(), t.stride(-2)}};
  MatrixOperand operand{contiguous(cast(t, dtype)), {}};
  operand.in = {operand.owner.data(), columns};
  return operand;
}

kernel::MatrixIn transposed(kernel::MatrixIn matrix) {
  matrix.transposed = !matrix.transposed;
  return matrix;
}

void check_fits(const Tensor& input, const Tensor& weight, int64_t depth, int64_t width) {
  FB_CHECK(last_size(input) == depth, "input of shape ", input.sizes(),
           " does not fit weight of shape ", weight.sizes(),
           ": mat1 and mat2 shapes cannot be multiplied (", row_count(input), "x", last_size(input),
           " and ", depth, "x", width, ")");
  FB_CHECK(input.dtype() == weight.dtype(),
           "expected input and weight to have the same dtype, got ", input.dtype(), " and ",
           weight.dtype());
}

// Each row of `input` times `weight`, transposed if asked for, plus `bias` if there is one.
Tensor rows_times(const Tensor& input, const Tensor& weight, bool is_transposed,
                  const Tensor& bias) {
  const int64_t k = weight.sizes()[is_transposed ? 1 : 0];
  const int64_t n = weight.sizes()[is_transposed ? 0 : 1];
  check_fits(input, weight, k, n);
  const DType type = product_type(input);
  Dims sizes(input.sizes());
  sizes.back() = n;
  Tensor out = make_tensor(sizes, type, input.device());
  if (k == 0) {
    bias ? copy_into(out, bias) : kernel::of(out).fill(out, 0);
    return cast(out, input.dtype());
  }
  const MatrixOperand left = rows_operand(input, type);
  const MatrixOperand right = rows_operand(weight, type);
  const bool ready = !bias || (bias.is_contiguous() && bias.dtype() == type);
  const Tensor converted = ready ? Tensor() : contiguous(cast(bias, type));
  const Tensor& start = ready ? bias : converted;
  kernel::of(out).gemm({.dtype = type,
                        .batch = 1,
                        .m = row_count(input),
                        .n = n,
                        .k = k,
                        .a = left.in,
                        .b = is_transposed ? transposed(right.in) : right.in,
                        .c = {out.data(), std::max<int64_t>(n, 1)},
                        .bias = start ? start.data() : nullptr});
  return type == input.dtype() ? out : cast(out, input.dtype());
}

bool broadcasts_to(IntSpan sizes, IntSpan target) {
  if (sizes.size() > target.size()) return false;
  for (size_t i = 1; i <= sizes.size(); ++i) {
    const int64_t size = sizes[sizes.size() - i];
    if (size != 1 && size != target[target.size() - i]) return false;
  }
  return true;
}

// What PyTorch also takes: a single row as weight, and a bias of any shape that broadcasts.
Tensor unusual_linear(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  FB_CHECK(input.dim() > 0 && weight.dim() > 0, "input and weight need at least 1 dimension, got ",
           input.sizes(), " and ", weight.sizes());
  FB_CHECK(weight.dim() == 2 || (weight.dim() == 1 && !bias), bias ? "with a bias, " : "",
           "weight must be a matrix", bias ? "" : " or a vector", ", got shape ", weight.sizes());
  if (weight.dim() == 1) return ops::matmul(input, weight);
  const Tensor product = ops::_linear_product(input, weight);
  FB_CHECK(bias.dtype() == input.dtype(), "expected bias to have the dtype of input, ",
           input.dtype(), ", got ", bias.dtype());
  FB_CHECK(broadcasts_to(bias.sizes(), product.sizes()), "bias of shape ", bias.sizes(),
           " does not broadcast to the result of shape ", product.sizes());
  return ops::add(product, bias);
}

}  // namespace

Tensor composed::nn_functional_linear(const Tensor& input, const Tensor& weight,
                                      const Tensor& bias) {
  if (input.dim() > 0 && weight.dim() == 2) [[likely]] {
    if (!bias) return ops::_linear_product(input, weight);
    const bool one_each = bias.dim() == 1 && bias.numel() == weight.sizes()[0];
    if (one_each && bias.dtype() == input.dtype()) return ops::_linear(bias, input, weight);
  }
  return unusual_linear(input, weight, bias);
}

Tensor compute::_linear(const Tensor& bias, const Tensor& input, const Tensor& weight) {
  return rows_times(input, weight, true, bias);
}

Tensor compute::_linear_product(const Tensor& input, const Tensor& weight) {
  return rows_times(input, weight, true, {});
}

Tensor compute::_linear_rows(const Tensor& input, const Tensor& weight) {
  return rows_times(input, weight, false, {});
}

Tensor compute::_linear_outer(const Tensor& left, const Tensor& right) {
  const int64_t m = last_size(left), n = last_size(right), k = row_count(left);
  const DType type = product_type(left);
  Tensor out = make_tensor({m, n}, type, left.device());
  if (k == 0) {
    kernel::of(out).fill(out, 0);
    return cast(out, left.dtype());
  }
  const MatrixOperand a = rows_operand(left, type);
  const MatrixOperand b = rows_operand(right, type);
  kernel::of(out).gemm({.dtype = type,
                        .batch = 1,
                        .m = m,
                        .n = n,
                        .k = k,
                        .a = transposed(a.in),
                        .b = b.in,
                        .c = {out.data(), std::max<int64_t>(n, 1)}});
  return type == left.dtype() ? out : cast(out, left.dtype());
}

namespace {

void check_bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                    const Tensor& bias) {
  FB_CHECK(input1.dim() == input2.dim(),
           "input1 and input2 have different numbers of dimensions: ", input1.sizes(), " and ",
           input2.sizes());
  FB_CHECK_INDEX(weight.dim() == 3, "expected weight to be (out, in1, in2), got shape ",
                 weight.sizes());
  FB_CHECK(input1.dim() > 0, "input1 and input2 need at least 1 dimension");
  const IntSpan rows1 = input1.sizes().first(input1.dim() - 1);
  const IntSpan rows2 = input2.sizes().first(input2.dim() - 1);
  FB_CHECK(rows1 == rows2, "input1 and input2 differ before the last dimension: ", input1.sizes(),
           " and ", input2.sizes());
  FB_CHECK(last_size(input1) == weight.size(1), "input1 of shape ", input1.sizes(),
           " does not fit weight of shape ", weight.sizes(), ": expected ", weight.size(1),
           " features, got ", last_size(input1));
  FB_CHECK(last_size(input2) == weight.size(2), "input2 of shape ", input2.sizes(),
           " does not fit weight of shape ", weight.sizes(), ": expected ", weight.size(2),
           " features, got ", last_size(input2));
  FB_CHECK(!bias || (bias.dim() == 1 && bias.size(0) == weight.size(0)), "expected bias of shape (",
           weight.size(0), "), got ", bias ? bias.sizes() : IntSpan());
}

}  // namespace

Tensor composed::bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                          const Tensor& bias) {
  check_bilinear(input1, input2, weight, bias);
  const int64_t rows = row_count(input1), out = weight.size(0), in1 = weight.size(1),
                in2 = weight.size(2);
  // Every row of input1 times all matrices at once, which leaves a matrix for each row.
  const Tensor side_by_side = ops::reshape(ops::permute(weight, {1, 0, 2}), {in1, out * in2});
  const Tensor halves = ops::mm(ops::reshape(input1, {rows, in1}), side_by_side);
  const Tensor columns = ops::reshape(input2, {rows, in2, 1});
  Dims sizes(input1.sizes());
  sizes.back() = out;
  const Tensor result =
      ops::reshape(ops::bmm(ops::reshape(halves, {rows, out, in2}), columns), sizes);
  return bias ? ops::add(result, bias) : result;
}

}  // namespace fb::ops
