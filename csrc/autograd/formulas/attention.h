// What the derivatives of attention are made of.
#pragma once

#include <array>

#include "ops/types.h"

namespace fb::autograd::formula {

// The gradients of query, key and value: the fused kernel's, or where they are to be differentiated
// again a composition.
std::array<Tensor, 3> attention_gradients(const Tensor& grad, const Tensor& query,
                                          const Tensor& key, const Tensor& value,
                                          const Tensor& attn_mask, const Tensor& output,
                                          const Tensor& logsumexp, bool is_causal, double scale,
                                          const std::array<bool, 3>& needed);

}  // namespace fb::autograd::formula
