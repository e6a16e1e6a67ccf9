// What the kernels of csrc/cuda/create.cpp are given.
#pragma once

namespace fb::device {

struct SequenceArguments {
  void* out;
  long long n;
  long long first_integer, step_integer;
  double first, step;  // real parts, as those of `last`
  double first_imag, step_imag;
  double last, last_imag;
};

struct TriangleArguments {
  void* data;
  long long n, rows, columns, diagonal;
  bool lower;
};

}  // namespace fb::device
