// Sums, products and copies of sparse tensors.
#include "gen/ops/arith.h"
#include "gen/ops/copy.h"
#include "gen/ops/create.h"
#include "gen/ops/index.h"
#include "gen/ops/reduce.h"
#include "gen/ops/sparse.h"
#include "gen/ops/view.h"
#include "kernel/table.h"
#include "ops/host.h"
#include "ops/promotion.h"
#include "ops/sparse.h"

namespace fb::ops {
namespace {

bool is_sparse(const Operand& o) { return o.is_tensor() && fb::is_sparse(o.tensor()); }
bool is_number(const Operand& o) {
  return !o.is_tensor() || (!fb::is_sparse(o.tensor()) && o.tensor().dim() == 0);
}

void check_same_density(const Tensor& a, const Tensor& b) {
  FB_CHECK(a.sizes() == b.sizes(), "expected sizes of 'self' and 'other' to match, but ", a.sizes(),
           " != ", b.sizes());
  FB_CHECK(sparse_parts(a).sparse_dim() == sparse_parts(b).sparse_dim(),
           "expected 'self' and 'other' to have same density, but 'self' has ",
           sparse_parts(a).sparse_dim(), " sparse dimensions while 'other' has ",
           sparse_parts(b).sparse_dim(), " sparse dimensions");
}

// Where the blocks of two tensors go in their sum: concatenated or, as in PyTorch if the values are
// contiguous, merged by position as if both were sorted.
struct Merged {
  Tensor of_a, of_b;
  int64_t count = 0;

