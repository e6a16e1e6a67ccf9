// Convolutions as products of matrices, whose tiles are gathered from the image as they are needed.
//
// A row is a pixel that is written, a column one of its channels, and the depth what a window has.
// The next tiles are read while the present ones are multiplied. Long sums are cut into parts, by
// the shape alone, which another kernel adds in their order.
#pragma once

#include "cuda/device/conv_args.h"
#include "cuda/device/image.cuh"
#include "cuda/device/reduce.cuh"
#include "scalar/arith.h"

namespace fb::device {

template <class V>
__device__ inline V multiply_add(V sum, V a, V b) {
  if constexpr (kIsFloat<V>)
    return sum + a * b;
  else
    return scalar::add(sum, scalar::mul(a, b), V(1));
}

// Where a window's tap lies along one side; false if outside of the image.
__device__ inline bool find_tap(const ConvSide& side, int base, int tap, int& at) {
  at = base + tap * side.tap_step;
  if (at < 0) return false;
  if (side.divisor != 1) {
    const int whole = at / side.divisor;
    if (whole * side.divisor != at) return false;
    at = whole;
  }
  return at < side.from;
}

// The windows of one pixel that is written: where they begin in the image that is read.
struct ConvRow {
  static constexpr int kNowhere = -(1 << 30);

  long long sample;
  int d, h, w;

  __device__ void set(const ConvArguments& args, long long row) {
    if (row >= args.rows) {
      sample = 0;
      d = h = w = kNowhere;
      return;
    }
    const ImageElement e = image_element(row, args.side[0].to, args.side[1].to, args.side[2].to, 1);
    sample = e.plane * args.from_step.sample;
    d = static_cast<int>(e.d) * args.side[0].step + args.side[0].start;
    h = static_cast<int>(e.h) * args.side[1].step + args.side[1].start;
    w = static_cast<int>(e.w) * args.side[2].step + args.side[2].start;
  }
};

// A position in the depth: a tap and a channel of the group.
struct ConvTap {
  int d, h, w, channel;

  __device__ void set(const ConvArguments& args, long long depth) {
    Split at = split(depth, args.from_group);
    channel = static_cast<int>(at.rest);
    at = split(at.quotient, args.side[2].taps);
    w = static_cast<int>(at.rest);
    at = split(at.quotient, args.side[1].taps);
    h = static_cast<int>(at.rest);
    d = static_cast<int>(at.quotient);
  }
  __device__ void advance(const ConvArguments& args, int by) {
    channel += by;
    while (channel >= args.from_group) {
      channel -= static_cast<int>(args.from_group);
      if (++w < args.side[2].taps) continue;
      w = 0;
      if (++h < args.side[1].taps) continue;
      h = 0;
      ++d;
    }
  }
};

// The element that a window has there, or -1 for a zero.
__device__ inline long long conv_offset(const ConvArguments& args, const ConvRow& row,
                                        const ConvTap& tap) {
  int d, h, w;
  if (tap.d >= args.side[0].taps || !find_tap(args.side[0], row.d, tap.d, d) ||
      !find_tap(args.side[1], row.h, tap.h, h) || !find_tap(args.side[2], row.w, tap.w, w))
    return -1;
  const long long pixel =
      (static_cast<long long>(d) * args.side[1].from + h) * args.side[2].from + w;
  return row.sample + pixel * args.from_step.pixel + tap.channel * args.from_step.channel;
}

// Neighbouring elements, or zeros for an offset of -1.
template <class T, int width>
__device__ inline Pack<T, width> load_pack(const T* data, long long offset) {
  if (offset >= 0) {
    if constexpr (width == 1)
      return {{data[offset]}};
    else
      return *reinterpret_cast<const Pack<T, width>*>(data + offset);
  }
  Pack<T, width> zeros;
  for (int i = 0; i < width; ++i) zeros.at[i] = convert<T>(0.0f);
  return zeros;
}

// The shape of a tile: each of 16 x 16 threads has own x own elements of it.
template <class T, int own>
struct ConvTile {
  using V = Wide<T>;
  static constexpr int kSide = 16 * own;
  static constexpr int kDepth = own == 8 || sizeof(V) > 8 ? 8 : 16;
  static constexpr int kEach = kSide * kDepth / kThreads;  // elements of a tile that a thread reads

