// What the kernel of csrc/cuda/search.cpp is given.
#pragma once

namespace fb::device {

struct SearchArguments {
  const void* sequences;
  const long long* sorter;  // null, or the order that sorts each sequence
  const void* values;
  long long* out;
  long long n;  // values, `per_row` for each sequence
  long long per_row, length;
  bool shared, right;
};

}  // namespace fb::device
