// Boxes on images: which of many to keep, and what lies inside of them.
#include "gen/ops/vision.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "cpu/copy.h"
#include "cpu/threads.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

struct Shape {
  int64_t batch, channels, height, width;

  explicit Shape(IntSpan sizes)
      : batch(sizes.size() == 4 ? sizes[0] : 0),
        channels(sizes.size() == 4 ? sizes[1] : 0),
        height(sizes.size() == 4 ? sizes[2] : 0),
        width(sizes.size() == 4 ? sizes[3] : 0) {
    FB_CHECK(sizes.size() == 4, "input must have shape (batch, channels, height, width), got ",
             sizes);
  }

  int64_t pixels() const { return height * width; }
};

constexpr int64_t kMostCells = int64_t{1} << 40;

// Regions (count, 5): the number of an image, then left, top, right, bottom.
struct Regions {
  Tensor rows;
  int64_t count, height, width;
  double scale;

  Regions(const Tensor& rois, DType dtype, double spatial_scale, int64_t height, int64_t width)
      : rows(contiguous(cast(rois, dtype))),
        count(rois.dim() == 2 ? rois.sizes()[0] : 0),
        height(height),
        width(width),
        scale(spatial_scale) {
    FB_CHECK(rois.dim() == 2 && rois.sizes()[1] == 5, "rois must have shape (count, 5), got ",
             rois.sizes());
    FB_CHECK(height > 0 && width > 0 && height <= kMostCells / width,
             "output_size must be positive, with at most ", kMostCells, " cells, got (", height,
             ", ", width, ")");
  }

  int64_t cells() const { return height * width; }
  void check(const Shape& images) const {
    FB_CHECK(count == 0 || images.pixels() > 0,
             "input has no pixels for the regions of rois, got a ", "height of ", images.height,
             " and a width of ", images.width);
  }
};

template <class T>
int64_t image_of(const T* region, const Shape& shape) {
  // Compared before it is cast: NaN and what no integer holds are refused too.
  FB_CHECK_INDEX(region[0] > -1 && region[0] < static_cast<T>(shape.batch), "rois name image ",
                 region[0], " of a batch of ", shape.batch);
  return static_cast<int64_t>(region[0]);
}

// --- the mean of interpolated points

// Four pixels around a point, and how much each counts.
template <class T>
struct Point {
  int64_t pixel[4] = {0, 0, 0, 0};
  T weight[4] = {0, 0, 0, 0};
};

// A point that is outside by up to one pixel takes the border; further away it counts as zero.
template <class T>
Point<T> point_at(T y, T x, const Shape& shape) {
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

constexpr int64_t kMostPoints = int64_t{1} << 26;

// How many points lie along a side of a cell: none if its region has no extent, or is no number.
template <class T>
int64_t along_cell(T side, int64_t ratio) {
  if (ratio > 0) return ratio;
  if (!(side > 0)) return 0;
  return static_cast<int64_t>(std::ceil(std::min<double>(side, kMostPoints + 1)));
}

template <class T>
Samples<T> samples_of(const T* region, const Regions& regions, const Shape& shape, int64_t ratio,
                      bool aligned) {
  const T scale = static_cast<T>(regions.scale), offset = aligned ? T(0.5) : T(0);
  const T left = region[1] * scale - offset, top = region[2] * scale - offset;
  T wide = region[3] * scale - offset - left, high = region[4] * scale - offset - top;
  if (!aligned) {
    wide = std::max(wide, T{1});
    high = std::max(high, T{1});
  }
  const T cell_high = high / static_cast<T>(regions.height);
  const T cell_wide = wide / static_cast<T>(regions.width);
  const int64_t down = along_cell(cell_high, ratio), across = along_cell(cell_wide, ratio);
  FB_CHECK(static_cast<double>(down) * static_cast<double>(across) *
                   static_cast<double>(regions.cells()) <=
               static_cast<double>(kMostPoints),
           "rois has a region of ", high, " by ", wide, " pixels, which takes ", down, " by ",
           across, " points in each cell; at most ", kMostPoints,
           " are taken of a region: pass a smaller sampling_ratio, or clip the boxes to the image");
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
          samples.points.push_back(point_at(y, x, shape));
        }
      }
  return samples;
}

template <class T>
void align(const T* image, const Samples<T>& samples, const Shape& shape, int64_t cells, T* out) {
  const auto count = static_cast<T>(std::max<int64_t>(samples.per_cell, 1));
  for (int64_t channel = 0; channel < shape.channels; ++channel) {
    const T* plane = image + channel * shape.pixels();
    const Point<T>* point = samples.points.data();
    for (int64_t cell = 0; cell < cells; ++cell) {
      T sum = 0;
      for (int64_t i = 0; i < samples.per_cell; ++i, ++point)
        for (int k = 0; k < 4; ++k) sum += point->weight[k] * plane[point->pixel[k]];
      *out++ = sum / count;
    }
  }
}

