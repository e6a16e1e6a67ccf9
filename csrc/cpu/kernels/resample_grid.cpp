// Images sampled at given points. For a block of points the pixels that each is made of and their
// weights are computed once, then used for every channel.
#include "cpu/resample_grid.h"

#include "cpu/kernels/loops.h"
#include "cpu/kernels/simd.h"
#include "cpu/threads.h"

namespace fb::cpu::FB_ISA {
namespace {

constexpr int64_t kPoints = 64;  // in a block
constexpr int kMaxTaps = 4;      // along one coordinate
constexpr int kMaxPixels = 16;   // of one point: 4 x 4, or 2 x 2 x 2

template <class T>
FB_FN T floor_of(T x) {
  if constexpr (sizeof(T) == 4)
    return __builtin_floorf(x);
  else
    return __builtin_floor(x);
}
template <class T>
FB_FN T nearest_of(T x) {
  if constexpr (sizeof(T) == 4)
    return __builtin_rintf(x);
  else
    return __builtin_rint(x);
}

// A position on the image, and its derivative with respect to the coordinate it comes from.
template <class T>
struct Position {
  T value, slope;
};

// Positions along one coordinate. Written without branches, so that loops over points vectorise.
template <class T, GridPadding kPadding>
class Axis {
 public:
  Axis(int64_t size, bool align_corners)
      : size_(static_cast<T>(size)),
        low_(align_corners ? T(0) : T(-0.5)),
        span_(align_corners ? static_cast<T>(size - 1) : static_cast<T>(size)) {}

  // From a coordinate in [-1, 1].
  FB_FN Position<T> at(T coordinate) const {
    const T half = span_ / 2;
    return {(coordinate + 1) * half + low_, half};
  }
  // Moved into the image by the padding mode; a NaN becomes 0.
  FB_FN Position<T> padded(Position<T> p) const {
    if constexpr (kPadding == GridPadding::kZeros) return p;
    if constexpr (kPadding == GridPadding::kReflection) p = reflected(p);
    const T last = size_ - 1;
    const T value = p.value > 0 ? p.value : T(0);
    const bool inside = (p.value > 0) & (p.value < last);
    return {value < last ? value : last, inside ? p.slope : T(0)};
  }
  FB_FN bool holds(T index) const { return (index >= 0) & (index < size_); }

 private:
  FB_FN Position<T> reflected(Position<T> p) const {
    const T span = span_ > 0 ? span_ : T(1);  // one pixel: all clamp to it
    const T from_low = p.value - low_;
    const T distance = from_low < 0 ? -from_low : from_low;
    const T reflections = floor_of(distance / span);
    const T rest = distance - reflections * span;
    const T odd = reflections - 2 * floor_of(reflections / 2);
    const T slope = from_low < 0 ? -p.slope : p.slope;
    return {(odd != 0 ? span - rest : rest) + low_, odd != 0 ? -slope : slope};
  }

