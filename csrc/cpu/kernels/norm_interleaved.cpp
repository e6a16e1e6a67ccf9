// Normalisation of channels_last images: sums run down columns.
#include <algorithm>
#include <memory>
#include <vector>

#include "cpu/kernels/norm_sets.h"

namespace fb::cpu::FB_ISA {
namespace {

constexpr int64_t kTile = 512;  // columns whose sums stay in the cache
// Rows that are summed in the type of the elements. Few: equal numbers, as in the gradient of
// pooling, round the same way each time, and the gradient of the input is a small difference of
// sums.
constexpr int64_t kNearRows = 32;

// Blocks of rows that share their statistics: the samples, or the whole batch. A block is cut into
// chunks. Narrow rows are taken several at a time, as one row of `width` columns.
struct Rows {
  explicit Rows(const ImageNorm& shape)
      : shape(shape),
        blocks(shape.groups ? shape.batch : 1),
        rows(shape.groups ? shape.plane : shape.batch * shape.plane),
        channels(shape.channels),
        width(channels * repeats(channels)),
        chunk(std::max(2 * kGrain / channels + 1, rows / 64 + 1)),
        chunks((rows + chunk - 1) / chunk) {}

  // Enough narrow rows to fill vectors.
  static int64_t repeats(int64_t channels) {
    constexpr int64_t kMinWidth = 64, kLanesAtMost = 16;
    if (channels >= kMinWidth) return 1;
    return channels % kLanesAtMost == 0 ? kMinWidth / channels : kLanesAtMost;
  }
  // The set that a channel of a block belongs to.
  int64_t set(int64_t block, int64_t c) const {
    return shape.groups ? block * shape.groups + c / (channels / shape.groups) : c;
  }
  int64_t begin(int64_t block, int64_t part) const {
    return (block * rows + part * chunk) * channels;
  }
  int64_t count(int64_t part) const { return std::min(chunk, rows - part * chunk) * channels; }

  const ImageNorm& shape;
  const int64_t blocks, rows, channels, width, chunk, chunks;
};

// Calls tile(first column, columns, first element, rows) to cover all `count` elements of whole
// rows, a few columns at a time.
template <class Tile>
FB_FN void for_tiles(const Rows& rows, int64_t count, Tile tile) {
  const int64_t whole = count / rows.width, left = count % rows.width;
  for (int64_t column = 0; column < rows.width && whole > 0; column += kTile)
    tile(column, std::min(kTile, rows.width - column), column, whole);
  for (int64_t column = 0; column < left; column += kTile)
    tile(column, std::min(kTile, left - column), whole * rows.width + column, 1);
}

// Two sums down each column of a tile: step(Width<W>, first element, column, a, b) adds the terms
// of W elements. A few rows are summed in the type of the elements, then in double.
template <class A, class Step>
FB_FN void sum_columns(const Rows& rows, int64_t start, int64_t columns, int64_t n,
                       double (&first)[kTile], double (&second)[kTile], Step step) {
  for (int64_t begin = 0; begin < n; begin += kNearRows) {
    alignas(kVectorBytes) A a[kTile] = {}, b[kTile] = {};
    for (int64_t r = begin; r < std::min(n, begin + kNearRows); ++r)
      for_vectors<A>(columns, [&](auto width, int64_t i) {
        constexpr int W = decltype(width)::value;
        auto near_a = load<A, W>(a + i), near_b = load<A, W>(b + i);
        step(width, start + r * rows.width + i, i, near_a, near_b);
        put<W>(a + i, near_a);
        put<W>(b + i, near_b);
      });
    for (int64_t i = 0; i < columns; ++i) {
      first[i] += static_cast<double>(a[i]);
      second[i] += static_cast<double>(b[i]);
    }
  }
}

// Deviations are taken from the mean of the first rows, so that no digits cancel when they are
// squared.
template <class T>
void collect_moments(const Rows& rows, const T* x, int64_t count, Moments* result) {
  using A = AccOf<T>;
  constexpr int64_t kFirst = 4;
  for_tiles(rows, count, [&](int64_t column, int64_t columns, int64_t start, int64_t n) {
    alignas(kVectorBytes) A centre[kTile];
    const int64_t few = std::min(kFirst, n);
    for_vectors<A>(columns, [&](auto width, int64_t i) {
      constexpr int W = decltype(width)::value;
      auto total = load<A, W>(x + start + i);
      for (int64_t r = 1; r < few; ++r) total += load<A, W>(x + start + r * rows.width + i);
      put<W>(centre + i, total / static_cast<A>(few));
    });
    double sum[kTile] = {}, squares[kTile] = {};
    sum_columns<A>(rows, start, columns, n, sum, squares,
                   [&](auto width, int64_t at, int64_t i, auto& a, auto& b) {
                     constexpr int W = decltype(width)::value;
                     const auto deviation = load<A, W>(x + at) - load<A, W>(centre + i);
                     a += deviation;
                     b += deviation * deviation;
                   });
    for (int64_t i = 0; i < columns; ++i)
      result[(column + i) % rows.channels].join_block(static_cast<double>(centre[i]), sum[i],
                                                      squares[i], n);
  });
}

struct Sums {
  double total = 0;   // of g
  double moment = 0;  // of g * (x - mean)