  Merged(const Tensor& a, const Tensor& b, bool by_position)
      : of_a(make_tensor({a.numel()}, DType::kInt64, a.device())),
        of_b(make_tensor({b.numel()}, DType::kInt64, b.device())) {
    count = kernel::of(a).merge_positions(a.data_as<int64_t>(), a.numel(), b.data_as<int64_t>(),
                                          b.numel(), by_position, of_a.data_as<int64_t>(),
                                          of_b.data_as<int64_t>());
  }
};

Tensor sum_of_sparse(const Tensor& a, const Tensor& b, const Scalar& alpha, DType dtype) {
  check_same_density(a, b);
  const SparseParts &x = sparse_parts(a), &y = sparse_parts(b);
  const bool by_position = x.values.is_contiguous() && y.values.is_contiguous();
  const Merged merged(flat_positions(a), flat_positions(b), by_position);
  const Tensor indices = make_tensor({x.sparse_dim(), merged.count}, DType::kInt64, a.device());
  compute::index_copy_(indices, 1, merged.of_b, y.indices);
  compute::index_copy_(indices, 1, merged.of_a, x.indices);
  Dims sizes = x.values.sizes().vec();
  sizes[0] = merged.count;
  const Tensor values = compute::zeros_like(make_tensor(sizes, dtype, a.device()));
  compute::index_copy_(values, 0, merged.of_a, cast(x.values, dtype));
  compute::index_add_(values, 0, merged.of_b, cast(y.values, dtype), alpha);
  return make_sparse(a.sizes(), {indices, values, by_position && x.is_coalesced && y.is_coalesced});
}

Tensor in_type(const Tensor& sparse, DType dtype) {
  return with_values(sparse, cast(sparse_parts(sparse).values, dtype));
}

void check_same_size(const Tensor& dense, const Tensor& sparse) {
  FB_CHECK(dense.sizes() == sparse.sizes(),
           "expected 'self' and 'other' to have same size, but self has size ", dense.sizes(),
           " while other has size ", sparse.sizes(),
           " (a sum of dense and sparse tensors does not broadcast)");
}

// For tensors of the same sizes: the blocks of the first at positions that the second has too.
Tensor product_of_sparse(const Tensor& a, const Tensor& b) {
  check_same_density(a, b);
  const Tensor factor = coalesced(b);
  const SparseParts &left = sparse_parts(a), &right = sparse_parts(factor);
  const Tensor positions = flat_positions(a), found = flat_positions(factor);
  const Tensor of_left = make_tensor({left.count()}, DType::kInt64, a.device());
  const Tensor of_right = make_tensor({left.count()}, DType::kInt64, a.device());
  const int64_t count = kernel::of(positions).match_positions(
      positions.data_as<int64_t>(), left.count(), found.data_as<int64_t>(), right.count(),
      of_left.data_as<int64_t>(), of_right.data_as<int64_t>());
  const Tensor i = first_of(of_left, count), j = first_of(of_right, count);
  const Tensor values = compute::mul(compute::index_select(left.values, 0, i),
                                     compute::index_select(right.values, 0, j));
  return make_sparse(a.sizes(),
                     {compute::index_select(left.indices, 1, i), values, left.is_coalesced});
}

Tensor product_with_dense(const Tensor& sparse, const Tensor& dense) {
  FB_CHECK(sparse.sizes() == dense.sizes(), "expected factors of the same size, got ",
           sparse.sizes(), " and ", dense.sizes(),
           " (a product with a sparse tensor does not broadcast)");
  const Tensor factors =
      compute::index_select(as_rows(contiguous(dense), sparse), 0, flat_positions(sparse));
  return with_values(sparse, compute::mul(sparse_parts(sparse).values, factors));
}

void check_divisor(const Operand& input, const Operand& other) {
  FB_CHECK(is_sparse(input) && is_number(other),
           "Sparse division requires a scalar or zero-dim dense tensor divisor");
}

Scalar negated(const Scalar& alpha) {
  if (alpha.kind() == Scalar::Kind::kComplex) {
    const auto z = alpha.to<Complex<double>>();
    return Complex<double>(-z.re, -z.im);
  }
  return alpha.is_integral() ? Scalar(-alpha.to<int64_t>()) : Scalar(-alpha.to<double>());
}

}  // namespace

Tensor sparse::add(const Operand& input, const Operand& other, const Scalar& alpha) {
  FB_CHECK(input.is_tensor() && is_sparse(other),
           "add(sparse, dense) is not supported. Use add(dense, sparse) instead.");
  const Operand both[] = {input, other};
  const DType dtype = ops::result_type(both);
  const Tensor &a = input.tensor(), &b = other.tensor();
  if (fb::is_sparse(a)) return sum_of_sparse(a, b, alpha, dtype);
  check_same_size(a, b);
  Tensor result = make_like(a, dtype);
  copy_into(result, a);
  add_sparse(result, in_type(b, dtype), alpha);
  return result;
}

void sparse::add_(const Tensor& input, const Operand& other, const Scalar& alpha) {
  FB_CHECK(is_sparse(other),
           "add(sparse, dense) is not supported. Use add(dense, sparse) instead.");
  const Operand both[] = {input, other};
  const DType dtype = ops::result_type(both);
  if (fb::is_sparse(input))
    return become_sparse(input, sum_of_sparse(input, other.tensor(), alpha, dtype));
  FB_CHECK(can_cast(dtype, input.dtype()), "a result of type ", dtype,
           " can't be cast to the desired output type ", input.dtype());
  check_same_size(input, other.tensor());
  add_sparse(input, in_type(other.tensor(), input.dtype()), alpha);
}

Tensor sparse::sub(const Operand& input, const Operand& other, const Scalar& alpha) {
  return sparse::add(input, other, negated(alpha));
}
void sparse::sub_(const Tensor& input, const Operand& other, const Scalar& alpha) {
  sparse::add_(input, other, negated(alpha));
}

Tensor sparse::mul(const Operand& input, const Operand& other) {
  if (!is_sparse(input)) return sparse::mul(other, input);
  const Tensor& a = input.tensor();
  if (is_number(other)) return with_values(a, compute::mul(sparse_parts(a).values, other));
  return is_sparse(other) ? product_of_sparse(a, other.tensor())
                          : product_with_dense(a, other.tensor());
}
void sparse::mul_(const Tensor& input, const Operand& other) {
  if (!fb::is_sparse(input)) refuse_sparse("mul_");
  if (is_number(other))
    compute::mul_(sparse_parts(input).values, other);
  else
    become_sparse(input, sparse::mul(input, other));
}

Tensor sparse::div(const Operand& input, const Operand& other) {
  check_divisor(input, other);
  return with_values(input.tensor(), compute::div(sparse_parts(input.tensor()).values, other));
}
void sparse::div_(const Tensor& input, const Operand& other) {
  check_divisor(input, other);
  compute::div_(sparse_parts(input).values, other);
}

Tensor sparse::neg(const Tensor& input) {
  return with_values(input, compute::neg(sparse_parts(input).values));
}
void sparse::neg_(const Tensor& input) { compute::neg_(sparse_parts(input).values); }

Tensor sparse::clone(const Tensor& input, std::optional<MemoryFormat>) {
  return sparse::to_copy(input, input.dtype(), input.device(), {});
}

Tensor sparse::to_copy(const Tensor& input, DType dtype, std::optional<Device> device,
                       std::optional<MemoryFormat>) {
  const SparseParts& parts = sparse_parts(input);
  return make_sparse(input.sizes(),
                     {compute::to_copy(parts.indices, parts.indices.dtype(), device, {}),
                      compute::to_copy(parts.values, dtype, device, {}), parts.is_coalesced});
}

void sparse::copy_(const Tensor& input, const Tensor& src, bool) {
  FB_CHECK(fb::is_sparse(input) && fb::is_sparse(src),
           "copy_() between dense and sparse Tensors is not implemented; use to_dense() or "
           "to_sparse()");
  become_sparse(input, sparse::clone(src, {}));
}

Tensor sparse::empty_like(const Tensor& input, std::optional<DType> dtype,
                          std::optional<Device> device, std::optional<MemoryFormat>) {
  return make_sparse_zeros(input.sizes(), sparse_parts(input).sparse_dim(),
                           dtype.value_or(input.dtype()), device.value_or(input.device()));
}
Tensor sparse::zeros_like(const Tensor& input, std::optional<DType> dtype,
                          std::optional<Device> device, std::optional<MemoryFormat> format) {
  return sparse::empty_like(input, dtype, device, format);
}
void sparse::zero_(const Tensor& input) { become_sparse(input, sparse::zeros_like(input)); }

Tensor sparse::sum_all(const Tensor& input, std::optional<DType> dtype) {
  return compute::sum_all(sparse_parts(input).values, dtype);
}

Tensor sparse::sum(const Tensor& input, std::optional<IntSpan> dim, bool keepdim,
                   std::optional<DType> dtype) {
  const SparseParts& parts = sparse_parts(input);
  if (!dim || dim->empty() || keepdim || input.dim() == 0)
    return compute::sum(compute::_to_dense(input, true), dim, keepdim, dtype);
  std::vector<bool> is_summed(input.sizes().size());
  for (const int64_t d : wrap_dims(*dim, input.dim())) is_summed[static_cast<size_t>(d)] = true;
  const auto sparse_dim = static_cast<size_t>(parts.sparse_dim());
  Dims sizes, kept, in_values;
  for (size_t d = 0; d < is_summed.size(); ++d) {
    if (is_summed[d] && d >= sparse_dim)
      in_values.push_back(static_cast<int64_t>(d - sparse_dim) + 1);
    if (is_summed[d]) continue;
    sizes.push_back(input.sizes()[d]);
    if (d < sparse_dim) kept.push_back(static_cast<int64_t>(d));
  }
  if (kept.empty()) in_values.insert(0, 0);
  const DType summed = is_integral(input.dtype()) ? DType::kInt64 : input.dtype();
  const Tensor values = in_values.empty()
                            ? cast(parts.values, dtype.value_or(summed))
                            : compute::sum(parts.values, IntSpan(in_values), false, dtype);
  if (kept.empty()) return values;
  const Tensor rows = device_integers(kept, input.device());
  return coalesced(
      make_sparse(sizes, {compute::index_select(parts.indices, 0, rows), values, false}));
}

}  // namespace fb::ops
