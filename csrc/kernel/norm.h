// Normalisation: elements minus the mean of the set they belong to, divided by its deviation, times
// a weight, plus a bias. All numbers besides the elements have the type that is computed in: double
// for float64, else float.
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "kernel/slot.h"

namespace fb::kernel {

// Images whose elements are normalised with those of their channel.
struct ImageNorm {
  int64_t batch, channels;
  int64_t plane;       // elements of one channel of one sample
  bool channels_last;  // (batch, plane, channels) in memory, else (batch, channels, plane)
  int64_t groups;      // a set is a group of channels of one sample; 0: one channel of all samples

  int64_t sets() const { return groups ? batch * groups : channels; }
  int64_t set_size() const { return groups ? channels / groups * plane : batch * plane; }
};

// Contiguous rows of n elements, each a set; weight and bias are by element of a row.
struct RowNorm {
  int64_t rows, n;
  bool centred;  // false: the mean counts as 0, as in RMS norm, and `mean` is not touched
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

// A running statistic of each channel, and its current values: numbers (samples, channels), which
// are averaged over the samples.
struct RunningStatistic {
  double* running;
  const double* now;
  int64_t samples, channels;
  double momentum;
  // The number of elements of each variance, to make it unbiased; 0 for other statistics.
  double size;
};

struct Norm {
  Slot<void(DType dtype, const ImageNorm& shape, const void* x, void* y,
            const NormForward& numbers)>
      norm_planar;
  Slot<void(DType dtype, const ImageNorm& shape, const void* gradient, const void* x, void* out,
            const NormBackward& numbers)>
      norm_planar_backward;
  // The same with the channels last.
  Slot<void(DType dtype, const ImageNorm& shape, const void* x, void* y,
            const NormForward& numbers)>
      norm_interleaved;
  Slot<void(DType dtype, const ImageNorm& shape, const void* gradient, const void* x, void* out,
            const NormBackward& numbers)>
      norm_interleaved_backward;
  Slot<void(DType dtype, const RowNorm& shape, const void* x, void* y, const NormForward& numbers)>
      norm_rows;
  Slot<void(DType dtype, const RowNorm& shape, const void* gradient, const void* x, void* out,
            const NormBackward& numbers)>
      norm_rows_backward;
  // Turns n variances into 1 / sqrt(variance + eps), in double whatever their type.
  Slot<void(DType dtype, double eps, int64_t n, void* numbers)> norm_deviations;
  // running[c] += momentum * (now[c] - running[c]).
  Slot<void(const RunningStatistic& statistic)> norm_running;
};

}  // namespace fb::kernel