  const T size_, low_, span_;
};

// What the points of a block take along one coordinate: `taps` pixels each.
template <class T>
struct AxisTaps {
  int taps = 1;
  int32_t pixel[kMaxTaps][kPoints];
  T weight[kMaxTaps][kPoints];  // 0 for a pixel outside of the image
  T slope[kMaxTaps][kPoints];   // the derivative of the weight with respect to the coordinate
};

template <class T, class Axis>
FB_FN void set_tap(AxisTaps<T>& taps, int k, int64_t p, const Axis& axis, T index, T weight,
                   T slope) {
  const bool holds = axis.holds(index);
  taps.pixel[k][p] = static_cast<int32_t>(holds ? index : T(0));
  taps.weight[k][p] = holds ? weight : T(0);
  taps.slope[k][p] = holds ? slope : T(0);
}

template <class T, class Axis>
void nearest_taps(const Axis axis, const T* grid, int64_t step, int64_t n, AxisTaps<T>& taps) {
  taps.taps = 1;
  FB_IVDEP
  for (int64_t p = 0; p < n; ++p)
    set_tap(taps, 0, p, axis, nearest_of(axis.padded(axis.at(grid[p * step])).value), T(1), T(0));
}

template <class T, class Axis>
void linear_taps(const Axis axis, const T* grid, int64_t step, int64_t n, AxisTaps<T>& taps) {
  taps.taps = 2;
  FB_IVDEP
  for (int64_t p = 0; p < n; ++p) {
    const Position<T> position = axis.padded(axis.at(grid[p * step]));
    const T low = floor_of(position.value);
    const T right = position.value - low;
    set_tap(taps, 0, p, axis, low, 1 - right, -position.slope);
    set_tap(taps, 1, p, axis, low + 1, right, position.slope);
  }
}

// Keys' cubic with the slope -0.75 at 1, and its derivative.
template <class T>
FB_FN T cubic_near(T x) {
  return (T(1.25) * x - T(2.25)) * x * x + 1;
}
template <class T>
FB_FN T cubic_far(T x) {
  return T(-0.75) * (((x - 5) * x + 8) * x - 4);
}
template <class T>
FB_FN T cubic_near_slope(T x) {
  return (T(3.75) * x - T(4.5)) * x;
}
template <class T>
FB_FN T cubic_far_slope(T x) {
  return T(-0.75) * ((3 * x - 10) * x + 8);
}

// Here it is the pixels that are padded, not the position.
template <class T, class Axis>
void cubic_taps(const Axis axis, const T* grid, int64_t step, int64_t n, AxisTaps<T>& taps) {
  taps.taps = 4;
  FB_IVDEP
  for (int64_t p = 0; p < n; ++p) {
    const Position<T> position = axis.at(grid[p * step]);
    const T low = floor_of(position.value);
    const T t = position.value - low;
    const T weight[4] = {cubic_far(t + 1), cubic_near(t), cubic_near(1 - t), cubic_far(2 - t)};
    const T slope[4] = {cubic_far_slope(t + 1), cubic_near_slope(t), -cubic_near_slope(1 - t),
                        -cubic_far_slope(2 - t)};
    for (int k = 0; k < 4; ++k) {
      const T pixel = nearest_of(axis.padded({low + static_cast<T>(k - 1), T(0)}).value);
      set_tap(taps, k, p, axis, pixel, weight[k], slope[k] * position.slope);
    }
  }
}

// The pixels that the points of a block are made of.
template <class T>
class Block {
 public:
  Block(const GridPlan& plan, const T* grid, int64_t n) : n(n), rank_(static_cast<int>(plan.rank)) {
    switch (plan.padding) {
      case GridPadding::kZeros: set_taps<GridPadding::kZeros>(plan, grid); break;
      case GridPadding::kBorder: set_taps<GridPadding::kBorder>(plan, grid); break;
      case GridPadding::kReflection: set_taps<GridPadding::kReflection>(plan, grid); break;
    }
    if (rank_ == 2) {
      for (int64_t p = 0; p < n; ++p) {
        axis_[2].pixel[0][p] = 0;
        axis_[2].weight[0][p] = 1;
      }
    }
    pixels = 0;
    each_pixel([&](int i, int j, int k) {
      for (int64_t p = 0; p < n; ++p) {
        index[pixels][p] = static_cast<int32_t>(
            (axis_[2].pixel[k][p] * plan.size[1] + axis_[1].pixel[j][p]) * plan.size[0] +
            axis_[0].pixel[i][p]);
        weight[pixels][p] = axis_[0].weight[i][p] * axis_[1].weight[j][p] * axis_[2].weight[k][p];
      }
      ++pixels;
    });
  }

  // How the weights change with each coordinate.
  void slopes(T (*slope)[kMaxPixels][kPoints]) const {
    int pixel = 0;
    each_pixel([&](int i, int j, int k) {
      const int tap[3] = {i, j, k};
      for (int a = 0; a < rank_; ++a) {
        T* const product = slope[a][pixel];
        for (int64_t p = 0; p < n; ++p) product[p] = axis_[a].slope[tap[a]][p];
        for (int b = 0; b < rank_; ++b)
          if (b != a)
            for (int64_t p = 0; p < n; ++p) product[p] *= axis_[b].weight[tap[b]][p];
      }
      ++pixel;
    });
  }

  const int64_t n;
  int pixels;
  int32_t index[kMaxPixels][kPoints];
  T weight[kMaxPixels][kPoints];

 private:
  template <GridPadding kPadding>
  void set_taps(const GridPlan& plan, const T* grid) {
    for (int a = 0; a < rank_; ++a) {
      const Axis<T, kPadding> axis(plan.size[a], plan.align_corners);
      switch (plan.mode) {
        case GridMode::kNearest: nearest_taps(axis, grid + a, plan.rank, n, axis_[a]); break;
        case GridMode::kBilinear: linear_taps(axis, grid + a, plan.rank, n, axis_[a]); break;
        case GridMode::kBicubic: cubic_taps(axis, grid + a, plan.rank, n, axis_[a]); break;
      }
    }
  }

  template <class F>
  void each_pixel(F&& f) const {
    for (int k = 0; k < axis_[2].taps; ++k)
      for (int j = 0; j < axis_[1].taps; ++j)
        for (int i = 0; i < axis_[0].taps; ++i) f(i, j, k);
  }

