// Steps of optimisers.
#pragma once

#include "cuda/slots.h"
#include "kernel/optim.h"

namespace fb::cuda {

FB_DECLARE_CUDA(kernel::Optim, optim_sgd)
FB_DECLARE_CUDA(kernel::Optim, optim_adam)

}  // namespace fb::cuda