  // Rows begin in other banks for the two halves of a warp that store a column.
  alignas(64) V left[2][kDepth][kSide + 4];
  alignas(64) V right[2][kDepth][kSide];
};

template <class T, int own>
struct ConvSums {
  using V = Wide<T>;
  using Tile = ConvTile<T, own>;
  V sum[own][own];

  __device__ ConvSums() {
    for (int y = 0; y < own; ++y)
      for (int x = 0; x < own; ++x) sum[y][x] = V(0);
  }
  // The place of element i of a thread in a side of the tile: by fours.
  static __device__ int place(int thread, int i) { return i / 4 * 64 + thread * 4 + i % 4; }

  __device__ void add(const Tile& tile, int buffer) {
    const int row = static_cast<int>(threadIdx.x) / 16, column = static_cast<int>(threadIdx.x) % 16;
#pragma unroll
    for (int d = 0; d < Tile::kDepth; ++d) {
      Pack<V, 4> a[own / 4], b[own / 4];
#pragma unroll
      for (int i = 0; i < own / 4; ++i) {
        a[i] = *reinterpret_cast<const Pack<V, 4>*>(&tile.left[buffer][d][i * 64 + row * 4]);
        b[i] = *reinterpret_cast<const Pack<V, 4>*>(&tile.right[buffer][d][i * 64 + column * 4]);
      }
#pragma unroll
      for (int y = 0; y < own; ++y)
#pragma unroll
        for (int x = 0; x < own; ++x)
          sum[y][x] = multiply_add(sum[y][x], a[y / 4].at[y % 4], b[x / 4].at[x % 4]);
    }
  }
};

// Where pixel `row` begins in the image that is written.
__device__ inline long long written_pixel(const ConvArguments& args, long long row) {
  if (!args.planes && args.all) return row * args.to_step.pixel;
  const ImageElement e = image_element(row, args.side[0].to, args.side[1].to, args.side[2].to, 1);
  const auto place = [&](int a, long long at) {
    return args.side[a].to_first + at * args.side[a].to_step;
  };
  const long long pixel =
      (place(0, e.d) * args.side[1].to_all + place(1, e.h)) * args.side[2].to_all + place(2, e.w);
  return e.plane * args.to_step.sample + pixel * args.to_step.pixel;
}

template <class T>
__device__ inline void write_pixel(const ConvArguments& args, long long at, long long channel,
                                   Wide<T> value) {
  if (args.bias)
    value = scalar::add(value, convert<Wide<T>>(static_cast<const T*>(args.bias)[channel]),
                        Wide<T>(1));
  static_cast<T*>(args.to)[at + channel * args.to_step.channel] = convert<T>(value);
}

// blockIdx: tile of rows, tile of columns, group and part. `width` elements of a window are read
// at once. The weight is packed: see pack_weight.
template <class T, int own, int width>
__device__ inline void conv_tile(const ConvArguments& args) {
  using V = Wide<T>;
  using Tile = ConvTile<T, own>;
  constexpr int kSide = Tile::kSide, kDepth = Tile::kDepth;
  // Of a window's elements: threads side by side along the depth.
  constexpr int kLanes = kDepth / width, kSweep = kThreads / kLanes, kSweeps = kSide / kSweep;
  // Of the weight's: threads side by side along the columns.
  constexpr int kWidth = Tile::kEach < 4 ? Tile::kEach : 4;
  constexpr int kAcross = kSide / kWidth, kDown = kThreads / kAcross, kTimes = kDepth / kDown;
  __shared__ Tile tile;
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % kLanes * width, own_row = thread / kLanes;
  const int across = thread % kAcross * kWidth, down = thread / kAcross;
  const long long first_row = static_cast<long long>(blockIdx.x) * kSide;
  const long long first_column = static_cast<long long>(blockIdx.y) * kSide;

  ConvRow rows[kSweeps];
  for (int s = 0; s < kSweeps; ++s) rows[s].set(args, first_row + own_row + s * kSweep);

  const Split at = split(blockIdx.z, args.parts);
  const long long group = at.quotient, part = at.rest;
  const T* const from =
      static_cast<const T*>(args.from) + group * args.from_group * args.from_step.channel;
  const long long begin = part * args.part;
  const long long end = begin + args.part < args.padded_depth ? begin + args.part
                                                              : args.padded_depth;
  const T* weight = static_cast<const T*>(args.weight) +
                    (group * args.padded_depth + begin + down) * args.padded_columns +
                    first_column + across;
  ConvTap tap;
  tap.set(args, begin + lane);
  ConvSums<T, own> sums;
  Pack<T, width> a[kSweeps];
  Pack<T, kWidth> b[kTimes];
  const auto read = [&] {
#pragma unroll
    for (int s = 0; s < kSweeps; ++s)
      a[s] = load_pack<T, width>(from, conv_offset(args, rows[s], tap));
#pragma unroll
    for (int i = 0; i < kTimes; ++i)
      b[i] = load_pack<T, kWidth>(weight, i * kDown * args.padded_columns);
    tap.advance(args, kDepth);
    weight += kDepth * args.padded_columns;
  };
  const auto keep = [&](int buffer) {
#pragma unroll
    for (int s = 0; s < kSweeps; ++s)
#pragma unroll
      for (int i = 0; i < width; ++i)
        tile.left[buffer][lane + i][own_row + s * kSweep] = convert<V>(a[s].at[i]);
#pragma unroll
    for (int t = 0; t < kTimes; ++t)
#pragma unroll
      for (int i = 0; i < kWidth; ++i)
        tile.right[buffer][down + t * kDown][across + i] = convert<V>(b[t].at[i]);
  };
  read();
  keep(0);
  __syncthreads();
  const int steps = static_cast<int>((end - begin) / kDepth);
  for (int step = 0; step < steps; ++step) {
    const bool more = step + 1 < steps;
    if (more) read();
    sums.add(tile, step % 2);
    if (more) keep((step + 1) % 2);
    __syncthreads();
  }
#pragma unroll
  for (int y = 0; y < own; ++y) {
    const long long row = first_row + ConvSums<T, own>::place(thread / 16, y);
    if (row >= args.rows) continue;
    const long long pixel = written_pixel(args, row);
#pragma unroll
    for (int x = 0; x < own; ++x) {
      const long long column = first_column + ConvSums<T, own>::place(thread % 16, x);
      if (column >= args.to_group) continue;
      const long long channel = group * args.to_group + column;
      if (args.parts > 1)
        static_cast<V*>(args.partial)[(part * args.rows + row) * args.groups * args.to_group +
                                      channel] = sums.sum[y][x];
      else
        write_pixel<T>(args, pixel, channel, sums.sum[y][x]);
    }
  }
}

// The parts of the sums of each element that is written.
template <class T>
__device__ inline void conv_join(const ConvArguments& args) {
  using V = Wide<T>;
  const long long number = thread_number();
  const long long channels = args.groups * args.to_group, all = args.rows * channels;
  if (number >= all) return;
  V sum = static_cast<const V*>(args.partial)[number];
  for (long long p = 1; p < args.parts; ++p)
    sum = scalar::add(sum, static_cast<const V*>(args.partial)[p * all + number], V(1));
  const Split at = split(number, channels);
  write_pixel<T>(args, written_pixel(args, at.quotient), at.rest, sum);
}

// Where an element of the weight is: the depth's position and the channel that is written.
__device__ inline long long weight_offset(const ConvArguments& args, long long group,
                                          long long column, const ConvTap& tap) {
  return args.first_tap + group * args.group_step + column * args.written_step + tap.channel * args.read_step +
         tap.d * args.tap_step[0] + tap.h * args.tap_step[1] +
         tap.w * args.tap_step[2];
}

// The weight as (groups, padded depth, padded columns), with zeros behind.
template <class T>
__device__ inline void pack_weight(const ConvArguments& args) {
  const long long number = thread_number();
  if (number >= args.groups * args.padded_depth * args.padded_columns) return;
  const Split column = split(number, args.padded_columns);
  const Split depth = split(column.quotient, args.padded_depth);
  T value = convert<T>(0.0f);
  if (column.rest < args.to_group && depth.rest < args.depth) {
    ConvTap tap;
    tap.set(args, depth.rest);
    value = static_cast<const T*>(
        args.weight)[weight_offset(args, depth.quotient, column.rest, tap)];
  }
  static_cast<T*>(args.to)[number] = value;
}

// The element that a thread writes, whichever way the channels lie.
struct ConvElement {
  long long row, channel;
  ImageElement at;
};
__device__ inline ConvElement conv_element(const ConvArguments& args, long long number) {
  const long long channels = args.groups * args.to_group;
  ConvElement e;
  e.at = image_element(number, args.side[0].to, args.side[1].to, args.side[2].to,
                       args.planes ? 1 : channels);
  e.channel = e.at.inner;
  if (args.planes) {
    const Split plane = split(e.at.plane, channels);
    e.at.plane = plane.quotient;
    e.channel = plane.rest;
  }
  e.row = ((e.at.plane * args.side[0].to + e.at.d) * args.side[1].to + e.at.h) * args.side[2].to +
          e.at.w;
  return e;
}

// Groups of few channels: a thread for each element that is written.
template <class T>
__device__ inline void conv_direct(const ConvArguments& args) {
  using V = Wide<T>;
  const long long number = thread_number();
  if (number >= args.rows * args.groups * args.to_group) return;
  const ConvElement e = conv_element(args, number);
  const Split channel = split(e.channel, args.to_group);
  const T* const weight = static_cast<const T*>(args.weight);
  const T* const from = static_cast<const T*>(args.from) +
                        channel.quotient * args.from_group * args.from_step.channel;
  ConvRow row;
  row.set(args, e.row);
  V sum = V(0);
  ConvTap tap{};
  for (tap.d = 0; tap.d < args.side[0].taps; ++tap.d)
    for (tap.h = 0; tap.h < args.side[1].taps; ++tap.h)
      for (tap.w = 0; tap.w < args.side[2].taps; ++tap.w) {
        const long long first = conv_offset(args, row, tap);
        if (first < 0) continue;
        const T* w = weight + weight_offset(args, channel.quotient, channel.rest, tap);
        for (long long c = 0; c < args.from_group; ++c)
          sum = multiply_add(sum, convert<V>(from[first + c * args.from_step.channel]),
                             convert<V>(w[c * args.read_step]));
      }
  write_pixel<T>(args, written_pixel(args, e.row), e.channel, sum);
}

// --- the gradient of the weight: sums over the pixels that were written

// blockIdx: tile of the depth, tile of the channels that were written, group and part.
template <class T, int own, int width, int width_written>
__device__ inline void conv_weight_tile(const ConvArguments& args) {
  using V = Wide<T>;
  using Tile = ConvTile<T, own>;
  constexpr int kSide = Tile::kSide, kDepth = Tile::kDepth;
  constexpr int kAcross = kSide / width, kDown = kThreads / kAcross, kTimes = kDepth / kDown;
  constexpr int kOver = kSide / width_written, kUnder = kThreads / kOver,
                kOften = kDepth / kUnder;
  __shared__ Tile tile;
  const int thread = static_cast<int>(threadIdx.x);
  const int across = thread % kAcross * width, down = thread / kAcross;
  const int over = thread % kOver * width_written, under = thread / kOver;
  const long long first_column = static_cast<long long>(blockIdx.x) * kSide;
  const long long first_channel = static_cast<long long>(blockIdx.y) * kSide;
  ConvTap tap;
  tap.set(args, first_column + across);

  const Split at = split(blockIdx.z, args.parts);
  const long long group = at.quotient, part = at.rest;
  const T* const from =
      static_cast<const T*>(args.from) + group * args.from_group * args.from_step.channel;
  const long long channel = first_channel + over;
  const T* const written = static_cast<const T*>(args.to_read) +
                           (group * args.to_group + channel) * args.to_step.channel;
  const long long begin = part * args.part;
  const long long end = begin + args.part < args.rows ? begin + args.part : args.rows;
  ConvSums<T, own> sums;
  Pack<T, width> b[kTimes];
  Pack<T, width_written> a[kOften];
  const auto read = [&](long long row) {
#pragma unroll
    for (int i = 0; i < kTimes; ++i) {
      const long long pixel = row + down + i * kDown;
      ConvRow windows;
      windows.set(args, pixel < end ? pixel : args.rows);
      b[i] = load_pack<T, width>(from, conv_offset(args, windows, tap));
    }
#pragma unroll
    for (int i = 0; i < kOften; ++i) {
      const long long pixel = row + under + i * kUnder;
      const bool there = pixel < end && channel < args.to_group;
      a[i] = load_pack<T, width_written>(written, there ? written_pixel(args, pixel) : -1);
    }
  };
  const auto keep = [&](int buffer) {
#pragma unroll
    for (int t = 0; t < kTimes; ++t)
#pragma unroll
      for (int i = 0; i < width; ++i)
        tile.right[buffer][down + t * kDown][across + i] = convert<V>(b[t].at[i]);
#pragma unroll
    for (int t = 0; t < kOften; ++t)
#pragma unroll
      for (int i = 0; i < width_written; ++i)
        tile.left[buffer][under + t * kUnder][over + i] = convert<V>(a[t].at[i]);
  };
  read(begin);
  keep(0);
  __syncthreads();
  int buffer = 0;
  for (long long row = begin; row < end; row += kDepth, buffer ^= 1) {
    const bool more = row + kDepth < end;
    if (more) read(row + kDepth);
    sums.add(tile, buffer);
    if (more) keep(buffer ^ 1);
    __syncthreads();
  }
#pragma unroll
  for (int y = 0; y < own; ++y) {
    const long long c = first_channel + ConvSums<T, own>::place(thread / 16, y);
    if (c >= args.to_group) continue;
#pragma unroll
    for (int x = 0; x < own; ++x) {
      const long long column = first_column + ConvSums<T, own>::place(thread % 16, x);
      if (column < args.depth)
        static_cast<V*>(args.partial)[((part * args.groups + group) * args.to_group + c) *
                                          args.depth +
                                      column] = sums.sum[y][x];
    }
  }
}

// Groups of few channels: a thread for each element of the weight and a part (blockIdx.y).
template <class T>
__device__ inline void conv_weight_direct(const ConvArguments& args) {
  using V = Wide<T>;
  const long long number = thread_number();
  const long long channels = args.groups * args.to_group;
  if (number >= channels * args.depth) return;
  const Split at = split(number, channels);  // neighbours have neighbouring channels
  const long long group = split(at.rest, args.to_group).quotient;
  ConvTap tap;
  tap.set(args, at.quotient);
  const T* const from =
      static_cast<const T*>(args.from) + group * args.from_group * args.from_step.channel;
  const T* const written = static_cast<const T*>(args.to_read) + at.rest * args.to_step.channel;
  const long long begin = blockIdx.y * args.part;
  const long long end = begin + args.part < args.rows ? begin + args.part : args.rows;
  V sum = V(0);
  for (long long row = begin; row < end; ++row) {
    ConvRow windows;
    windows.set(args, row);
    const long long offset = conv_offset(args, windows, tap);
    if (offset < 0) continue;
    sum = multiply_add(sum, convert<V>(from[offset]),
                       convert<V>(written[written_pixel(args, row)]));
  }
  static_cast<V*>(args.partial)[(blockIdx.y * channels + at.rest) * args.depth + at.quotient] = sum;
}

// The parts of the sums of each element of the weight.
template <class T>
__device__ inline void conv_weight_join(const ConvArguments& args) {
  using V = Wide<T>;
  const long long number = thread_number(), all = args.groups * args.to_group * args.depth;
  if (number >= all) return;
  V sum = V(0);
  for (long long p = 0; p < args.parts; ++p)
    sum = scalar::add(sum, static_cast<const V*>(args.partial)[p * all + number], V(1));
  const Split depth = split(number, args.depth), channel = split(depth.quotient, args.to_group);
  ConvTap tap;
  tap.set(args, depth.rest);
  static_cast<T*>(args.to)[weight_offset(args, channel.quotient, channel.rest, tap)] =
      convert<T>(sum);
}

// Adds a number for each channel to an image whose channels are neighbours.
template <class T, int width>
__device__ inline void add_bias_to_pixels(const PixelBias& args) {
  using V = Wide<T>;
  const long long number = thread_number();
  if (number >= args.packs) return;
  V pixel[width], bias[width];
  load_pack<width>(static_cast<const T*>(args.to), number, pixel);
  load_pack<width>(static_cast<const T*>(args.bias), split(number, args.packs_of_pixel).rest, bias);
#pragma unroll
  for (int i = 0; i < width; ++i) pixel[i] += bias[i];
  store_pack<width>(static_cast<T*>(args.to), number, pixel);
}

}  // namespace fb::device
