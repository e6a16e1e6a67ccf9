// Margins between the scores of classes, sample by sample.
#pragma once

#include "cpu/isa.h"
#include "kernel/loss_margin.h"

namespace fb::cpu {

using kernel::MarginCall;

FB_DECLARE_LEVELS(kernel::LossMargin, margin_losses)
FB_DECLARE_LEVELS(kernel::LossMargin, margin_gradient)
// Checks the targets first.
FB_DECLARE_SLOT(kernel::LossMargin, margin_losses)

}  // namespace fb::cpu
