// Connectionist temporal classification.
#pragma once

#include "cuda/slots.h"
#include "kernel/ctc.h"

namespace fb::cuda {

FB_DECLARE_CUDA(kernel::Ctc, ctc_forward)
FB_DECLARE_CUDA(kernel::Ctc, ctc_backward)

}  // namespace fb::cuda
