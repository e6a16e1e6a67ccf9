// What the kernels of sliding windows are given.
#pragma once

namespace fb::device {

// As kernel::Sliding, with the number of windows.
struct SlidingSide {
  long long size, kernel, dilation, padding, stride, windows;
};

struct FoldArguments {
  SlidingSide y, x;
  long long n;
  const void* in;
  void* out;
};

}  // namespace fb::device
