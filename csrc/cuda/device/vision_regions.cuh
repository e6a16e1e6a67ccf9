// Regions of images, divided into cells: means of interpolated points, the largest pixels, means of
// pixels. A region that names no image of the batch is noted.
#pragma once

#include "cuda/device/base.cuh"
#include "cuda/device/vision_args.h"
#include "scalar/math.h"

namespace fb::device {

template <class T>
__device__ inline T clamped(T value, T least, T most) {
  return value < least ? least : value > most ? most : value;
}

// The image that a region is of; -1 if there is none.
template <class T>
__device__ inline long long image_of(const RegionArguments& args, const T* region) {
  if (region[0] > T(-1) && region[0] < static_cast<T>(args.batch))
    return static_cast<long long>(region[0]);
  const T shown = region[0] == region[0] ? clamped(region[0], T(-1e15), T(1e15)) : T(-1);
  note_bad_index(args.error, static_cast<long long>(shown), args.batch, 0);
  return -1;
}

// --- means of interpolated points

// Along one axis: the two pixels next to a coordinate. One outside by up to a pixel takes the
// border's value; further away it counts as zero, and is not `inside`.
template <class T>
struct Between {
  long long low, high;
  T part;
  bool inside;

  __device__ Between(T value, long long size) {
    inside = value >= T(-1) && value <= static_cast<T>(size);
    if (!inside) value = T(0);
    if (value < T(0)) value = T(0);
    low = static_cast<long long>(value);
    if (low > size - 1) low = size - 1;
    high = low + 1 < size ? low + 1 : size - 1;
    part = low == size - 1 ? T(0) : value - static_cast<T>(low);
  }
};

// The points of a cell along one axis: point i is at start + (i + 1/2) * side / count.
template <class T>
struct AxisPoints {
  T start, side;
  long long count;       // of all points
  long long begin, end;  // those that can be on the image

  __device__ T at(long long i) const {
    return start + (static_cast<T>(i) + T(0.5)) * side / static_cast<T>(count);
  }
};

template <class T>
__device__ inline AxisPoints<T> axis_points(const RegionArguments& args, T low, T high,
                                            long long cell, long long cells, long long size) {
  const T scale = static_cast<T>(args.scale), offset = args.aligned ? T(0.5) : T(0);
  const T first = low * scale - offset;
  T extent = high * scale - offset - first;
  if (!args.aligned) extent = extent < T(1) ? T(1) : extent;
  const T side = extent / static_cast<T>(cells);
  AxisPoints<T> points{first + static_cast<T>(cell) * side, side, args.ratio, 0, 0};
  constexpr double kMost = 1ll << 52;
  if (args.ratio <= 0) {
    const double wanted = math::ceil(static_cast<double>(side));
    points.count = side > T(0) ? static_cast<long long>(wanted < kMost ? wanted : kMost) : 0;
  }
  points.end = points.count;
  // A huge region has few points on the image: the others are not walked through.
  const double step = static_cast<double>(side) / static_cast<double>(points.count);
  if (step > 0) {
    const double from = (-1 - static_cast<double>(points.start)) / step - 2;
    const double to = (static_cast<double>(size) - static_cast<double>(points.start)) / step + 2;
    const auto all = static_cast<double>(points.count);
    points.begin = static_cast<long long>(clamped(from, 0.0, all));
    points.end = static_cast<long long>(clamped(to, 0.0, all));
  }
  return points;
}

// Where an element of the result is: channels are fastest, as they are in the images.
struct CellPlace {
  long long region, cell, channel, at;  // `at`: in the result

