// What the kernels of optimisers are given: some tensors at once, cut into pieces of which a block
// takes one.
#pragma once

#include "scalar/optim_numbers.h"

namespace fb::device {

inline constexpr int kOptimTensors = 32;
inline constexpr long long kOptimPiece = 4096;  // elements

struct OptimTensors {
  int count;
  long long pieces_before[kOptimTensors + 1];
  long long n[kOptimTensors];
  void* param[kOptimTensors];
  const void* grad[kOptimTensors];
  void* states[3][kOptimTensors];
};

template <class Numbers>
struct StepArguments {
  OptimTensors tensors;
  Numbers numbers;
};

struct UnscaleArguments {
  OptimTensors tensors;
  const float* factor;
  float* found_inf;
};

// --- all tensors of a list, of which only the elements matter

inline constexpr int kListTensors = 160;
inline constexpr long long kListPiece = 16384;  // elements

struct TensorPieces {
  int count;
  unsigned pieces_before[kListTensors + 1];
  long long n[kListTensors];
  void* data[kListTensors];
};

struct SquaresArguments {
  TensorPieces tensors;
  double* sums;  // of each piece
};

struct RootArguments {
  const double* sums;
  long long count;
  double* out;
};

struct FactorArguments {
  TensorPieces tensors;
  const double* factor;
};

struct ScaleArguments {
  float* scale;
  int* steps;
  const float* found_inf;
  kernel::ScaleNumbers numbers;
};

// --- rows

template <class Numbers>
struct RowStepArguments {
  const long long* rows;
  const void* gradients;
  void* param;
  void* states[2];
  long long n, width;
  Numbers numbers;
};

// --- Adafactor

// Sums over all elements are those of at most as many blocks, added up by whoever needs them.
inline constexpr int kAdafactorBlocks = 256;

struct AdafactorArguments {
  void* param;
  const void* grad;
  void* row_var;  // null for a vector
  void* col_var;
  void* scaled;  // the columns over the mean of the rows; for a vector `col_var`
  long long count, rows, cols;
  double* param_squares;  // of each block
  double* update_squares;
  int blocks;  // that add up
  kernel::AdafactorNumbers numbers;
};

}  // namespace fb::device
