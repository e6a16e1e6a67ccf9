// What the kernels of csrc/cuda/vision.cpp are given.
#pragma once

#include "cuda/device/error.cuh"

namespace fb::device {

// --- boxes

inline constexpr int kBoxesOfWord = 64;  // a bit for each

struct BoxArguments {
  const void* boxes;   // (count, 4)
  const void* scores;  // (count)
  long long count, words;
  double limit;
  long long* order;            // the numbers of the boxes, best first
  unsigned long long* covers;  // (count, words), by rank: which worse boxes a box overlaps
  unsigned long long* gone;    // (words): which are overlapped by a box that is kept
  long long* kept;             // first their count, then their numbers
};

struct OverlapArguments {
  const double* first;
  const double* second;
  float* out;  // (rows, columns)
  long long rows, columns;
};

// --- regions of images: see kernel::RegionPlan and kernel::AlignPlan

struct RegionArguments {
  long long batch, channels, height, width;
  long long count, cells_down, cells_across;
  double scale;
  const void* rows;
  long long elements;  // of the result, or of its gradient
  ErrorSite error;

  // Of means of points.
  long long ratio;
  bool aligned, position_sensitive;
  long long cell_channels;

  const void* in;
  void* out;
};

// --- deformable convolutions: see kernel::DeformPlan

struct DeformSide {
  long long kernel, stride, padding, dilation, result;
};

struct DeformArguments {
  long long height, width;
  long long channels;  // of a group of offsets
  DeformSide down, across;
  long long points;  // of all groups and taps
  const void* pixels;
  const void* offset;
  const void* mask;
  void* columns;  // or their gradient, which is read
  // The gradients.
  void* to_pixels;
  void* to_offset;
  void* to_mask;
};

// How many channels a thread computes: with fewer, finding its point would cost more.
inline constexpr int kDeformChannels = 16;

}  // namespace fb::device