template <class T>
void give_back(const T* gradient, const Samples<T>& samples, const Shape& shape, int64_t cells,
               int64_t first, int64_t last, T* image) {
  const auto count = static_cast<T>(std::max<int64_t>(samples.per_cell, 1));
  for (int64_t channel = first; channel < last; ++channel) {
    T* plane = image + channel * shape.pixels();
    const Point<T>* point = samples.points.data();
    for (int64_t cell = 0; cell < cells; ++cell) {
      const T share = gradient[channel * cells + cell] / count;
      for (int64_t i = 0; i < samples.per_cell; ++i, ++point)
        for (int k = 0; k < 4; ++k) plane[point->pixel[k]] += point->weight[k] * share;
    }
  }
}

// --- the largest element

template <class T>
int64_t largest(const T* plane, const Shape& shape, int64_t top, int64_t bottom, int64_t left,
                int64_t right) {
  int64_t place = -1;
  for (int64_t y = top; y < bottom; ++y)
    for (int64_t x = left; x < right; ++x) {
      const int64_t pixel = y * shape.width + x;
      if (place < 0 || plane[pixel] > plane[place]) place = pixel;
    }
  return place;
}

// As an integer: far outside of every image where it is too large, and for NaN.
template <class T>
int64_t bounded(T value) {
  constexpr T kFar = static_cast<T>(int64_t{1} << 60);
  return value == value ? static_cast<int64_t>(std::clamp(value, -kFar, kFar))
                        : -(int64_t{1} << 60);
}

template <class T>
void pool_places(const T* input, const T* region, const Regions& regions, const Shape& shape,
                 int64_t* out) {
  const auto edge = [&](int i) {
    return bounded(std::round(region[i] * static_cast<T>(regions.scale)));
  };
  const int64_t left = edge(1), top = edge(2);
  const auto cell_wide =
      static_cast<T>(std::max<int64_t>(edge(3) - left + 1, 1)) / static_cast<T>(regions.width);
  const auto cell_high =
      static_cast<T>(std::max<int64_t>(edge(4) - top + 1, 1)) / static_cast<T>(regions.height);
  const auto from = [](int64_t i, T cell, int64_t start, int64_t size) {
    const int64_t at = bounded(std::floor(static_cast<T>(i) * cell));
    return std::clamp<int64_t>(at + start, 0, size);
  };
  const auto to = [](int64_t i, T cell, int64_t start, int64_t size) {
    const int64_t at = bounded(std::ceil(static_cast<T>(i + 1) * cell));
    return std::clamp<int64_t>(at + start, 0, size);
  };
  const int64_t image = image_of(region, shape);
  for (int64_t channel = 0; channel < shape.channels; ++channel) {
    const int64_t first = (image * shape.channels + channel) * shape.pixels();
    for (int64_t row = 0; row < regions.height; ++row)
      for (int64_t column = 0; column < regions.width; ++column) {
        const int64_t place = largest(input + first, shape, from(row, cell_high, top, shape.height),
                                      to(row, cell_high, top, shape.height),
                                      from(column, cell_wide, left, shape.width),
                                      to(column, cell_wide, left, shape.width));
        *out++ = place < 0 ? -1 : first + place;
      }
  }
}

// --- overlapping boxes

template <class T>
class Boxes {
 public:
  Boxes(const T* corners, int64_t count) : corners_(corners), areas_(static_cast<size_t>(count)) {
    for (int64_t i = 0; i < count; ++i) {
      const T* box = corners + 4 * i;
      areas_[static_cast<size_t>(i)] = (box[2] - box[0]) * (box[3] - box[1]);
    }
  }

  bool overlap(int64_t i, int64_t j, T threshold) const {
    const T *a = corners_ + 4 * i, *b = corners_ + 4 * j;
    const T wide = std::max(T{0}, std::min(a[2], b[2]) - std::max(a[0], b[0]));
    const T high = std::max(T{0}, std::min(a[3], b[3]) - std::max(a[1], b[1]));
    const T both = wide * high;
    return both / (areas_[static_cast<size_t>(i)] + areas_[static_cast<size_t>(j)] - both) >
           threshold;
  }

 private:
  const T* corners_;
  std::vector<T> areas_;
};

template <class T>
std::vector<int64_t> kept_boxes(const T* corners, const T* scores, int64_t count, double limit) {
  std::vector<int64_t> order(static_cast<size_t>(count)), kept;
  std::iota(order.begin(), order.end(), 0);
  // NaN counts as more than any number, as it does when tensors are sorted.
  std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
    return scores[i] > scores[j] || (std::isnan(scores[i]) && !std::isnan(scores[j]));
  });
  const Boxes<T> boxes(corners, count);
  for (const int64_t candidate : order) {
    const bool covered = std::any_of(kept.begin(), kept.end(), [&](int64_t better) {
      return boxes.overlap(better, candidate, static_cast<T>(limit));
    });
    if (!covered) kept.push_back(candidate);
  }
  return kept;
}

}  // namespace

