// Means of interpolated points in a grid of cells over regions of images.
#include <algorithm>
#include <cmath>
#include <vector>

#include "cpu/threads.h"
#include "cpu/vision.h"

namespace fb::cpu {
namespace {

// Four pixels around a point, and their weights.
template <class T>
struct Point {
  int64_t pixel[4] = {0, 0, 0, 0};
  T weight[4] = {0, 0, 0, 0};
};

// A point outside by up to one pixel takes the border's value; further away it counts as zero.
template <class T>
Point<T> point_at(T y, T x, const ImageBatch& shape) {
  Point<T> point;
  if (!(y >= -1 && y <= static_cast<T>(shape.height) && x >= -1 &&
        x <= static_cast<T>(shape.width)))
    return point;
  const auto along = [](T value, int64_t size, int64_t& low, int64_t& high) {
    value = std::max(value, T{0});
    low = std::min(static_cast<int64_t>(value), size - 1);
    high = std::min(low + 1, size - 1);
    return low == size - 1 ? T{0} : value - static_cast<T>(low);
  };
  int64_t top, bottom, left, right;
  const T down = along(y, shape.height, top, bottom);
  const T across = along(x, shape.width, left, right);
  const int64_t rows[2] = {top, bottom}, columns[2] = {left, right};
  const T vertical[2] = {1 - down, down}, horizontal[2] = {1 - across, across};
  for (int i = 0; i < 4; ++i) {
    point.pixel[i] = rows[i / 2] * shape.width + columns[i % 2];
    point.weight[i] = vertical[i / 2] * horizontal[i % 2];
  }
  return point;
}

// The points of all cells of a region, `per_cell` for each. They are the same for every channel.
template <class T>
struct Samples {
  std::vector<Point<T>> points;
  int64_t per_cell = 0;
};

// The fewest channels of a thread: with less, finding the points would cost more than using them.
constexpr int64_t kChannelsAtLeast = 16;
constexpr int64_t kMostPoints = int64_t{1} << 26;

// How many points lie along a side of a cell: none if its region has no extent, or is NaN.
template <class T>
int64_t along_cell(T side, int64_t ratio) {
  if (ratio > 0) return ratio;
  if (!(side > 0)) return 0;
  return static_cast<int64_t>(std::ceil(std::min<double>(side, kMostPoints + 1)));
}

template <class T>
Samples<T> samples_of(const T* region, const AlignPlan& plan) {
  const RegionPlan& regions = plan.regions;
  const bool aligned = plan.aligned;
  const T scale = static_cast<T>(regions.scale), offset = aligned ? T(0.5) : T(0);
  const T left = region[1] * scale - offset, top = region[2] * scale - offset;
  T wide = region[3] * scale - offset - left, high = region[4] * scale - offset - top;
  if (!aligned) {
    wide = std::max(wide, T{1});
    high = std::max(high, T{1});
  }
  const T cell_high = high / static_cast<T>(regions.height);
  const T cell_wide = wide / static_cast<T>(regions.width);
  const int64_t down = along_cell(cell_high, plan.ratio),
                across = along_cell(cell_wide, plan.ratio);
  FB_CHECK(static_cast<double>(down) * static_cast<double>(across) *
                   static_cast<double>(regions.cells()) <=
               static_cast<double>(kMostPoints),
           "rois has a region of ", high, " by ", wide, " pixels, which takes ", down, " by ",
           across, " points in each cell, more than the ", kMostPoints,
           " allowed for a region: pass a smaller sampling_ratio, or clip the boxes to the image");
  Samples<T> samples;
  samples.per_cell = down * across;
  samples.points.reserve(static_cast<size_t>(samples.per_cell * regions.cells()));
  for (int64_t row = 0; row < regions.height; ++row)
    for (int64_t column = 0; column < regions.width; ++column)
      for (int64_t i = 0; i < down; ++i) {
        const T y = top + static_cast<T>(row) * cell_high +
                    (static_cast<T>(i) + T(0.5)) * cell_high / static_cast<T>(down);
        for (int64_t j = 0; j < across; ++j) {
          const T x = left + static_cast<T>(column) * cell_wide +
                      (static_cast<T>(j) + T(0.5)) * cell_wide / static_cast<T>(across);
          samples.points.push_back(point_at(y, x, regions.images));
        }
      }
  return samples;
}

// The channels of an image that a cell reads: all, or every n-th, beginning with its own.
struct Channels {
  int64_t all, count, cells;
  bool position_sensitive;