  __device__ CellPlace(const RegionArguments& args, long long i) {
    const long long cells = args.cells_down * args.cells_across;
    const long long rest = i / args.cell_channels;
    channel = i - rest * args.cell_channels;
    region = rest / cells;
    cell = rest - region * cells;
    at = (region * args.cell_channels + channel) * cells + cell;
  }
};

// Calls visit(pixel, weight) for the four pixels of every point of a cell.
template <class T, class Visit>
__device__ inline void each_point(const AxisPoints<T>& down, const AxisPoints<T>& across,
                                  const RegionArguments& args, Visit visit) {
  for (long long i = down.begin; i < down.end; ++i) {
    const Between<T> y(down.at(i), args.height);
    if (!y.inside) continue;
    for (long long j = across.begin; j < across.end; ++j) {
      const Between<T> x(across.at(j), args.width);
      if (!x.inside) continue;
      visit(y.low * args.width + x.low, (1 - y.part) * (1 - x.part));
      visit(y.low * args.width + x.high, (1 - y.part) * x.part);
      visit(y.high * args.width + x.low, y.part * (1 - x.part));
      visit(y.high * args.width + x.high, y.part * x.part);
    }
  }
}

// A cell of one channel, and the channel's first pixel among the images.
template <class T>
struct AlignCell {
  AxisPoints<T> down, across;
  long long image;
  T count;

  __device__ AlignCell(const RegionArguments& args, const CellPlace& place) {
    const T* region = static_cast<const T*>(args.rows) + 5 * place.region;
    const long long row = place.cell / args.cells_across;
    const long long column = place.cell - row * args.cells_across;
    down = axis_points(args, region[2], region[4], row, args.cells_down, args.height);
    across = axis_points(args, region[1], region[3], column, args.cells_across, args.width);
    image = image_of(args, region);
    const long long all = down.count * across.count;
    count = static_cast<T>(all > 1 ? all : 1);
  }
  __device__ long long first(const RegionArguments& args, const CellPlace& place) const {
    const long long cells = args.cells_down * args.cells_across;
    const long long channel =
        args.position_sensitive ? place.channel * cells + place.cell : place.channel;
    return image * args.height * args.width * args.channels + channel;
  }
};

template <class T>
__device__ inline void align_cell(const RegionArguments& args) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.elements) return;
  const CellPlace place(args, i);
  const AlignCell<T> cell(args, place);
  T sum = T(0);
  if (cell.image >= 0) {
    const T* pixels = static_cast<const T*>(args.in) + cell.first(args, place);
    each_point(cell.down, cell.across, args,
               [&](long long pixel, T weight) { sum += weight * pixels[pixel * args.channels]; });
  }
  static_cast<T*>(args.out)[place.at] = sum / cell.count;
}

template <class T>
__device__ inline void align_cell_backward(const RegionArguments& args) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.elements) return;
  const CellPlace place(args, i);
  const AlignCell<T> cell(args, place);
  if (cell.image < 0) return;
  T* pixels = static_cast<T*>(args.out) + cell.first(args, place);
  const T share = static_cast<const T*>(args.in)[place.at] / cell.count;
  each_point(cell.down, cell.across, args, [&](long long pixel, T weight) {
    if (weight != T(0)) atomicAdd(pixels + pixel * args.channels, weight * share);
  });
}

// --- whole pixels

// As an integer: far outside of every image where it is too large, and for NaN.
template <class T>
__device__ inline long long bounded(T value) {
  constexpr long long kFar = 1ll << 60;
  if (value != value) return -kFar;
  return static_cast<long long>(clamped(value, -static_cast<T>(kFar), static_cast<T>(kFar)));
}

struct Span {
  long long from, to;

  __device__ long long size() const { return to > from ? to - from : 0; }
};

// The pixels that a cell covers along one side of a region whose ends are rounded to pixels.
// `closed` regions hold their last pixel too; others never reach the last one of an image.
template <class T>
__device__ inline Span span_of(const RegionArguments& args, T low, T high, long long cell,
                               long long cells, long long size, bool closed) {
  const T scale = static_cast<T>(args.scale);
  const auto edge = [scale](T value) {
    // Halves away from zero.
    const T x = value * scale, down = math::trunc(x);
    return bounded(math::abs(x - down) >= T(0.5) ? down + (x < T(0) ? T(-1) : T(1)) : down);
  };
  const long long start = edge(low), more = closed ? 1 : 0;
  const long long length = edge(high) - start + more;
  const T side = static_cast<T>(length > 1 ? length : 1) / static_cast<T>(cells);
  const long long from = bounded(math::floor(static_cast<T>(cell) * side)) + start;
  const long long to = bounded(math::ceil(static_cast<T>(cell + 1) * side)) + start;
  const long long last = size - 1 + more;
  return {clamped(from, 0ll, last), clamped(to, 0ll, last)};
}