  void add(const Sums& more, double factor = 1) {
    total += factor * more.total;
    moment += factor * more.moment;
  }
};

template <class T, class A>
void collect_sums(const Rows& rows, const T* g, const T* x, const A* mean, int64_t count,
                  Sums* result) {
  for_tiles(rows, count, [&](int64_t column, int64_t columns, int64_t start, int64_t n) {
    double total[kTile] = {}, moment[kTile] = {};
    sum_columns<A>(rows, start, columns, n, total, moment,
                   [&](auto width, int64_t at, int64_t i, auto& a, auto& b) {
                     constexpr int W = decltype(width)::value;
                     const auto gradient = load<A, W>(g + at);
                     a += gradient;
                     b += gradient * (load<A, W>(x + at) - load<A, W>(mean + column + i));
                   });
    for (int64_t i = 0; i < columns; ++i) {
      Sums& sums = result[(column + i) % rows.channels];
      sums.total += total[i];
      sums.moment += moment[i];
    }
  });
}

// Numbers by block and column, repeated for each of the rows in a wide row.
template <class A, int K>
class Coefficients {
 public:
  explicit Coefficients(const Rows& rows)
      : rows_(rows), data_(new A[rows.blocks * K * rows.width]) {}
  A* of(int64_t block, int k) const { return data_.get() + (block * K + k) * rows_.width; }
  void set(int64_t block, int k, int64_t channel, A value) const {
    for (int64_t i = channel; i < rows_.width; i += rows_.channels) of(block, k)[i] = value;
  }

