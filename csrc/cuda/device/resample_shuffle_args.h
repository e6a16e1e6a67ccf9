// What the kernels of pixel shuffles are given.
#pragma once

namespace fb::device {

// As kernel::PixelPlan.
struct PixelArguments {
  long long rows, columns, factor;
  long long n;
  const void* in;
  void* out;
};

}  // namespace fb::device