  const int rank_;
  AxisTaps<T> axis_[3];
};

// Sums of one channel's pixels, by kSums sets of weights. A weight of 0 stands for a pixel outside
// of the image, whose value must not count.
template <int kSums, class T>
FB_FN void weighted_sums(const Block<T>& block, const T (*weight)[kMaxPixels][kPoints],
                         const T* image, T (*sum)[kPoints]) {
  for (int s = 0; s < kSums; ++s)
    for (int64_t p = 0; p < block.n; ++p) sum[s][p] = 0;
  for (int k = 0; k < block.pixels; ++k) {
    FB_IVDEP
    for (int64_t p = 0; p < block.n; ++p) {
      const T value = image[block.index[k][p]];
      for (int s = 0; s < kSums; ++s)
        sum[s][p] += weight[s][k][p] != 0 ? weight[s][k][p] * value : T(0);
    }
  }
}

FB_FN int64_t blocks_of(const GridPlan& plan) { return (plan.points + kPoints - 1) / kPoints; }

// Calls f(image of the batch, first point, Block) for all blocks.
template <class T, class F>
void each_block(const GridPlan& plan, const T* grid, F&& f) {
  const int64_t blocks = blocks_of(plan);
  const int64_t cost = kPoints * (plan.channels + 4) * 4;
  parallel_for(
      plan.batch * blocks, cost < kGrain ? kGrain / cost : 1, [&](int64_t begin, int64_t end) {
        for (int64_t b = begin; b < end; ++b) {
          const int64_t n = b / blocks, first = b % blocks * kPoints;
          const int64_t count = plan.points - first < kPoints ? plan.points - first : kPoints;
          f(n, first, Block<T>(plan, grid + (n * plan.points + first) * plan.rank, count));
        }
      });
}

template <class T>
void sample(const GridPlan& plan, const T* image, const T* grid, T* out) {
  each_block(plan, grid, [&](int64_t n, int64_t first, const Block<T>& block) {
    T sum[1][kPoints];
    for (int64_t c = n * plan.channels; c < (n + 1) * plan.channels; ++c) {
      weighted_sums<1>(block, &block.weight, image + c * plan.pixels(), sum);
      __builtin_memcpy(out + c * plan.points + first, sum[0],
                       static_cast<size_t>(block.n) * sizeof(T));
    }
  });
}

template <class T>
void image_gradient(const GridPlan& plan, const T* gradient, const T* grid, T* out) {
  // Threads divide the images, or the channels if images are few: no two write to the same pixel.
  const int64_t wanted = plan.batch < num_threads() ? num_threads() : 1;
  const int64_t groups = plan.channels < wanted ? plan.channels : wanted;
  parallel_for(plan.batch * groups, 1, [&](int64_t begin, int64_t end) {
    for (int64_t g = begin; g < end; ++g) {
      const int64_t n = g / groups, group = g % groups;
      for (int64_t first = 0; first < plan.points; first += kPoints) {
        const int64_t count = plan.points - first < kPoints ? plan.points - first : kPoints;
        const Block<T> block(plan, grid + (n * plan.points + first) * plan.rank, count);
        for (int64_t c = n * plan.channels + group; c < (n + 1) * plan.channels; c += groups) {
          const T* const from = gradient + c * plan.points + first;
          T* const to = out + c * plan.pixels();
          for (int k = 0; k < block.pixels; ++k)
            for (int64_t p = 0; p < count; ++p)
              if (block.weight[k][p] != 0) to[block.index[k][p]] += block.weight[k][p] * from[p];
        }
      }
    }
  });
}

template <int kRank, class T>
void grid_gradient(const GridPlan& plan, const T* gradient, const T* image, const T* grid, T* out) {
  each_block(plan, grid, [&](int64_t n, int64_t first, const Block<T>& block) {
    T slope[kRank][kMaxPixels][kPoints];
    T sum[kRank][kPoints], total[kRank][kPoints] = {};
    block.slopes(slope);
    for (int64_t c = n * plan.channels; c < (n + 1) * plan.channels; ++c) {
      weighted_sums<kRank>(block, slope, image + c * plan.pixels(), sum);
      const T* const from = gradient + c * plan.points + first;
      for (int a = 0; a < kRank; ++a)
        for (int64_t p = 0; p < block.n; ++p) total[a][p] += from[p] * sum[a][p];
    }
    T* const to = out + (n * plan.points + first) * kRank;
    for (int64_t p = 0; p < block.n; ++p)
      for (int a = 0; a < kRank; ++a) to[p * kRank + a] = total[a][p];
  });
}

}  // namespace

void grid_sample(DType dtype, const GridPlan& plan, const void* image, const void* grid,
                 void* out) {
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    sample(plan, static_cast<const T*>(image), static_cast<const T*>(grid), static_cast<T*>(out));
  });
}

void grid_sample_image_gradient(DType dtype, const GridPlan& plan, const void* gradient,
                                const void* grid, void* image_gradient_out) {
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    image_gradient(plan, static_cast<const T*>(gradient), static_cast<const T*>(grid),
                   static_cast<T*>(image_gradient_out));
  });
}

void grid_sample_grid_gradient(DType dtype, const GridPlan& plan, const void* gradient,
                               const void* image, const void* grid, void* grid_gradient_out) {
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto run = plan.rank == 2 ? grid_gradient<2, T> : grid_gradient<3, T>;
    run(plan, static_cast<const T*>(gradient), static_cast<const T*>(image),
        static_cast<const T*>(grid), static_cast<T*>(grid_gradient_out));
  });
}

}  // namespace fb::cpu::FB_ISA