 private:
  const Rows& rows_;
  const std::unique_ptr<A[]> data_;
};

// The statistics of a block's sets from the moments of its chunks, by channel.
template <class A>
void write_sets(const Rows& rows, int64_t block, const Moments* parts, const NormForward& numbers) {
  std::vector<Moments> channels(parts, parts + rows.channels);
  for (int64_t part = 1; part < rows.chunks; ++part) {
    const Moments* const later = parts + part * rows.channels;
    const double weight =
        static_cast<double>(later->n) / static_cast<double>(channels[0].n + later->n);
    for (int64_t c = 0; c < rows.channels; ++c)
      channels[c].join(later[c].mean, later[c].m2, later[c].n, weight);
  }
  Moments all{0, 0, 0};
  for (int64_t c = 0; c < rows.channels; ++c) {
    const int64_t set = rows.set(block, c);
    all.join(channels[c]);
    if (c + 1 < rows.channels && rows.set(block, c + 1) == set) continue;
    write_statistics<A>(numbers, set, all);
    all = {0, 0, 0};
  }
}

template <class T>
void forward(const ImageNorm& shape, const T* x, T* y, const NormForward& numbers) {
  using A = AccOf<T>;
  const Rows rows(shape);
  const int64_t channels = rows.channels;
  const bool given = !numbers.variance;
  std::vector<Moments> parts(given ? 0 : rows.blocks * rows.chunks * channels, Moments{0, 0, 0});
  const Coefficients<A, 3> coefficients(rows);
  over_sets(
      rows.blocks, rows.chunks, rows.chunk * channels,
      [&](int64_t block, int64_t part) {
        if (given) return;
        collect_moments(rows, x + rows.begin(block, part), rows.count(part),
                        &parts[(block * rows.chunks + part) * channels]);
      },
      [&](int64_t block) {
        if (!given) write_sets<A>(rows, block, &parts[block * rows.chunks * channels], numbers);
        for (int64_t c = 0; c < channels; ++c) {
          const int64_t set = rows.set(block, c);
          coefficients.set(block, 0, c, static_cast<const A*>(numbers.mean)[set]);
          coefficients.set(
              block, 1, c,
              static_cast<const A*>(numbers.rstd)[set] * static_cast<const A*>(numbers.weight)[c]);
          coefficients.set(block, 2, c, static_cast<const A*>(numbers.bias)[c]);
        }
      },
      [&](int64_t block, int64_t part) {
        const A* const mean = coefficients.of(block, 0);
        const A* const scale = coefficients.of(block, 1);
        const A* const bias = coefficients.of(block, 2);
        const int64_t first = rows.begin(block, part), last = first + rows.count(part);
        for (int64_t at = first; at < last; at += rows.width)
          for_vectors<A>(std::min(rows.width, last - at), [&](auto width, int64_t i) {
            constexpr int W = decltype(width)::value;
            const auto deviation = load<A, W>(x + at + i) - load<A, W>(mean + i);
            put<W>(y + at + i, deviation * load<A, W>(scale + i) + load<A, W>(bias + i));
          });
      });
}

// The gradient of the input is g * coefficient 1 + (x - mean) * coefficient 2 + coefficient 3: sets
// those of a block from the sums of its channels.
template <class A>
void set_slopes(const Rows& rows, int64_t block, const Sums* channels, const NormBackward& numbers,
                const Coefficients<A, 4>& coefficients) {
  const A* const weight = static_cast<const A*>(numbers.weight);
  Sums all;
  for (int64_t c = 0, first = 0; c < rows.channels; ++c) {
    all.add(channels[c], static_cast<double>(weight[c]));
    const int64_t set = rows.set(block, c);
    if (c + 1 < rows.channels && rows.set(block, c + 1) == set) continue;
    const SetGradient<A> rest(0, static_cast<const A*>(numbers.rstd)[set], numbers.given, all.total,
                              all.moment, rows.shape.set_size());
    for (; first <= c; ++first) {
      coefficients.set(block, 1, first, rest.rstd * weight[first]);
      coefficients.set(block, 2, first, rest.slope);
      coefficients.set(block, 3, first, rest.shift);
    }
    all = {};
  }
}

template <class T>
void backward(const ImageNorm& shape, const T* g, const T* x, T* out, const NormBackward& numbers) {
  using A = AccOf<T>;
  const Rows rows(shape);
  const int64_t channels = rows.channels;
  const A* const rstd = static_cast<const A*>(numbers.rstd);
  std::vector<Sums> parts(rows.blocks * rows.chunks * channels);
  std::vector<Sums> sums(rows.blocks * channels);
  const Coefficients<A, 4> coefficients(rows);
  for (int64_t block = 0; block < rows.blocks; ++block)
    for (int64_t c = 0; c < channels; ++c)
      coefficients.set(block, 0, c, static_cast<const A*>(numbers.mean)[rows.set(block, c)]);
  over_sets(
      rows.blocks, rows.chunks, rows.chunk * channels,
      [&](int64_t block, int64_t part) {
        const int64_t begin = rows.begin(block, part);
        collect_sums(rows, g + begin, x + begin, coefficients.of(block, 0), rows.count(part),
                     &parts[(block * rows.chunks + part) * channels]);
      },
      [&](int64_t block) {
        Sums* const of_channel = &sums[block * channels];
        for (int64_t part = 0; part < rows.chunks; ++part)
          for (int64_t c = 0; c < channels; ++c)
            of_channel[c].add(parts[(block * rows.chunks + part) * channels + c]);
        set_slopes(rows, block, of_channel, numbers, coefficients);
      },
      [&](int64_t block, int64_t part) {
        const A* const mean = coefficients.of(block, 0);
        const A* const scale = coefficients.of(block, 1);
        const A* const slope = coefficients.of(block, 2);
        const A* const shift = coefficients.of(block, 3);
        const int64_t first = rows.begin(block, part), last = first + rows.count(part);
        for (int64_t at = first; at < last; at += rows.width)
          for_vectors<A>(std::min(rows.width, last - at), [&](auto width, int64_t i) {
            constexpr int W = decltype(width)::value;
            const auto deviation = load<A, W>(x + at + i) - load<A, W>(mean + i);
            put<W>(out + at + i, load<A, W>(g + at + i) * load<A, W>(scale + i) +
                                     deviation * load<A, W>(slope + i) + load<A, W>(shift + i));
          });
      });
  for (int64_t c = 0; c < channels; ++c) {
    Sums all;
    for (int64_t block = 0; block < rows.blocks; ++block) {
      all.total += sums[block * channels + c].total;
      all.moment +=
          sums[block * channels + c].moment * static_cast<double>(rstd[rows.set(block, c)]);
    }
    static_cast<A*>(numbers.bias_grad)[c] = static_cast<A>(all.total);
    static_cast<A*>(numbers.weight_grad)[c] = static_cast<A>(all.moment);
  }
}

}  // namespace

void norm_interleaved(DType dtype, const ImageNorm& shape, const void* x, void* y,
                      const NormForward& numbers) {
  with_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    forward(shape, static_cast<const T*>(x), static_cast<T*>(y), numbers);
  });
}

void norm_interleaved_backward(DType dtype, const ImageNorm& shape, const void* gradient,
                               const void* x, void* out, const NormBackward& numbers) {
  with_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    backward(shape, static_cast<const T*>(gradient), static_cast<const T*>(x), static_cast<T*>(out),
             numbers);
  });
}

}  // namespace fb::cpu::FB_ISA
