#include "autograd/formulas/attention.h"

#include "autograd/formula.h"
#include "gen/ops/attention.h"
#include "gen/ops/matmul.h"
#include "gen/ops/softmax.h"
#include "gen/ops/view.h"
#include "ops/attention.h"

namespace fb::autograd::formula {

using namespace ops;

std::array<Tensor, 3> attention_gradients(const Tensor& grad, const Tensor& query,
                                          const Tensor& key, const Tensor& value,
                                          const Tensor& attn_mask, const Tensor& output,
                                          const Tensor& logsumexp, bool is_causal, double scale,
                                          const std::array<bool, 3>& needed) {
  if (!is_differentiated(grad, query, key, value, attn_mask)) {
    const auto [q, k, v] = ops::attention_backward(grad, query, key, value, attn_mask, output,
                                                   logsumexp, is_causal, scale);
    return {q, k, v};
  }
  const Tensor weights = attention_weights(query, key, attn_mask, is_causal, scale);
  const Tensor slopes =
      ops::softmax_backward(ops::matmul(grad, ops::transpose(value, -2, -1)), weights, -1) * scale;
  std::array<Tensor, 3> result;
  if (needed[0]) result[0] = ops::matmul(slopes, key);
  if (needed[1]) result[1] = ops::matmul(ops::transpose(slopes, -2, -1), query);
  if (needed[2]) result[2] = ops::matmul(ops::transpose(weights, -2, -1), grad);
  return result;
}

}  // namespace fb::autograd::formula
