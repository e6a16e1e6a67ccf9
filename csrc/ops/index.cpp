// Elements picked by position or mask.
#include "gen/ops/index.h"

#include <limits>

#include "gen/ops/arith.h"
#include "gen/ops/compare.h"
#include "gen/ops/view.h"
#include "kernel/table.h"
#include "ops/advanced_index.h"
#include "ops/held.h"
#include "ops/host.h"
#include "ops/output.h"
#include "ops/positions.h"

namespace fb::ops {
namespace {

// These operators treat a 0-dimensional tensor as a vector of one element.
Tensor at_least_1d(const Tensor& t) { return t.dim() == 0 ? ops::unsqueeze(t, 0) : t; }

Tensor positions_of(const Tensor& index) {
  FB_CHECK(index.dtype() == DType::kInt64 || index.dtype() == DType::kInt32,
           "expected an index of type int64 or int32, got ", index.dtype());
  return contiguous(cast(index, DType::kInt64));
}

// Slices along one dimension, by a vector of positions.
kernel::Picks along(const Tensor& target, int64_t dim, const Tensor& index,
                    ErrorKind error = ErrorKind::kIndex) {
  FB_CHECK_AS(error, index.dim() <= 1, "index must be a vector, got shape ", index.sizes());
  kernel::Picks picks;
  picks.target = at_least_1d(target);
  picks.before = wrap_dim(dim, target.dim());
  picks.positions = {positions_of(at_least_1d(index))};
  if (picks.positions[0].storage() == target.storage())
    picks.positions[0] = copy_of(picks.positions[0]);
  picks.shape = picks.positions[0].sizes().vec();
  return picks;
}

void check_positions(const Tensor& index, int64_t size, ErrorKind error) {
  const std::optional<int64_t> outside = first_bad_position(positions_of(index), size);
  FB_CHECK_AS(error, !outside, "index ", *outside, " is out of bounds for a dimension of size ",
              size);
}

// One element spread over a shape, converted to the type of `like`.
Tensor spread(const Scalar& value, IntSpan shape, DType dtype, Device device) {
  const Tensor element = make_tensor({}, dtype, device);
  kernel::of(element).fill(element, value);
  return ops::expand(element, shape, false);
}

Scalar number_in(const Tensor& value) {
  FB_CHECK(value.dim() == 0, "value must be a number or a 0-dimensional tensor, got shape ",
           value.sizes());
  return host_number(value);
}

void check_convertible(const Scalar& value, DType dtype) {
  FB_CHECK(value.kind() != Scalar::Kind::kComplex || is_complex(dtype), "value ", value,
           " cannot be converted to type ", dtype, " without loss");
  check_held(dtype, value);
}

// The arguments of gather and scatter, checked and in the form that kernels take.
struct Indexed {
  Tensor target;
  int64_t dim;
  Tensor index;

