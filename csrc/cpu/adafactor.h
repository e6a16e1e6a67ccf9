// The step of Adafactor with one parameter.
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "cpu/isa.h"

namespace fb::cpu {

// `count` matrices that lie one behind the other, or one vector: count and rows are 1 then, and
// `row_var` is null. Elements are float or double.
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

FB_DECLARE_KERNEL(void, adafactor_step, const AdafactorTensor& tensor,
                  const AdafactorNumbers& numbers)

}  // namespace fb::cpu