  explicit Channels(const AlignPlan& plan)
      : all(plan.regions.images.channels),
        count(plan.channels()),
        cells(plan.regions.cells()),
        position_sensitive(plan.position_sensitive) {}

  int64_t first(int64_t cell) const { return position_sensitive ? cell : 0; }
  int64_t step() const { return position_sensitive ? cells : 1; }
};

// Calls f(channel, at) with where each of the channels is in an image.
template <class F>
void each_channel(int64_t begin, int64_t end, int64_t step, F f) {
  if (step == 1)
    for (int64_t c = begin; c < end; ++c) f(c, c);
  else
    for (int64_t c = begin; c < end; ++c) f(c, c * step);
}

template <class T>
void align(const T* image, const Samples<T>& samples, const Channels& channels, T* out) {
  const auto count = static_cast<T>(std::max<int64_t>(samples.per_cell, 1));
  std::vector<T> sums(static_cast<size_t>(channels.count));
  const Point<T>* point = samples.points.data();
  for (int64_t cell = 0; cell < channels.cells; ++cell) {
    std::fill(sums.begin(), sums.end(), T{0});
    T* sum = sums.data();
    for (int64_t i = 0; i < samples.per_cell; ++i, ++point) {
      const T* corner[4];
      for (int k = 0; k < 4; ++k)
        corner[k] = image + point->pixel[k] * channels.all + channels.first(cell);
      const T *a = corner[0], *b = corner[1], *c = corner[2], *d = corner[3];
      const T u = point->weight[0], v = point->weight[1], w = point->weight[2],
              x = point->weight[3];
      each_channel(0, channels.count, channels.step(), [=](int64_t channel, int64_t at) {
        sum[channel] += u * a[at] + v * b[at] + w * c[at] + x * d[at];
      });
    }
    for (int64_t c = 0; c < channels.count; ++c) out[c * channels.cells + cell] = sum[c] / count;
  }
}

// Of the channels from `begin` on.
template <class T>
void give_back(const T* gradient, const Samples<T>& samples, const Channels& channels,
               int64_t begin, int64_t end, T* image) {
  const auto count = static_cast<T>(std::max<int64_t>(samples.per_cell, 1));
  std::vector<T> shares(static_cast<size_t>(channels.count));
  const T* share = shares.data();
  const Point<T>* point = samples.points.data();
  for (int64_t cell = 0; cell < channels.cells; ++cell) {
    for (int64_t c = begin; c < end; ++c)
      shares[static_cast<size_t>(c)] = gradient[c * channels.cells + cell] / count;
    for (int64_t i = 0; i < samples.per_cell; ++i, ++point)
      for (int k = 0; k < 4; ++k) {
        T* pixel = image + point->pixel[k] * channels.all + channels.first(cell);
        const T weight = point->weight[k];
        each_channel(begin, end, channels.step(),
                     [=](int64_t channel, int64_t at) { pixel[at] += weight * share[channel]; });
      }
  }
}

}  // namespace

void roi_align(DType dtype, const AlignPlan& plan, const void* images, void* out) {
  const RegionPlan& regions = plan.regions;
  const Channels channels(plan);
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T *pixels = static_cast<const T*>(images), *rows = static_cast<const T*>(regions.rows);
    T* cells = static_cast<T*>(out);
    const int64_t cost = 16 * channels.count * channels.cells;
    parallel_for(regions.count, kGrain / (cost + 1) + 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* region = rows + 5 * i;
        const auto samples = samples_of(region, plan);
        align(pixels + image_of(region, regions.images) * regions.images.image(), samples, channels,
              cells + i * channels.count * channels.cells);
      }
    });
  });
}

void roi_align_backward(DType dtype, const AlignPlan& plan, const void* gradient, void* images) {
  const RegionPlan& regions = plan.regions;
  const Channels channels(plan);
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T *given = static_cast<const T*>(gradient), *rows = static_cast<const T*>(regions.rows);
    T* pixels = static_cast<T*>(images);
    // Regions overlap, channels do not: each thread has some channels of all regions.
    parallel_for(channels.count, kChannelsAtLeast, [&](int64_t begin, int64_t end) {
      for (int64_t i = 0; i < regions.count; ++i) {
        const T* region = rows + 5 * i;
        const auto samples = samples_of(region, plan);
        give_back(given + i * channels.count * channels.cells, samples, channels, begin, end,
                  pixels + image_of(region, regions.images) * regions.images.image());
      }
    });
  });
}

}  // namespace fb::cpu
