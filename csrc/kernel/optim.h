// Steps of optimisers: one pass through parameters, gradients and state.
#pragma once

#include <cstdint>
#include <span>

#include "core/dtype.h"
#include "kernel/slot.h"

namespace fb::kernel {

inline constexpr int kOptimStates = 3;

// Steps with more elements than this may release the interpreter's lock: the caller holds the
// memory.
inline constexpr int64_t kSmallStep = 32768;

// The elements of a parameter, of its gradient and of its state, one contiguous block each.
struct OptimTensor {
  void* param;
  const void* grad;
  void* state[kOptimStates];  // null if the options need none
  int64_t n;
  DType dtype;
  const void* numbers;  // host memory: the kernel's struct below
};

// The numbers of a step for one parameter, from the options of its group and the step count.
// `maximize` negates gradients, `weight_decay` adds a multiple of the parameter to them.

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
struct AverageNumbers {
  double weight;  // of what is added
};

// --- Adafactor

// `count` contiguous matrices, or one vector: count and rows are 1 then, and `row_var` is null.
// Elements are float or double.
struct AdafactorTensor {
  void* param;
  const void* grad;
  void* row_var;  // the running mean squares of the rows of the gradient
  void* col_var;  // of its columns; of the elements of a vector
  int64_t count, rows, cols;
  DType dtype;
};

struct AdafactorNumbers {
  double weight;      // of this gradient in the running means
  double relative;    // the length of the step, relative to that of the parameter
  double eps1, eps2;  // the least root of a second moment, the least size of a parameter
  double d;           // the greatest root mean square of an update
  double shrink;      // what weight decay leaves of the parameter
  bool maximize;
};

// --- rows that a sparse gradient has values for

// A step of an optimiser on the distinct rows `rows` of a parameter and of its states; the
// gradients of the rows are contiguous. All have the same floating type.
struct StepRows {
  DType dtype;
  const int64_t* rows;
  int64_t count, width;
  const void* gradients;
  void* parameter;
  void* states[2];
};
struct AdamRowNumbers {
  double beta1, beta2, step_size, eps;
  bool maximize;
};
struct AdagradRowNumbers {
  double rate, eps;
  bool maximize;
};

struct Optim {
  Slot<void(std::span<const OptimTensor> tensors)> optim_sgd;
  Slot<void(std::span<const OptimTensor> tensors)> optim_adam;
  Slot<void(std::span<const OptimTensor> tensors)> optim_adamax;
  Slot<void(std::span<const OptimTensor> tensors)> optim_nadam;
  Slot<void(std::span<const OptimTensor> tensors)> optim_radam;
  Slot<void(std::span<const OptimTensor> tensors)> optim_rmsprop;
  Slot<void(std::span<const OptimTensor> tensors)> optim_adagrad;
  Slot<void(std::span<const OptimTensor> tensors)> optim_adadelta;
  Slot<void(std::span<const OptimTensor> tensors)> optim_rprop;
  Slot<void(std::span<const OptimTensor> tensors)> optim_asgd;
  // Moves every `param` a fraction of the way to `grad`, as lerp does.
  Slot<void(std::span<const OptimTensor> tensors)> optim_average;

  Slot<void(const AdafactorTensor& tensor, const AdafactorNumbers& numbers)> adafactor_step;

  // The states are the averages of gradients and of their squares.
  Slot<void(const StepRows& on, const AdamRowNumbers& numbers)> step_adam_rows;
  // The state is the sum of squares.
  Slot<void(const StepRows& on, const AdagradRowNumbers& numbers)> step_adagrad_rows;

  // Multiplies `n` elements, float32 or float64, by a factor; `found_inf` becomes 1 if some were
  // not finite. Both numbers are in the device's memory, so that the host does not wait.
  Slot<void(void* data, int64_t n, DType dtype, const float* factor, float* found_inf)> unscale;
};

}  // namespace fb::kernel
