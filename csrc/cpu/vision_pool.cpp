// The largest elements, or the means, of whole pixels in a grid of cells over regions of images.
#include <algorithm>
#include <cmath>
#include <vector>

#include "cpu/threads.h"
#include "cpu/vision.h"

namespace fb::cpu {
namespace {

// As an integer: far outside of every image where it is too large, and for NaN.
template <class T>
int64_t bounded(T value) {
  constexpr T kFar = static_cast<T>(int64_t{1} << 60);
  return value == value ? static_cast<int64_t>(std::clamp(value, -kFar, kFar))
                        : -(int64_t{1} << 60);
}

struct Span {
  int64_t from, to;

  int64_t size() const { return std::max<int64_t>(to - from, 0); }
};

// The pixels that the cells along one side of a region cover. Adjacent cells may share a pixel.
template <class T>
std::vector<Span> spans(int64_t start, int64_t length, int64_t cells, int64_t size) {
  const T cell = static_cast<T>(std::max<int64_t>(length, 1)) / static_cast<T>(cells);
  std::vector<Span> result;
  result.reserve(static_cast<size_t>(cells));
  for (int64_t i = 0; i < cells; ++i) {
    const int64_t from = bounded(std::floor(static_cast<T>(i) * cell));
    const int64_t to = bounded(std::ceil(static_cast<T>(i + 1) * cell));
    result.push_back(
        {std::clamp<int64_t>(from + start, 0, size), std::clamp<int64_t>(to + start, 0, size)});
  }
  return result;
}

// The cells of a region whose corners are rounded to pixels.
template <class T>
struct Cells {
  std::vector<Span> rows, columns;

  // `closed` regions hold the pixels of their right and lower corner too. Others never reach the
  // last row and column of an image, as in torchvision, which weights were trained with.
  Cells(const T* region, const RegionPlan& regions, bool closed) {
    const ImageBatch& shape = regions.images;
    const auto edge = [&](int i) {
      return bounded(std::round(region[i] * static_cast<T>(regions.scale)));
    };
    const int64_t left = edge(1), top = edge(2), more = closed ? 1 : 0;
    columns = spans<T>(left, edge(3) - left + more, regions.width, shape.width - 1 + more);
    rows = spans<T>(top, edge(4) - top + more, regions.height, shape.height - 1 + more);
  }
};

template <class T>
int64_t largest(const T* plane, int64_t width, Span row, Span column) {
  if (row.size() == 0 || column.size() == 0) return -1;
  int64_t position = row.from * width + column.from;
  T most = plane[position];
  for (int64_t y = row.from; y < row.to; ++y)
    for (int64_t pixel = y * width + column.from; pixel < y * width + column.to; ++pixel)
      if (plane[pixel] > most) {
        most = plane[pixel];
        position = pixel;
      }
  return position;
}

template <class T>
void pool_argmax(const T* input, const T* region, const RegionPlan& regions, int64_t* out) {
  const ImageBatch& shape = regions.images;
  const Cells<T> cells(region, regions, true);
  const int64_t image = image_of(region, shape);
  for (int64_t channel = 0; channel < shape.channels; ++channel) {
    const int64_t first = (image * shape.channels + channel) * shape.pixels();
    for (const Span& row : cells.rows)
      for (const Span& column : cells.columns) {
        const int64_t position = largest(input + first, shape.width, row, column);
        *out++ = position < 0 ? -1 : first + position;
      }
  }
}

template <class T>
T mean(const T* plane, int64_t width, Span row, Span column) {
  T sum = 0;
  for (int64_t y = row.from; y < row.to; ++y)
    for (int64_t x = column.from; x < column.to; ++x) sum += plane[y * width + x];
  const int64_t count = row.size() * column.size();
  return count == 0 ? T{0} : sum / static_cast<T>(count);
}

template <class T>
void share(T* plane, int64_t width, Span row, Span column, T value) {
  const auto part = value / static_cast<T>(std::max<int64_t>(row.size() * column.size(), 1));
  for (int64_t y = row.from; y < row.to; ++y)
    for (int64_t x = column.from; x < column.to; ++x) plane[y * width + x] += part;
}

// Calls visit(plane, row, column) for every cell: the planes of an image lie as the cells do.
template <class T, class P, class F>
void each_cell(const Cells<T>& cells, P* image, const ImageBatch& shape, F visit) {
  const int64_t groups = shape.channels / static_cast<int64_t>(cells.rows.size()) /
                         static_cast<int64_t>(cells.columns.size());
  for (int64_t group = 0; group < groups; ++group)
    for (const Span& row : cells.rows)
      for (const Span& column : cells.columns) {
        visit(image, row, column);
        image += shape.pixels();
      }
}

// Regions that are worth a thread, for cells of some dozens of pixels.
int64_t grain_of(const RegionPlan& plan) {
  return kGrain / (32 * plan.images.channels * plan.cells() + 1) + 1;
}

}  // namespace

void roi_pool_argmax(DType dtype, const RegionPlan& plan, const void* images, int64_t* out) {
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T *pixels = static_cast<const T*>(images), *rows = static_cast<const T*>(plan.rows);
    parallel_for(plan.count, grain_of(plan), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        pool_argmax(pixels, rows + 5 * i, plan, out + i * plan.images.channels * plan.cells());
    });
  });
}

void ps_roi_pool(DType dtype, const RegionPlan& plan, const void* images, void* out) {
  const ImageBatch& shape = plan.images;
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T *pixels = static_cast<const T*>(images), *rows = static_cast<const T*>(plan.rows);
    T* result = static_cast<T*>(out);
    parallel_for(plan.count, grain_of(plan), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* image = pixels + image_of(rows + 5 * i, shape) * shape.image();
        T* cell = result + i * shape.channels;
        each_cell(Cells<T>(rows + 5 * i, plan, false), image, shape,
                  [&](const T* plane, Span row, Span column) {
                    *cell++ = mean(plane, shape.width, row, column);
                  });
      }
    });
  });
}

void ps_roi_pool_backward(DType dtype, const RegionPlan& plan, const void* gradient, void* images) {
  const ImageBatch& shape = plan.images;
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T *given = static_cast<const T*>(gradient), *rows = static_cast<const T*>(plan.rows);
    for (int64_t i = 0; i < plan.count; ++i) {
      T* image = static_cast<T*>(images) + image_of(rows + 5 * i, shape) * shape.image();
      each_cell(Cells<T>(rows + 5 * i, plan, false), image, shape,
                [&](T* plane, Span row, Span column) {
                  share(plane, shape.width, row, column, *given++);
                });
    }
  });
}

}  // namespace fb::cpu