  Indexed(const Tensor& input, int64_t along_dim, const Tensor& positions)
      : target(at_least_1d(input)),
        dim(wrap_dim(along_dim, input.dim())),
        index(positions_of(at_least_1d(positions))) {
    if (index.numel() == 0) return;
    FB_CHECK(index.dim() == target.dim(), "index of shape ", positions.sizes(),
             " must have as many dimensions as input of shape ", input.sizes());
    for (int64_t d = 0; d < index.dim(); ++d)
      FB_CHECK(d == dim || index.sizes()[d] <= target.sizes()[d], "index of shape ",
               positions.sizes(), " is larger than input of shape ", input.sizes(),
               " in dimension ", d);
  }
};

void scatter_into(const Tensor& input, int64_t dim, const Tensor& positions, const Tensor& src,
                  kernel::ScatterMode mode) {
  check_writable(input);
  FB_CHECK(src.dtype() == input.dtype(), "expected src of the type of input, ", input.dtype(),
           ", got ", src.dtype());
  Indexed at(input, dim, positions);
  if (at.index.numel() == 0) return;
  Tensor source = at_least_1d(src);
  FB_CHECK(source.dim() == at.index.dim(), "src of shape ", src.sizes(),
           " must have as many dimensions as index of shape ", positions.sizes());
  for (int64_t d = 0; d < source.dim(); ++d)
    FB_CHECK(at.index.sizes()[d] <= source.sizes()[d], "index of shape ", positions.sizes(),
             " is larger than src of shape ", src.sizes(), " in dimension ", d);
  source = as_view(source, at.index.sizes(), source.strides());
  if (source.storage() == input.storage()) source = copy_of(source);
  if (at.index.storage() == input.storage()) at.index = copy_of(at.index);
  kernel::of(at.target).scatter(at.target, at.dim, at.index, source, mode);
}

// The names that scatter_reduce uses for the reductions of scatter.
std::string reduction_of(const std::string& reduce) {
  if (reduce == "add") return "sum";
  FB_CHECK(reduce == "multiply", "reduce must be 'add' or 'multiply', got '", reduce, "'");
  return "prod";
}

enum class Reduction { kSum, kProduct, kMean, kMax, kMin };

Reduction reduction_named(const std::string& name) {
  if (name == "sum") return Reduction::kSum;
  if (name == "prod") return Reduction::kProduct;
  if (name == "mean") return Reduction::kMean;
  if (name == "amax" || name == "max") return Reduction::kMax;
  FB_CHECK(name == "amin" || name == "min", "reduce must be sum, prod, mean, amax or amin, got '",
           name, "'");
  return Reduction::kMin;
}

// The neutral element of the reduction.
Scalar identity_of(Reduction reduction, DType dtype) {
  if (reduction == Reduction::kSum || reduction == Reduction::kMean) return 0;
  if (reduction == Reduction::kProduct) return 1;
  const bool lowest = reduction == Reduction::kMax;
  if (is_floating(dtype)) return lowest ? -kInfinity : kInfinity;
  FB_CHECK(!is_complex(dtype), "complex numbers have no order");
  if (dtype == DType::kBool) return !lowest;
  return visit_integral(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Scalar(static_cast<int64_t>(lowest ? std::numeric_limits<T>::min()
                                              : std::numeric_limits<T>::max()));
  });
}

void reduce_into(const Tensor& input, int64_t dim, const Tensor& index, const Tensor& src,
                 Reduction reduction, bool include_self) {
  constexpr kernel::ScatterMode modes[] = {
      kernel::ScatterMode::kAdd, kernel::ScatterMode::kMultiply, kernel::ScatterMode::kAdd,
      kernel::ScatterMode::kMax, kernel::ScatterMode::kMin};
  const Scalar identity = identity_of(reduction, input.dtype());
  if (!include_self)
    scatter_into(input, dim, index, spread(identity, index.sizes(), input.dtype(), input.device()),
                 kernel::ScatterMode::kStore);
  scatter_into(input, dim, index, src, modes[static_cast<int>(reduction)]);
  if (reduction != Reduction::kMean) return;
  const Tensor counts = make_tensor(input.sizes(), DType::kInt64, input.device());
  kernel::of(counts).fill(counts, include_self ? 1 : 0);
  scatter_into(counts, dim, index, spread(1, index.sizes(), DType::kInt64, input.device()),
               kernel::ScatterMode::kAdd);
  const Tensor sums = contiguous(input);
  kernel::of(sums).divide_by_counts(sums, counts);
  if (!sums.is_same(input)) copy_into(input, sums);
}

// The in-place form applied to a contiguous copy.
template <class F>
Tensor on_copy(const Tensor& input, F&& change) {
  Tensor out = copy_contiguous(input);
  change(out);
  return out;
}
// The same in the memory order of the input, which some operators keep.
template <class F>
Tensor on_like(const Tensor& input, F&& change) {
  Tensor out = copy_of(input);
  change(out);
  return out;
}

}  // namespace

// --- reading

