// Attention as a composition of operators.
#include "gen/ops/arith.h"
#include "gen/ops/compare.h"
#include "gen/ops/copy.h"
#include "gen/ops/create.h"
#include "gen/ops/index.h"
#include "gen/ops/matmul.h"
#include "gen/ops/random.h"
#include "gen/ops/reduce.h"
#include "gen/ops/shape.h"
#include "gen/ops/softmax.h"
#include "gen/ops/view.h"
#include "ops/attention.h"

namespace fb::ops {

Tensor attention_weights(const Tensor& query, const Tensor& key, const Tensor& attn_mask,
                         bool is_causal, double scale) {
  Tensor scores = ops::mul(ops::matmul(query, ops::transpose(key, -2, -1)), scale);
  if (is_causal) {
    const Tensor pairs =
        ops::ones(Dims{query.size(-2), key.size(-2)}, DType::kBool, query.device());
    scores = ops::masked_fill(scores, ops::triu(pairs, 1), -kInfinity);
  }
  if (attn_mask && attn_mask.dtype() == DType::kBool)
    scores = ops::masked_fill(scores, ops::logical_not(attn_mask), -kInfinity);
  else if (attn_mask)
    scores = ops::add(scores, ops::type_as(attn_mask, scores));
  if (!attn_mask) return ops::softmax(scores, -1);
  // Softmax would turn a row of -inf and its gradient into NaN: such rows bypass it.
  const Tensor hidden = ops::all(ops::eq(scores, -kInfinity), Dims{-1}, true);
  return ops::masked_fill(ops::softmax(ops::masked_fill(scores, hidden, 0), -1), hidden, 0);
}

Tensor attention_dropout(const Tensor& weights, double p) {
  if (p == 0) return weights;
  if (p == 1) return ops::mul(weights, 0);
  const Tensor kept = ops::empty_like(weights);
  ops::bernoulli_(kept, 1 - p);
  return ops::mul(weights, ops::div(kept, 1 - p));
}

}  // namespace fb::ops
