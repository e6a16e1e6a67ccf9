// Kernels on the rows of tables that a sparse tensor has values for.
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "cpu/isa.h"

namespace fb::cpu {

// A step of an optimiser on the rows `rows`, each there once, of a parameter and of what is kept
// beside it; the gradients of the rows lie one behind the other. All are of one floating type.
struct StepRows {
  DType dtype;
  const int64_t* rows;
  int64_t count, width;
  const void* gradients;
  void* parameter;
  void* states[2];
};

struct AdamNumbers {
  double beta1, beta2, step_size, eps;
  bool maximize;
};
// The states are the averages of gradients and of their squares.
FB_DECLARE_KERNEL(void, step_adam_rows, const StepRows& on, const AdamNumbers& numbers)

struct AdagradNumbers {
  double rate, eps;
  bool maximize;
};
// The state is the sum of squares.
FB_DECLARE_KERNEL(void, step_adagrad_rows, const StepRows& on, const AdagradNumbers& numbers)

}  // namespace fb::cpu