namespace {

// index_select; `from_the_end` allows negative positions.
Tensor selected(const Tensor& input, int64_t dim, const Tensor& index, bool from_the_end) {
  kernel::Picks picks = along(input, dim, index);
  picks.from_the_end = from_the_end;
  const Tensor out = make_tensor(picks.result_shape(), input.dtype(), input.device());
  kernel::of(out).pick(out, picks);
  return input.dim() == 0 ? ops::select(out, 0, 0) : out;
}

}  // namespace

Tensor compute::index_select(const Tensor& input, int64_t dim, const Tensor& index) {
  return selected(input, dim, index, false);
}

Tensor compute::gather(const Tensor& input, int64_t dim, const Tensor& index, bool) {
  const Indexed at(input, dim, index);
  const Tensor out = make_tensor(index.sizes(), input.dtype(), input.device());
  kernel::of(out).gather(at_least_1d(out), at.target, at.dim, at.index);
  return out;
}

Tensor compute::take(const Tensor& input, const Tensor& index) {
  FB_CHECK(index.dtype() == DType::kInt64, "expected an index of type int64, got ", index.dtype());
  FB_CHECK_INDEX(input.numel() > 0 || index.numel() == 0,
                 "cannot take elements from an empty tensor");
  return ops::reshape(
      selected(ops::reshape(input, {-1}), 0, ops::reshape(index, {index.numel()}), true),
      index.sizes());
}

namespace {

// Indices, of which negative ones count from the end, as positions.
Tensor from_the_start(const Tensor& indices, int64_t size) {
  return ops::add(indices, ops::mul(ops::lt(indices, 0), size), 1);
}

}  // namespace

Tensor take_along_dim(const Tensor& input, const Tensor& indices, std::optional<int64_t> dim) {
  FB_CHECK(indices.dtype() == DType::kInt64, "expected indices of type int64, got ",
           indices.dtype());
  if (!dim) return ops::gather(ops::reshape(input, {-1}), 0, ops::reshape(indices, {-1}), false);
  FB_CHECK(input.dim() == indices.dim(), "input of shape ", input.sizes(), " and indices of shape ",
           indices.sizes(), " must have the same number of dimensions");
  FB_CHECK_INDEX(input.dim() > 0, "a 0-dimensional tensor has no dim ", *dim);
  const int64_t d = wrap_dim(*dim, input.dim());
  // All dimensions but d broadcast.
  Dims without_d = input.sizes().vec();
  without_d[d] = 1;
  Dims index_shape = indices.sizes().vec();
  index_shape[d] = 1;
  Dims shape = broadcast_shapes(without_d, index_shape);
  shape[d] = input.sizes()[d];
  const Tensor source = ops::expand(input, shape, false);
  shape[d] = indices.sizes()[d];
  const Tensor positions = from_the_start(indices, input.sizes()[d]);
  return ops::gather(source, d, ops::expand(positions, shape, false), false);
}

Tensor compute::masked_select(const Tensor& input, const Tensor& mask) {
  FB_CHECK(mask.dtype() == DType::kBool, "expected a mask of type bool, got ", mask.dtype());
  const Dims shape = broadcast_shapes(input.sizes(), mask.sizes());
  return kernel::of(input).compress(contiguous(compute::expand(input, shape, false)),
                                    contiguous(compute::expand(mask, shape, false)));
}

Tensor compute::argwhere(const Tensor& input) { return ops::nonzero(input); }

Tensor nonzero(const Tensor& input) {
  return ops::transpose(kernel::of(input).nonzero_columns(contiguous(cast(input, DType::kBool))), 0,
                        1);
}

std::vector<Tensor> nonzero_tuple(const Tensor& input) {
  return ops::unbind(ops::nonzero(input.dim() > 0 ? input : ops::reshape(input, {1})), 1);
}

// --- writing

void compute::scatter_(const Tensor& input, int64_t dim, const Tensor& index, const Tensor& src) {
  scatter_into(input, dim, index, src, kernel::ScatterMode::kStore);
}
Tensor compute::scatter(const Tensor& input, int64_t dim, const Tensor& index, const Tensor& src) {
  return on_copy(input, [&](const Tensor& out) { compute::scatter_(out, dim, index, src); });
}