Tensor compute::_nms(const Tensor& boxes, const Tensor& scores, double iou_threshold) {
  FB_CHECK(boxes.dim() == 2 && boxes.sizes()[1] == 4, "boxes must have shape (count, 4), got ",
           boxes.sizes());
  FB_CHECK(scores.dim() == 1 && scores.sizes()[0] == boxes.sizes()[0],
           "scores must have one element for each of the ", boxes.sizes()[0], " boxes, got shape ",
           scores.sizes());
  const DType dtype = boxes.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  const Tensor corners = contiguous(cast(boxes, dtype)), ranks = contiguous(cast(scores, dtype));
  std::vector<int64_t> kept;
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    kept = kept_boxes(corners.data_as<T>(), ranks.data_as<T>(), boxes.sizes()[0], iou_threshold);
  });
  const Tensor result = make_tensor({static_cast<int64_t>(kept.size())}, DType::kInt64);
  std::copy(kept.begin(), kept.end(), result.data_as<int64_t>());
  return result;
}

Tensor compute::_roi_align(const Tensor& input, const Tensor& rois, double spatial_scale,
                           int64_t height, int64_t width, int64_t sampling_ratio, bool aligned) {
  const Shape shape(input.sizes());
  const DType dtype = input.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  const Regions regions(rois, dtype, spatial_scale, height, width);
  regions.check(shape);
  const Tensor images = contiguous(cast(input, dtype));
  const Tensor out = make_tensor({regions.count, shape.channels, height, width}, dtype);
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T *pixels = images.data_as<T>(), *rows = regions.rows.data_as<T>();
    T* cells = out.data_as<T>();
    const int64_t image = shape.channels * shape.pixels();
    const int64_t result = shape.channels * regions.cells();
    cpu::parallel_for(regions.count, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* region = rows + 5 * i;
        const auto samples = samples_of(region, regions, shape, sampling_ratio, aligned);
        align(pixels + image_of(region, shape) * image, samples, shape, regions.cells(),
              cells + i * result);
      }
    });
  });
  return cast(out, input.dtype());
}

Tensor compute::_roi_align_backward(const Tensor& gradient, const Tensor& rois,
                                    double spatial_scale, int64_t height, int64_t width,
                                    int64_t sampling_ratio, bool aligned, IntSpan sizes) {
  const Shape shape(sizes);
  const DType dtype = gradient.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  const Regions regions(rois, dtype, spatial_scale, height, width);
  regions.check(shape);
  const int64_t shape_of_cells[] = {regions.count, shape.channels, height, width};
  const IntSpan expected(shape_of_cells, 4);
  FB_CHECK(gradient.sizes() == expected, "gradient must have shape ", expected, ", got ",
           gradient.sizes());
  const Tensor cells = contiguous(cast(gradient, dtype));
  const Tensor images = make_tensor(sizes, dtype);
  cpu::fill(images, 0);
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T *given = cells.data_as<T>(), *rows = regions.rows.data_as<T>();
    T* pixels = images.data_as<T>();
    // Regions overlap, channels do not: each thread has some channels of all regions.
    for (int64_t i = 0; i < regions.count; ++i) {
      const T* region = rows + 5 * i;
      const auto samples = samples_of(region, regions, shape, sampling_ratio, aligned);
      T* image = pixels + image_of(region, shape) * shape.channels * shape.pixels();
      const T* part = given + i * shape.channels * regions.cells();
      const int64_t work = std::max<int64_t>(samples.per_cell * regions.cells() * 4, 1);
      cpu::parallel_for(shape.channels, std::max<int64_t>(cpu::kGrain / work, 1),
                        [&](int64_t begin, int64_t end) {
                          give_back(part, samples, shape, regions.cells(), begin, end, image);
                        });
    }
  });
  return cast(images, gradient.dtype());
}

Tensor compute::_roi_pool_places(const Tensor& input, const Tensor& rois, double spatial_scale,
                                 int64_t height, int64_t width) {
  const Shape shape(input.sizes());
  const DType dtype = input.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  const Regions regions(rois, dtype, spatial_scale, height, width);
  regions.check(shape);
  const Tensor images = contiguous(cast(input, dtype));
  const Tensor out = make_tensor({regions.count, shape.channels, height, width}, DType::kInt64);
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T *pixels = images.data_as<T>(), *rows = regions.rows.data_as<T>();
    int64_t* places = out.data_as<int64_t>();
    cpu::parallel_for(regions.count, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        pool_places(pixels, rows + 5 * i, regions, shape,
                    places + i * shape.channels * regions.cells());
    });
  });
  return out;
}

}  // namespace fb::ops
