// How products of matrices are cut into parts that threads compute.
#pragma once

#include <algorithm>

#include "cpu/gemm.h"

namespace fb::cpu {

struct Range {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};

inline int64_t parts_of(int64_t extent, int64_t most) { return (extent + most - 1) / most; }

// Part `index` of `count` about equal ones, in multiples of `unit`.
inline Range part_of_range(int64_t extent, int64_t index, int64_t count, int64_t unit) {
  const int64_t units = parts_of(extent, unit);
  return {units * index / count * unit, std::min(units * (index + 1) / count * unit, extent)};
}

// Every product of a call is cut into down x across parts, whose bounds are multiples of units.
struct GemmGrid {
  int64_t down = 1, across = 1;

  static constexpr int64_t kRowUnit = 2, kColumnUnit = 16;

  int64_t parts() const { return down * across; }
  Range rows(const GemmCall& g, int64_t part) const {
    return part_of_range(g.m, part / across, down, kRowUnit);
  }
  Range columns(const GemmCall& g, int64_t part) const {
    return part_of_range(g.n, part % across, across, kColumnUnit);
  }
  // Of the largest part.
  int64_t most_rows(const GemmCall& g) const {
    return parts_of(parts_of(g.m, kRowUnit), down) * kRowUnit;
  }
  int64_t most_columns(const GemmCall& g) const {
    return parts_of(parts_of(g.n, kColumnUnit), across) * kColumnUnit;
  }
};

// The grid with which so many threads are done first, if every part is computed `times` times.
GemmGrid grid_of(const GemmCall& call, int64_t threads, int64_t times = 1);

}  // namespace fb::cpu