void compute::scatter_(const Tensor& input, int64_t dim, const Tensor& index, const Scalar& value) {
  check_convertible(value, input.dtype());
  scatter_into(input, dim, index, spread(value, index.sizes(), input.dtype(), input.device()),
               kernel::ScatterMode::kStore);
}
Tensor compute::scatter(const Tensor& input, int64_t dim, const Tensor& index,
                        const Scalar& value) {
  return on_copy(input, [&](const Tensor& out) { compute::scatter_(out, dim, index, value); });
}

void scatter_(const Tensor& input, int64_t dim, const Tensor& index, const Tensor& src,
              const std::string& reduce) {
  ops::scatter_reduce_(input, dim, index, src, reduction_of(reduce));
}
Tensor scatter(const Tensor& input, int64_t dim, const Tensor& index, const Tensor& src,
               const std::string& reduce) {
  return ops::scatter_reduce(input, dim, index, src, reduction_of(reduce));
}

void scatter_(const Tensor& input, int64_t dim, const Tensor& index, const Scalar& value,
              const std::string& reduce) {
  check_convertible(value, input.dtype());
  ops::scatter_(input, dim, index, spread(value, index.sizes(), input.dtype(), input.device()),
                reduce);
}
Tensor scatter(const Tensor& input, int64_t dim, const Tensor& index, const Scalar& value,
               const std::string& reduce) {
  check_convertible(value, input.dtype());
  return ops::scatter(input, dim, index,
                      spread(value, index.sizes(), input.dtype(), input.device()), reduce);
}

void compute::scatter_add_(const Tensor& input, int64_t dim, const Tensor& index,
                           const Tensor& src) {
  scatter_into(input, dim, index, src, kernel::ScatterMode::kAdd);
}
Tensor compute::scatter_add(const Tensor& input, int64_t dim, const Tensor& index,
                            const Tensor& src) {
  return on_copy(input, [&](const Tensor& out) { compute::scatter_add_(out, dim, index, src); });
}

void compute::scatter_reduce_(const Tensor& input, int64_t dim, const Tensor& index,
                              const Tensor& src, const std::string& reduce, bool include_self) {
  reduce_into(input, dim, index, src, reduction_named(reduce), include_self);
}
Tensor compute::scatter_reduce(const Tensor& input, int64_t dim, const Tensor& index,
                               const Tensor& src, const std::string& reduce, bool include_self) {
  return on_copy(input, [&](const Tensor& out) {
    compute::scatter_reduce_(out, dim, index, src, reduce, include_self);
  });
}

namespace {

// Stores or adds the slices of `source`, one per position, along `dim`.
void put_parts(const Tensor& input, int64_t dim, const Tensor& index, const Tensor& source,
               bool accumulate) {
  check_writable(input);
  FB_CHECK(source.dtype() == input.dtype(), "expected source of the type of input, ", input.dtype(),
           ", got ", source.dtype());
  kernel::Picks picks = along(input, dim, index);
  picks.from_the_end = false;
  FB_CHECK_INDEX(source.dim() == 0 || input.dim() == 0 || source.dim() == input.dim(),
                 "source of shape ", source.sizes(),
                 " must have as many dimensions as input of shape ", input.sizes());
  Tensor parts = at_least_1d(source);
  const Dims shape = picks.result_shape();
  FB_CHECK(parts.sizes() == shape || (source.dim() == 0 && numel_of(shape) == 1),
           "source of shape ", source.sizes(), " does not have the shape ", shape,
           " that input and index require");
  if (parts.sizes() != shape) parts = ops::reshape(parts, shape);
  if (parts.storage() == input.storage()) parts = copy_of(parts);
  kernel::of(picks.target).index_put(picks, parts, accumulate);
}

}  // namespace

