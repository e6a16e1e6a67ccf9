// Scaled dot product attention, head by head, without the matrix of all weights.
#pragma once

#include "cpu/isa.h"
#include "kernel/attention.h"

namespace fb::cpu {

using kernel::AttentionCall;
using kernel::AttentionGradients;
using kernel::HeadMatrices;

FB_DECLARE_LEVELS(kernel::Attention, attention_supports)
FB_DECLARE_LEVELS(kernel::Attention, attention)
FB_DECLARE_LEVELS(kernel::Attention, attention_backward)

}  // namespace fb::cpu
