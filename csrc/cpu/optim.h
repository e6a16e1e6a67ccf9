// Steps of optimisers: one pass through parameters, gradients and state.
#pragma once

#include <cstdint>
#include <span>

#include "core/dtype.h"
#include "cpu/isa.h"

namespace fb::cpu {

inline constexpr int kOptimStates = 3;

// The elements of a parameter, of its gradient and of its state, one stretch of memory each.
struct OptimTensor {
  void* param;
  const void* grad;
  void* state[kOptimStates];  // null where the options ask for none
  int64_t n;
  DType dtype;
  const void* numbers;  // the struct below that goes with the kernel
};

// What the options of a group and the number of steps come to for one parameter. `maximize` turns
// gradients round, `weight_decay` adds a share of the parameter to them.

struct SgdNumbers {  // state: momentum_buffer
  bool maximize, nesterov;
  bool first;  // the buffer begins as the gradient
  double weight_decay, momentum, dampened, lr;
};
struct AdamNumbers {  // state: exp_avg, exp_avg_sq, max_exp_avg_sq
  bool maximize;
  double weight_decay, shrink;  // shrink: what decoupled weight decay leaves of the parameter
  double beta1, beta2, eps, step_size, correction;
};
struct AdamaxNumbers {  // state: exp_avg, exp_inf
  bool maximize;
  double weight_decay, beta1, beta2, eps, step_size;
};
struct NAdamNumbers {  // state: exp_avg, exp_avg_sq
  bool maximize;
  double weight_decay, shrink;
  double beta1, beta2, eps, correction, grad_rate, average_rate;
};
struct RAdamNumbers {  // state: exp_avg, exp_avg_sq
  bool maximize, rectified;
  double weight_decay, shrink;
  double beta1, beta2, eps, lr, correction1, correction2, rectification;
};
struct RmspropNumbers {  // state: square_avg, grad_avg, momentum_buffer
  bool maximize;
  double weight_decay, alpha, eps, momentum, lr;
};
struct AdagradNumbers {  // state: sum
  bool maximize;
  double weight_decay, eps, lr;
};
struct AdadeltaNumbers {  // state: square_avg, acc_delta
  bool maximize;
  double weight_decay, rho, eps, lr;
};
struct RpropNumbers {  // state: prev, step_size
  bool maximize;
  double shrink, grow, least, most;
};
struct AsgdNumbers {  // state: ax
  bool maximize;
  double weight_decay, shrink, eta, mu;
};

FB_DECLARE_KERNEL(void, optim_sgd, std::span<const OptimTensor> tensors)
FB_DECLARE_KERNEL(void, optim_adam, std::span<const OptimTensor> tensors)
FB_DECLARE_KERNEL(void, optim_adamax, std::span<const OptimTensor> tensors)
FB_DECLARE_KERNEL(void, optim_nadam, std::span<const OptimTensor> tensors)
FB_DECLARE_KERNEL(void, optim_radam, std::span<const OptimTensor> tensors)
FB_DECLARE_KERNEL(void, optim_rmsprop, std::span<const OptimTensor> tensors)
FB_DECLARE_KERNEL(void, optim_adagrad, std::span<const OptimTensor> tensors)
FB_DECLARE_KERNEL(void, optim_adadelta, std::span<const OptimTensor> tensors)
FB_DECLARE_KERNEL(void, optim_rprop, std::span<const OptimTensor> tensors)
FB_DECLARE_KERNEL(void, optim_asgd, std::span<const OptimTensor> tensors)

}  // namespace fb::cpu