void compute::index_add_(const Tensor& input, int64_t dim, const Tensor& index,
                         const Tensor& source, const Scalar& alpha) {
  // PyTorch's exception classes: it has a separate kernel for vectors.
  FB_CHECK_INDEX(index.dim() <= 1, "index must be a vector, got shape ", index.sizes());
  const ErrorKind error = input.dim() <= 1 ? ErrorKind::kIndex : ErrorKind::kRuntime;
  check_positions(index, at_least_1d(input).size(dim), error);
  const bool scaled = alpha.kind() != Scalar::Kind::kInt || alpha.to<int64_t>() != 1;
  put_parts(input, dim, index, scaled ? cast(compute::mul(source, alpha), source.dtype()) : source,
            true);
}
Tensor compute::index_add(const Tensor& input, int64_t dim, const Tensor& index,
                          const Tensor& source, const Scalar& alpha) {
  return on_copy(input,
                 [&](const Tensor& out) { compute::index_add_(out, dim, index, source, alpha); });
}

void compute::index_copy_(const Tensor& input, int64_t dim, const Tensor& index,
                          const Tensor& source) {
  FB_CHECK(index.dtype() == DType::kInt64, "expected an index of type int64, got ", index.dtype());
  put_parts(input, dim, index, source, false);
}
Tensor compute::index_copy(const Tensor& input, int64_t dim, const Tensor& index,
                           const Tensor& source) {
  return on_copy(input, [&](const Tensor& out) { compute::index_copy_(out, dim, index, source); });
}

void compute::index_fill_(const Tensor& input, int64_t dim, const Tensor& index,
                          const Scalar& value) {
  check_writable(input);
  check_convertible(value, input.dtype());
  FB_CHECK_INDEX(index.dtype() == DType::kInt64, "expected an index of type int64, got ",
                 index.dtype());
  const kernel::Picks picks = along(input, dim, index, ErrorKind::kRuntime);
  kernel::of(picks.target)
      .index_put(picks, spread(value, picks.result_shape(), input.dtype(), input.device()), false);
}
Tensor compute::index_fill(const Tensor& input, int64_t dim, const Tensor& index,
                           const Scalar& value) {
  return on_like(input, [&](const Tensor& out) { compute::index_fill_(out, dim, index, value); });
}
void compute::index_fill_(const Tensor& input, int64_t dim, const Tensor& index,
                          const Tensor& value) {
  compute::index_fill_(input, dim, index, number_in(value));
}
Tensor compute::index_fill(const Tensor& input, int64_t dim, const Tensor& index,
                           const Tensor& value) {
  return compute::index_fill(input, dim, index, number_in(value));
}

void compute::index_reduce_(const Tensor& input, int64_t dim, const Tensor& index,
                            const Tensor& source, const std::string& reduce, bool include_self) {
  FB_CHECK(reduce != "sum", "reduce must be prod, mean, amax or amin, got 'sum'");
  FB_CHECK_INDEX(index.dim() <= 1, "index must be a vector, got shape ", index.sizes());
  const int64_t d = wrap_dim(dim, input.dim());
  check_positions(index, at_least_1d(input).size(d), ErrorKind::kIndex);
  const Tensor positions = spread_index(index, d, source.sizes());
  reduce_into(input, dim, positions, source, reduction_named(reduce), include_self);
}
Tensor compute::index_reduce(const Tensor& input, int64_t dim, const Tensor& index,
                             const Tensor& source, const std::string& reduce, bool include_self) {
  return on_copy(input, [&](const Tensor& out) {
    compute::index_reduce_(out, dim, index, source, reduce, include_self);
  });
}

void compute::index_put_(const Tensor& input, TensorList indices, const Tensor& values,
                         bool accumulate) {
  put_at(input, indices, values, accumulate);
}
Tensor compute::index_put(const Tensor& input, TensorList indices, const Tensor& values,
                          bool accumulate) {
  return on_like(input, [&](const Tensor& out) { put_at(out, indices, values, accumulate); });
}

