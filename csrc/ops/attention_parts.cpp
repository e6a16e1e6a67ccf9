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
  Tensor scores = mul(matmul(query, transpose(key, -2, -1)), scale);
  if (is_causal) {
    const Tensor pairs = ones(Dims{query.size(-2), key.size(-2)}, DType::kBool, query.device());
    scores = masked_fill(scores, triu(pairs, 1), -kInfinity);
  }
  if (attn_mask && attn_mask.dtype() == DType::kBool)
    scores = masked_fill(scores, logical_not(attn_mask), -kInfinity);
  else if (attn_mask)
    scores = add(scores, type_as(attn_mask, scores));
  if (!attn_mask) return softmax(scores, -1);
  // A line of -inf would become NaN, and so would its gradient: it goes around the softmax.
  const Tensor hidden = all(eq(scores, -kInfinity), Dims{-1}, true);
  return masked_fill(softmax(masked_fill(scores, hidden, 0), -1), hidden, 0);
}

Tensor attention_dropout(const Tensor& weights, double p) {
  if (p == 0) return weights;
  if (p == 1) return mul(weights, 0);
  const Tensor kept = empty_like(weights);
  bernoulli_(kept, 1 - p);
  return mul(weights, div(kept, 1 - p));
}

}  // namespace fb::ops
