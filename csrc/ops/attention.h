// Attention as a composition of operators: for dropout, learned masks and second derivatives.
#pragma once

#include "ops/types.h"

namespace fb::ops {

// softmax(scale query key^T + mask) over the keys; 0 where all keys are masked.
Tensor attention_weights(const Tensor& query, const Tensor& key, const Tensor& attn_mask,
                         bool is_causal, double scale);

// Drops every weight with probability p and scales up the others; draws as PyTorch's dropout does.
Tensor attention_dropout(const Tensor& weights, double p);

}  // namespace fb::ops
