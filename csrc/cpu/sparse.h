// Kernels on the rows of tables that a sparse tensor has values for.
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "cpu/isa.h"

namespace fb::cpu {

// One step of Adam on the rows `rows`, each there once, of a parameter and its two averages; the
// gradients of the rows lie one behind the other. All are of one floating type.
struct AdamRows {
  DType dtype;
  const int64_t* rows;
  int64_t count, width;
  const void* gradients;
  void *parameter, *average, *average_of_squares;
};
struct AdamNumbers {
  double beta1, beta2, step_size, eps;
  bool maximize;
};
FB_DECLARE_KERNEL(void, step_adam_rows, const AdamRows& on, const AdamNumbers& numbers)

}  // namespace fb::cpu
