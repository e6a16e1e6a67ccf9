// Overlaps of rotated boxes: a polygon is cut by the four sides of another.
#pragma once

#include "cuda/device/base.cuh"
#include "cuda/device/vision_args.h"
#include "scalar/math.h"

namespace fb::device {

struct Vertex {
  double x, y;
};

// A cut adds one vertex; rounding may add more, which then do not count.
inline constexpr int kMostVertices = 12;
struct Polygon {
  Vertex at[kMostVertices];
  int size = 0;

  __device__ void add(Vertex v) {
    if (size < kMostVertices) at[size++] = v;
  }
};

// The distance of a vertex to the left of the line from a to b, times the length of that line.
__device__ inline double beside(Vertex a, Vertex b, Vertex p) {
  return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x);
}

// Relative to `origin`, so that small boxes far from zero lose no precision.
__device__ inline Polygon corners_of(const double* box, Vertex origin) {
  const double angle = box[4] * 3.14159265358979323846 / 180;
  const double c = math::cos(angle), s = math::sin(angle);
  const double wide = box[2] / 2, high = box[3] / 2;
  const double x = box[0] - origin.x, y = box[1] - origin.y;
  Polygon result;
  for (int i = 0; i < 4; ++i) {
    const double right = i == 1 || i == 2 ? 1 : -1, down = i >= 2 ? 1 : -1;
    result.add({x + right * wide * c + down * high * s, y - right * wide * s + down * high * c});
  }
  return result;
}

// The part of a convex polygon to the left of the line from a to b.
__device__ inline Polygon left_of(const Polygon& polygon, Vertex a, Vertex b) {
  Polygon result;
  for (int i = 0; i < polygon.size; ++i) {
    const Vertex from = polygon.at[i], to = polygon.at[i + 1 < polygon.size ? i + 1 : 0];
    const double start = beside(a, b, from), end = beside(a, b, to);
    if (start >= 0) result.add(from);
    if ((start < 0) != (end < 0)) {
      const double part = start / (start - end);
      result.add({from.x + part * (to.x - from.x), from.y + part * (to.y - from.y)});
    }
  }
  return result;
}

__device__ inline double overlap_of(const double* first, const double* second) {
  constexpr double kNothing = 1e-14;
  const double areas[] = {first[2] * first[3], second[2] * second[3]};
  if (areas[0] < kNothing || areas[1] < kNothing) return 0;
  const Vertex origin{(first[0] + second[0]) / 2, (first[1] + second[1]) / 2};
  Polygon both = corners_of(first, origin);
  const Polygon window = corners_of(second, origin);
  for (int i = 0; i < 4; ++i) both = left_of(both, window.at[i], window.at[(i + 1) % 4]);
  double sum = 0;
  for (int i = 2; i < both.size; ++i) sum += beside(both.at[0], both.at[i - 1], both.at[i]);
  const double shared = math::abs(sum) / 2;
  return shared / (areas[0] + areas[1] - shared);
}

template <class T>
__device__ inline void rotated_overlap(const OverlapArguments& args) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.rows * args.columns) return;
  const long long row = i / args.columns, column = i - row * args.columns;
  args.out[i] = static_cast<float>(overlap_of(args.first + 5 * row, args.second + 5 * column));
}

}  // namespace fb::device
