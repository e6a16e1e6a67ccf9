// The gradients of picking and placing elements.
#include "autograd/formulas/index.h"

#include "autograd/formula.h"
#include "gen/ops/copy.h"
#include "gen/ops/create.h"
#include "gen/ops/index.h"
#include "gen/ops/padding.h"
#include "gen/ops/reduce.h"
#include "gen/ops/unique.h"
#include "gen/ops/view.h"

namespace fb::autograd::formula {
namespace {

// Zeros after the elements in every dimension, up to `shape`.
Tensor padded_to(const Tensor& t, IntSpan shape) {
  if (t.sizes() == shape) return t;
  if (t.numel() == numel_of(shape)) return ops::reshape(t, shape);
  Dims pad;
  for (int64_t d = t.dim() - 1; d >= 0; --d) {
    pad.push_back(0);
    pad.push_back(shape[d] - t.sizes()[d]);
  }
  return ops::constant_pad_nd(t, pad);
}

// The part of a source that an index of this shape uses.
Tensor used_part(const Tensor& src, IntSpan shape) {
  Tensor part = src;
  for (int64_t d = 0; d < ndim_of(shape) && d < src.dim(); ++d)
    if (shape[d] < part.sizes()[d]) part = ops::narrow(part, d, 0, shape[d]);
  return part;
}

}  // namespace

Tensor gather_part(const Tensor& grad, int64_t dim, const Tensor& index, IntSpan shape) {
  return padded_to(ops::gather(grad, dim, index), shape);
}

Tensor picked_parts(const Tensor& grad, int64_t dim, const Tensor& index, IntSpan shape) {
  const Tensor parts = ops::index_select(grad, dim, index);
  return parts.sizes() == shape ? parts : ops::reshape(parts, shape);
}

Tensor filled_positions(const Tensor& grad, int64_t dim, const Tensor& index) {
  const Tensor positions = std::get<0>(ops::_unique(ops::reshape(index, {-1}), false, {}));
  return ops::sum_all(ops::index_select(grad, dim, positions));
}

Tensor without_positions(const Tensor& grad, TensorList indices) {
  return ops::index_put(grad, indices, ops::new_zeros(grad, {}));
}

Tensor without_elements(const Tensor& grad, const Tensor& index) {
  return ops::put(grad, index, ops::new_zeros(grad, index.sizes()));
}

Tensor put_values_backward(const Tensor& grad, TensorList indices, IntSpan shape) {
  const Tensor stored = ops::index(grad, indices);
  Dims sizes = stored.sizes().vec();
  while (sizes.size() < shape.size()) sizes.insert(0, 1);
  return ops::reshape(stored, sizes);
}

namespace {

// masked_select, also of a batch with one mask for all samples, where the count is known.
Tensor selected(const Tensor& t, const Tensor& mask) {
  if (!(t->flags & kBatched) || mask->flags & kBatched) return ops::masked_select(t, mask);
  const Dims flat{-1};
  const Tensor positions = ops::nonzero(ops::reshape(ops::expand(mask, t.sizes()), flat));
  return ops::index_select(ops::reshape(t, flat), 0, ops::reshape(positions, flat));
}

}  // namespace

Tensor masked_source_backward(const Tensor& grad, const Tensor& mask, IntSpan shape) {
  const Tensor used = selected(grad, mask);
  return ops::reshape(padded_to(used, {numel_of(shape)}), shape);
}

namespace {

// A scatter_reduce whose gradient is wanted, and what its shares are computed from.
struct Meeting {
  const Tensor& input;
  int64_t dim;
  const Tensor& index;
  Tensor src;
  bool include_self;
  const Tensor& result;

  Tensor combined(const Tensor& of_input, const Tensor& of_src, const char* how) const {
    return ops::scatter_reduce(of_input, dim, index, of_src, how, include_self);
  }
  Tensor at_index(const Tensor& t) const { return ops::gather(t, dim, index); }
};

Tensor without_zeros(const Tensor& t) { return ops::masked_fill(t, ops::eq(t, 0), 1); }

// The product of all elements at a position but `factor`, from the product of the nonzero ones and
// the number of zeros.
Tensor product_without(const Tensor& factor, const Tensor& product, const Tensor& zeros) {
  const Tensor of_zero = product * ops::eq(zeros, 1);
  const Tensor of_other = product / without_zeros(factor) * ops::eq(zeros, 0);
  return ops::where(ops::eq(factor, 0), of_zero, of_other);
}

// The derivatives of the result to input and to src, to be multiplied with the gradient.
struct Shares {
  Tensor input;
  Tensor src;
};

Shares shares_of_product(const Meeting& m) {
  const Tensor product = m.combined(without_zeros(m.input), without_zeros(m.src), "prod");
  const Tensor zeros = m.combined(ops::type_as(ops::eq(m.input, 0), m.input),
                                  ops::type_as(ops::eq(m.src, 0), m.src), "sum");
  return {conj(product_without(m.input, product, zeros)),
          conj(product_without(m.src, m.at_index(product), m.at_index(zeros)))};
}

Shares shares_of_mean(const Meeting& m) {
  const Tensor share =
      ops::reciprocal(m.combined(ops::ones_like(m.input), ops::ones_like(m.src), "sum"));
  return {share, m.at_index(share)};
}

Shares shares_of_extremum(const Meeting& m) {
  const Tensor input_chosen = ops::type_as(ops::eq(m.input, m.result), m.input);
  const Tensor src_chosen = ops::type_as(ops::eq(m.src, m.at_index(m.result)), m.src);
  const Tensor share = ops::reciprocal(m.combined(input_chosen, src_chosen, "sum"));
  return {input_chosen * share, src_chosen * m.at_index(share)};
}

Shares shares_of(const Meeting& m, const std::string& reduce) {
  if (reduce == "prod") return shares_of_product(m);
  return reduce == "mean" ? shares_of_mean(m) : shares_of_extremum(m);
}

}  // namespace

Tensor reduced_input_backward(const Tensor& grad, const Tensor& input, int64_t dim,
                              const Tensor& index, const Tensor& src, const std::string& reduce,
                              bool include_self, const Tensor& result) {
  const Meeting meeting{input, dim, index, used_part(src, index.sizes()), include_self, result};
  const Tensor g = reduce == "sum" ? grad : grad * shares_of(meeting, reduce).input;
  return include_self ? g : ops::scatter(g, dim, index, Scalar(0));
}

Tensor reduced_src_backward(const Tensor& grad, const Tensor& input, int64_t dim,
                            const Tensor& index, const Tensor& src, const std::string& reduce,
                            bool include_self, const Tensor& result) {
  const Tensor g = ops::gather(grad, dim, index);
  if (reduce == "sum") return padded_to(g, src.sizes());
  const Meeting meeting{input, dim, index, used_part(src, index.sizes()), include_self, result};
  return padded_to(g * shares_of(meeting, reduce).src, src.sizes());
}

}  // namespace fb::autograd::formula
