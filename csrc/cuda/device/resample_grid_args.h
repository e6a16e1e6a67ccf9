// What the kernels of sampled images are given.
#pragma once

namespace fb::device {

// As kernel::GridPlan.
struct GridArguments {
  long long batch, channels, points, pixels;
  long long size[3];
  long long channels_each;  // of a thread
  int mode, padding;
  bool align_corners;
  const void* image;
  const void* grid;
  const void* gradient;
  void* out;
};

}  // namespace fb::device
