// Steps of optimisers: one pass through parameters, gradients and state.
#pragma once

#include <cstdint>
#include <span>

#include "core/dtype.h"
#include "kernel/slot.h"
#include "scalar/optim_numbers.h"

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

// Their numbers, from the options of a group and the step count, are in scalar/optim_numbers.h.

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

  // Multiplies every `param`, float32 or float64, by a factor; `found_inf` becomes 1 if some
  // elements were not finite. Both numbers are in the device's memory, so that the host does not
  // wait.
  Slot<void(std::span<const OptimTensor> tensors, const float* factor, float* found_inf)> unscale;
  // out = the 2-norm of all elements of every `param`, float64. Only on cuda.
  Slot<void(std::span<const OptimTensor> tensors, double* out)> norm_of_all;
  // Multiplies every `param` by a factor in the device's memory, rounded to the type that is
  // computed in. Only on cuda.
  Slot<void(std::span<const OptimTensor> tensors, const double* factor)> scale_all;
  // The scale of a GradScaler and its count of good steps, all in the device's memory.
  Slot<void(float* scale, int32_t* steps, const float* found_inf, const ScaleNumbers& numbers)>
      update_scale;
};

}  // namespace fb::kernel
