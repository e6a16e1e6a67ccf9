// Steps of optimisers.
#pragma once

#include "cuda/slots.h"
#include "kernel/optim.h"

namespace fb::cuda {

FB_DECLARE_CUDA(kernel::Optim, optim_sgd)
FB_DECLARE_CUDA(kernel::Optim, optim_adam)
FB_DECLARE_CUDA(kernel::Optim, optim_adamax)
FB_DECLARE_CUDA(kernel::Optim, optim_nadam)
FB_DECLARE_CUDA(kernel::Optim, optim_radam)
FB_DECLARE_CUDA(kernel::Optim, optim_rmsprop)
FB_DECLARE_CUDA(kernel::Optim, optim_adagrad)
FB_DECLARE_CUDA(kernel::Optim, optim_adadelta)
FB_DECLARE_CUDA(kernel::Optim, optim_rprop)
FB_DECLARE_CUDA(kernel::Optim, optim_asgd)
FB_DECLARE_CUDA(kernel::Optim, optim_average)
FB_DECLARE_CUDA(kernel::Optim, adafactor_step)
FB_DECLARE_CUDA(kernel::Optim, step_adam_rows)
FB_DECLARE_CUDA(kernel::Optim, step_adagrad_rows)
FB_DECLARE_CUDA(kernel::Optim, unscale)
FB_DECLARE_CUDA(kernel::Optim, norm_of_all)
FB_DECLARE_CUDA(kernel::Optim, scale_all)
FB_DECLARE_CUDA(kernel::Optim, update_scale)

}  // namespace fb::cuda
