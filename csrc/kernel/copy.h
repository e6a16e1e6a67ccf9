// Copies, conversions, concatenation and triangles.
#pragma once

#include "core/tensor.h"
#include "kernel/slot.h"

namespace fb::kernel {

// Bare memory with strides in bytes; those of a source may be negative.
struct StridedTarget {
  DType dtype;
  char* data;
  Dims strides;
};
struct StridedSource {
  DType dtype;
  const char* data;
  Dims strides;
};

struct Copy {
  // out[...] = in[...], converting; the shapes are equal. Either may be in the host's memory: see
  // kernel::copy.
  Slot<void(const Tensor& out, const Tensor& in)> copy;
  // Copies bytes of the device into the host's memory.
  Slot<void(const void* in, size_t bytes, void* out)> to_host;
  Slot<void(IntSpan shape, const StridedTarget& out, const StridedSource& in)> copy_strided;
  // Sets every element, whatever the strides.
  Slot<void(const Tensor& out, const Scalar& value)> fill;
  // Tensors of the type of `out`, which is contiguous, one after another along `dim`.
  Slot<void(const Tensor& out, TensorList tensors, int64_t dim)> concatenate;
  // out = in with the given dimensions in reverse order; the shapes are equal.
  Slot<void(const Tensor& out, const Tensor& in, IntSpan dims)> flip;
  // Sets the elements above (lower) or below the given diagonal of matrices to zero. `t` is
  // contiguous.
  Slot<void(const Tensor& t, int64_t diagonal, bool lower)> clear_triangle;
};

}  // namespace fb::kernel