void compute::masked_fill_(const Tensor& input, const Tensor& mask, const Scalar& value) {
  FB_CHECK(mask.dtype() == DType::kBool, "expected a mask of type bool, got ", mask.dtype());
  check_writable(input);
  check_convertible(value, input.dtype());
  alignas(16) char element[16];
  value.store(input.dtype(), element);
  const Tensor spread_mask = contiguous(compute::expand(mask, input.sizes(), false));
  const Tensor flat = contiguous(input);
  kernel::of(flat).masked_fill(flat, flat, spread_mask, element);
  if (!flat.is_same(input)) copy_into(input, flat);
}
Tensor compute::masked_fill(const Tensor& input, const Tensor& mask, const Scalar& value) {
  FB_CHECK(mask.dtype() == DType::kBool, "expected a mask of type bool, got ", mask.dtype());
  const Tensor source =
      contiguous(compute::expand(input, broadcast_shapes(input.sizes(), mask.sizes()), false));
  check_convertible(value, input.dtype());
  alignas(16) char element[16];
  value.store(input.dtype(), element);
  Tensor out = make_tensor(source.sizes(), input.dtype(), input.device());
  kernel::of(out).masked_fill(out, source, contiguous(compute::expand(mask, source.sizes(), false)),
                              element);
  return out;
}

void compute::masked_fill_(const Tensor& input, const Tensor& mask, const Tensor& value) {
  compute::masked_fill_(input, mask, number_in(value));
}
Tensor compute::masked_fill(const Tensor& input, const Tensor& mask, const Tensor& value) {
  return compute::masked_fill(input, mask, number_in(value));
}

void compute::masked_scatter_(const Tensor& input, const Tensor& mask, const Tensor& source) {
  FB_CHECK(mask.dtype() == DType::kBool, "expected a mask of type bool, got ", mask.dtype());
  FB_CHECK(source.dtype() == input.dtype(), "expected source of the type of input, ", input.dtype(),
           ", got ", source.dtype());
  const Tensor spread_mask = compute::expand(mask, input.sizes(), false);
  const Tensor positions =
      kernel::of(spread_mask).nonzero_columns(contiguous(ops::reshape(spread_mask, {-1})));
  const int64_t count = positions.numel();
  FB_CHECK(source.numel() >= count, "source has ", source.numel(),
           " elements, but the mask selects ", count);
  const Tensor values = ops::narrow(ops::reshape(source, {-1}), 0, 0, count);
  compute::put_(input, ops::reshape(positions, {-1}), values, false);
}
Tensor compute::masked_scatter(const Tensor& input, const Tensor& mask, const Tensor& source) {
  const Tensor spread_input =
      compute::expand(input, broadcast_shapes(input.sizes(), mask.sizes()), false);
  return on_copy(spread_input,
                 [&](const Tensor& out) { compute::masked_scatter_(out, mask, source); });
}

void compute::put_(const Tensor& input, const Tensor& index, const Tensor& source,
                   bool accumulate) {
  check_writable(input);
  FB_CHECK(index.dtype() == DType::kInt64, "expected an index of type int64, got ", index.dtype());
  FB_CHECK(source.dtype() == input.dtype(), "expected source of the type of input, ", input.dtype(),
           ", got ", source.dtype());
  FB_CHECK_INDEX(index.numel() == source.numel(), "index has ", index.numel(),
                 " elements, source has ", source.numel());
  const Tensor flat = contiguous(input);
  const Tensor target = compute::view(flat, {flat.numel()});
  const Tensor positions[] = {ops::reshape(index, {index.numel()})};
  put_at(target, positions, ops::reshape(source, {source.numel()}), accumulate);
  if (!flat.is_same(input)) copy_into(input, flat);
}
Tensor compute::put(const Tensor& input, const Tensor& index, const Tensor& source,
                    bool accumulate) {
  return on_like(input, [&](const Tensor& out) { compute::put_(out, index, source, accumulate); });
}

}  // namespace fb::ops
