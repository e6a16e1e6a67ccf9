// What the kernels of byte images are given.
#pragma once

namespace fb::device {

// As kernel::ByteSums, over an array (images, planes, rows, in, inner) with these steps; the result
// has no gaps.
struct ByteSumsArguments {
  const int* first;
  const int* weight;
  long long pairs;
  int limbs, bits;
  long long planes, rows, in_size, out_size, inner;
  long long image_step, plane_step, row_step, step;
  long long n;
  const unsigned char* in;
  unsigned char* out;
};

// As kernel::ByteMapPlan.
struct ByteMapArguments {
  long long channels, height, width;
  long long image_step, channel_step, row_step, step, table_step;
  long long n;
  const unsigned char* in;
  const void* table;
  void* out;
};

}  // namespace fb::device
