// What the kernels of csrc/cuda/linalg.cpp are given.
#pragma once

namespace fb::device {

// One factor (batch, rows, columns), stored by rows, of packed ones (batch, m, n).
struct UnpackArguments {
  const void* packed;
  void* out;
  long long elements;  // of `out`
  long long rows, columns, m, n;
  bool lower;
};

struct PermutationArguments {
  const int* pivots;  // (batch, count), from 1
  void* out;          // (batch, size, size)
  long long columns;  // of all matrices
  long long size, count;
};

// Diagonals of n x n factors and the rows that were exchanged.
struct DiagonalArguments {
  const void* factors;
  const int* pivots;
  void* out;  // the determinant, or its sign
  void* log;
  long long batch, n;
};

// The upper triangles of matrices by columns, as matrices of their own.
struct PackedArguments {
  const void* packed;
  void* out;
  long long elements;  // of `out`
  long long packed_rows, packed_columns, rows, columns;
};

// The squares of the rows from `first` on, for each column.
struct SquaresArguments {
  const void* in;
  void* out;
  long long columns, rows, first;
};

}  // namespace fb::device
