// Connectionist temporal classification.
#pragma once

#include "cpu/isa.h"
#include "kernel/ctc.h"

namespace fb::cpu {

using kernel::CtcCall;

FB_DECLARE_LEVELS(kernel::Ctc, ctc_forward)
FB_DECLARE_LEVELS(kernel::Ctc, ctc_backward)
// Checks the labels first.
FB_DECLARE_SLOT(kernel::Ctc, ctc_forward)

}  // namespace fb::cpu
