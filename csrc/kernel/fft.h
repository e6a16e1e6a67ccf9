// Fourier transforms along one dimension of many rows.
#pragma once

#include "core/dims.h"
#include "core/dtype.h"
#include "kernel/slot.h"

namespace fb::kernel {

// Between complex numbers; from real points to half of their spectrum, 0 ... size / 2; and back
// from such a half, whose other half is its mirror image.
enum class FftKind : uint8_t { kComplex, kFromReal, kToReal };

struct FftPlan {
  FftKind kind;
  // The sign of the exponent. From real numbers it is forward, to them backward.
  bool backward;
  // kFromReal writes all `size` frequencies, not only the first half.
  bool mirrored;
  DType real_dtype;  // float32 or float64
  int64_t size;      // points of each transform
  double scale;      // of the result
  // Strides are in elements, complex or real ones. Complex rows may be transformed in place.
  const void* in;
  void* out;
  int64_t in_stride, out_stride;
  // The other dimensions: there is one row for each of their positions.
  Dims batch, in_batch_strides, out_batch_strides;
};

struct Fft {
  Slot<void(const FftPlan& plan)> fft;
};

}  // namespace fb::kernel
