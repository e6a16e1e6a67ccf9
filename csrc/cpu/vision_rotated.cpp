// Overlaps of rotated boxes.
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "cpu/threads.h"
#include "cpu/vision.h"

namespace fb::cpu {
namespace {

struct Vertex {
  double x, y;
};
using Polygon = std::vector<Vertex>;

// The distance of a vertex to the left of the line from a to b, times the length of that line.
double beside(Vertex a, Vertex b, Vertex p) {
  return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x);
}

// Relative to `origin`, so that small boxes far from zero lose no precision.
Polygon corners(const double* box, Vertex origin) {
  const double angle = box[4] * std::numbers::pi / 180, c = std::cos(angle), s = std::sin(angle);
  const double wide = box[2] / 2, high = box[3] / 2;
  const double x = box[0] - origin.x, y = box[1] - origin.y;
  Polygon result;
  for (const auto& [right, down] : {std::array{-1, -1}, {1, -1}, {1, 1}, {-1, 1}})
    result.push_back(
        {x + right * wide * c + down * high * s, y - right * wide * s + down * high * c});
  return result;
}

// The part of a convex polygon to the left of the line from a to b.
Polygon left_of(const Polygon& polygon, Vertex a, Vertex b) {
  Polygon result;
  for (size_t i = 0; i < polygon.size(); ++i) {
    const Vertex from = polygon[i], to = polygon[(i + 1) % polygon.size()];
    const double start = beside(a, b, from), end = beside(a, b, to);
    if (start >= 0) result.push_back(from);
    if ((start < 0) != (end < 0)) {
      const double part = start / (start - end);
      result.push_back({from.x + part * (to.x - from.x), from.y + part * (to.y - from.y)});
    }
  }
  return result;
}

double area(const Polygon& polygon) {
  double sum = 0;
  for (size_t i = 2; i < polygon.size(); ++i) sum += beside(polygon[0], polygon[i - 1], polygon[i]);
  return std::abs(sum) / 2;
}

double overlap(const double* first, const double* second) {
  constexpr double kNothing = 1e-14;
  const double areas[] = {first[2] * first[3], second[2] * second[3]};
  if (areas[0] < kNothing || areas[1] < kNothing) return 0;
  const Vertex origin{(first[0] + second[0]) / 2, (first[1] + second[1]) / 2};
  Polygon both = corners(first, origin);
  const Polygon window = corners(second, origin);
  for (size_t i = 0; i < 4; ++i) both = left_of(both, window[i], window[(i + 1) % 4]);
  const double shared = area(both);
  return shared / (areas[0] + areas[1] - shared);
}

}  // namespace

void rotated_overlaps(const double* first, int64_t rows, const double* second, int64_t columns,
                      float* out) {
  constexpr int64_t kElements = 1024;  // of a copy, which take as long as clipping a polygon
  parallel_for(rows, kGrain / (columns * kElements + 1) + 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      for (int64_t j = 0; j < columns; ++j)
        out[i * columns + j] = static_cast<float>(overlap(first + 5 * i, second + 5 * j));
  });
}

}  // namespace fb::cpu
