// Softmax, log-softmax and log-sum-exp along one dimension.
#pragma once

#include "cpu/isa.h"
#include "kernel/softmax.h"

namespace fb::cpu {

using kernel::SoftmaxOp;

FB_DECLARE_LEVELS(kernel::Softmax, softmax)
FB_DECLARE_LEVELS(kernel::Softmax, softmax_backward)

}  // namespace fb::cpu
