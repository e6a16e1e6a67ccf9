// Linear maps of batches: one map for all samples is a larger product, many maps are a batch of
// products.
#include "autograd/batch_rules.h"
#include "gen/ops/arith.h"
#include "gen/ops/linear.h"
#include "gen/ops/matmul.h"
#include "gen/ops/view.h"

namespace fb::autograd::batch_rule {
namespace {

Tensor as_rows(const Tensor& t) {
  const int64_t columns = t.size(-1);
  return ops::reshape(t, {numel_of(t.sizes().first(t.sizes().size() - 1)), columns});
}

}  // namespace

Tensor _linear_product(const Batch& b, const Tensor& input, const Tensor& weight) {
  if (!b.is_batched(weight)) return b.wrap(ops::_linear_product(b.all(input), weight));
  return ops::matmul(input, ops::t(weight));
}

Tensor _linear(const Batch& b, const Tensor& bias, const Tensor& input, const Tensor& weight) {
  if (!b.is_batched(weight) && !b.is_batched(bias))
    return b.wrap(ops::_linear(bias, b.all(input), weight));
  return ops::add(ops::_linear_product(input, weight), bias);
}

Tensor _linear_rows(const Batch& b, const Tensor& input, const Tensor& weight) {
  if (!b.is_batched(weight)) return b.wrap(ops::_linear_rows(b.all(input), weight));
  return ops::matmul(input, weight);
}

Tensor _linear_outer(const Batch&, const Tensor& left, const Tensor& right) {
  return ops::mm(ops::t(as_rows(left)), as_rows(right));
}

}  // namespace fb::autograd::batch_rule
