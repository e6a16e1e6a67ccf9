// What the kernels of csrc/cuda/create.cpp are given.
#pragma once

#include "scalar/types.h"

namespace fb::device {

struct SequenceArguments {
  void* out;
  long long n;
  long long first_integer, step_integer;
  double first, step;  // real parts, as those of `last`
  double first_imag, step_imag;
  double last, last_imag;
  double base;
};

// As kernel::Triangle.
struct TriangleIndices {
  long long* rows;
  long long* columns_out;
  long long n;
  long long first_row, last_row, columns, diagonal;
  bool lower;
};

// How many elements are in the rows before this one, counted from the first that has any. The
// lengths of rows rise by one up to all columns, or fall by one after the whole rows.
FB_FN long long elements_before(const TriangleIndices& args, long long row) {
  if (args.lower) {
    const long long shortest = args.first_row + args.diagonal + 1;
    const long long rising = shortest < args.columns ? args.columns - shortest : 0;
    const long long early = row < rising ? row : rising;
    const long long first = shortest < args.columns ? shortest : args.columns;
    return early * first + early * (early - 1) / 2 + (row - early) * args.columns;
  }
  const long long whole = args.diagonal <= 0 ? 1 - args.diagonal : 0;
  const long long early = row < whole ? row : whole, late = row - early;
  const long long longest = args.columns - (early + args.diagonal);
  return early * args.columns + late * longest - late * (late - 1) / 2;
}

struct TriangleArguments {
  void* data;
  long long n, rows, columns, diagonal;
  bool lower;
};

}  // namespace fb::device
