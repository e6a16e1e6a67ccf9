// Steps of optimisers: one pass through parameters, gradients and state.
#pragma once

#include "cpu/isa.h"
#include "kernel/optim.h"

namespace fb::cpu {

using kernel::AdadeltaNumbers;
using kernel::AdafactorNumbers;
using kernel::AdafactorTensor;
using kernel::AdagradNumbers;
using kernel::AdagradRowNumbers;
using kernel::AdamaxNumbers;
using kernel::AdamNumbers;
using kernel::AdamRowNumbers;
using kernel::AsgdNumbers;
using kernel::AverageNumbers;
using kernel::kOptimStates;
using kernel::NAdamNumbers;
using kernel::OptimTensor;
using kernel::RAdamNumbers;
using kernel::RmspropNumbers;
using kernel::RpropNumbers;
using kernel::ScaleNumbers;
using kernel::SgdNumbers;
using kernel::StepRows;

FB_DECLARE_LEVELS(kernel::Optim, optim_sgd)
FB_DECLARE_LEVELS(kernel::Optim, optim_adam)
FB_DECLARE_LEVELS(kernel::Optim, optim_adamax)
FB_DECLARE_LEVELS(kernel::Optim, optim_nadam)
FB_DECLARE_LEVELS(kernel::Optim, optim_radam)
FB_DECLARE_LEVELS(kernel::Optim, optim_rmsprop)
FB_DECLARE_LEVELS(kernel::Optim, optim_adagrad)
FB_DECLARE_LEVELS(kernel::Optim, optim_adadelta)
FB_DECLARE_LEVELS(kernel::Optim, optim_rprop)
FB_DECLARE_LEVELS(kernel::Optim, optim_asgd)
FB_DECLARE_LEVELS(kernel::Optim, optim_average)
FB_DECLARE_LEVELS(kernel::Optim, adafactor_step)
FB_DECLARE_LEVELS(kernel::Optim, step_adam_rows)
FB_DECLARE_LEVELS(kernel::Optim, step_adagrad_rows)
FB_DECLARE_LEVELS(kernel::Optim, unscale)
FB_DECLARE_LEVELS(kernel::Optim, update_scale)

}  // namespace fb::cpu
