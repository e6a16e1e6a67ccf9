// What the kernels of csrc/cuda/norm.cpp are given.
#pragma once

namespace fb::device {

// Of a kernel on images: all of a set, or only its first or its second pass over the elements.
enum class NormPass : int { kWhole, kCollect, kApply };

// Arrays are as in kernel/norm.h. Lengths and steps of elements are in packs, the neighbours that a
// thread reads at once.
struct NormArguments {
  const void* x;
  const void* gradient;  // of the backward, whose result is `out`
  void* out;
  const void* weight;
  const void* bias;
  void* mean;
  void* rstd;
  double* variance;
  void* weight_grad;
  void* bias_grad;
  double eps;
  // Moments or sums of units: all of a set, or one channel of it. Those of `unit` in `segment` are
  // at unit * unit_step + segment * segment_step.
  void* partial;
  long long unit_step, segment_step, segments;
  void* slopes;  // two numbers for each set, see finish_sums
  long long sets, set_size, units_per_set, units;
  long long channels, groups;  // groups as in ImageNorm
  long long segment_length;
  // Planes: a unit has `runs` runs of neighbours.
  long long items, runs, run_length, run_step, start_step;
  // Rows of neighbouring channels, or rows that are sets of n elements.
  long long samples, rows, columns, column_blocks;
  NormPass pass;
  int lanes;
  bool given;
};

// kernel::RunningStatistic.
struct RunningArguments {
  double* running;
  const double* now;
  long long samples, channels;
  double momentum, size;
};

struct DeviationArguments {
  void* numbers;
  long long n;
  double eps;
};

}  // namespace fb::device