// A cell of whole pixels in a plane of the images (batch, channels, height, width).
template <class T>
struct PoolCell {
  Span rows, columns;
  long long plane;  // its first pixel; -1 if the region names no image

  __device__ PoolCell(const RegionArguments& args, long long region, long long channel,
                      long long cell, bool closed) {
    const T* at = static_cast<const T*>(args.rows) + 5 * region;
    const long long row = cell / args.cells_across, column = cell - row * args.cells_across;
    rows = span_of(args, at[2], at[4], row, args.cells_down, args.height, closed);
    columns = span_of(args, at[1], at[3], column, args.cells_across, args.width, closed);
    const long long image = image_of(args, at);
    plane = image < 0 ? -1 : (image * args.channels + channel) * args.height * args.width;
  }
  __device__ long long pixels() const { return rows.size() * columns.size(); }
};

template <class T>
__device__ inline void pool_argmax(const RegionArguments& args) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.elements) return;
  const long long cells = args.cells_down * args.cells_across;
  const long long rest = i / cells, region = rest / args.channels;
  const PoolCell<T> cell(args, region, rest - region * args.channels, i - rest * cells, true);
  long long best = -1;
  if (cell.plane >= 0 && cell.pixels() > 0) {
    const T* plane = static_cast<const T*>(args.in) + cell.plane;
    best = cell.rows.from * args.width + cell.columns.from;
    T most = plane[best];
    for (long long y = cell.rows.from; y < cell.rows.to; ++y)
      for (long long x = cell.columns.from; x < cell.columns.to; ++x) {
        const T value = plane[y * args.width + x];
        if (value > most) {
          most = value;
          best = y * args.width + x;
        }
      }
    best += cell.plane;
  }
  static_cast<long long*>(args.out)[i] = best;
}

// Every cell has planes of its own: the channels of an image lie as the elements of the result do.
template <class T>
__device__ inline PoolCell<T> sensitive_cell(const RegionArguments& args, long long i) {
  const long long region = i / args.channels, channel = i - region * args.channels;
  return {args, region, channel, channel % (args.cells_down * args.cells_across), false};
}

template <class T>
__device__ inline void pool_mean(const RegionArguments& args) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.elements) return;
  const PoolCell<T> cell = sensitive_cell<T>(args, i);
  T sum = T(0);
  if (cell.plane >= 0 && cell.pixels() > 0) {
    const T* plane = static_cast<const T*>(args.in) + cell.plane;
    for (long long y = cell.rows.from; y < cell.rows.to; ++y)
      for (long long x = cell.columns.from; x < cell.columns.to; ++x)
        sum += plane[y * args.width + x];
    sum = sum / static_cast<T>(cell.pixels());
  }
  static_cast<T*>(args.out)[i] = sum;
}

template <class T>
__device__ inline void pool_mean_backward(const RegionArguments& args) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.elements) return;
  const PoolCell<T> cell = sensitive_cell<T>(args, i);
  if (cell.plane < 0 || cell.pixels() == 0) return;
  const T part = static_cast<const T*>(args.in)[i] / static_cast<T>(cell.pixels());
  T* plane = static_cast<T*>(args.out) + cell.plane;
  for (long long y = cell.rows.from; y < cell.rows.to; ++y)
    for (long long x = cell.columns.from; x < cell.columns.to; ++x)
      atomicAdd(plane + y * args.width + x, part);
}

}  // namespace fb::device
