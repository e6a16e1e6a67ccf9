// Normalisation: elements minus the mean of the set they belong to, divided by its deviation, times
// a weight, plus a bias. All numbers beside the elements are of the type computed with: double for
// float64, else float.
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "cpu/isa.h"

namespace fb::cpu {

// Images whose elements are normalised with those of their channel.
struct ImageNorm {
  int64_t batch, channels;
  int64_t plane;       // elements of one channel of one sample
  bool channels_last;  // (batch, plane, channels) in memory, else (batch, channels, plane)
  int64_t groups;      // a set is a group of channels of one sample; 0: one channel of all samples

  int64_t sets() const { return groups ? batch * groups : channels; }
  int64_t set_size() const { return groups ? channels / groups * plane : batch * plane; }
};

struct NormForward {
  const void* weight;  // by channel, as the bias
  const void* bias;
  void* mean;  // by set, as rstd, 1 / sqrt(variance + eps)
  void* rstd;
  double* variance;  // by set; null where mean and rstd are given
  double eps;
};

struct NormBackward {
  const void* weight;
  const void* mean;
  const void* rstd;
  bool given;         // mean and rstd did not come from the elements
  void* weight_grad;  // by channel, as the bias's
  void* bias_grad;
};

FB_DECLARE_KERNEL(void, norm_planar, DType dtype, const ImageNorm& shape, const void* x, void* y,
                  const NormForward& numbers)
FB_DECLARE_KERNEL(void, norm_planar_backward, DType dtype, const ImageNorm& shape,
                  const void* gradient, const void* x, void* out, const NormBackward& numbers)
FB_DECLARE_KERNEL(void, norm_interleaved, DType dtype, const ImageNorm& shape, const void* x,
                  void* y, const NormForward& numbers)
FB_DECLARE_KERNEL(void, norm_interleaved_backward, DType dtype, const ImageNorm& shape,
                  const void* gradient, const void* x, void* out, const NormBackward& numbers)

// Contiguous rows of n elements, each a set; weight and bias are by element of a row.
struct RowNorm {
  int64_t rows, n;
  bool centred;  // false: the mean is taken for 0, as RMS norm does, and `mean` is not touched
};

FB_DECLARE_KERNEL(void, norm_rows, DType dtype, const RowNorm& shape, const void* x, void* y,
                  const NormForward& numbers)
FB_DECLARE_KERNEL(void, norm_rows_backward, DType dtype, const RowNorm& shape, const void* gradient,
                  const void* x, void* out, const NormBackward& numbers)

}  // namespace fb::cpu
