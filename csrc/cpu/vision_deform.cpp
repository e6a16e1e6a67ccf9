// Deformable convolutions: the pixels under taps that offsets move and a mask scales.
#include <algorithm>
#include <cmath>
#include <vector>

#include "cpu/threads.h"
#include "cpu/vision.h"

namespace fb::cpu {
namespace {

// A point between four pixels; -1 stands for a pixel outside, which counts as zero.
template <class T>
struct Sample {
  int64_t pixel[4] = {-1, -1, -1, -1};
  T down = 0, across = 0, factor = 1;

  void read(const T* plane, T (&values)[4]) const {
    for (int i = 0; i < 4; ++i) values[i] = pixel[i] < 0 ? T{0} : plane[pixel[i]];
  }
  T weight(int i) const { return (i < 2 ? 1 - down : down) * (i % 2 == 0 ? 1 - across : across); }
};

template <class T>
Sample<T> sample_at(T y, T x, T factor, const ImageBatch& shape) {
  Sample<T> sample;
  sample.factor = factor;
  // What is outside counts as zero, but for NaN, which reaches the result as a fraction.
  if (!(y > -1 && y < static_cast<T>(shape.height) && x > -1 && x < static_cast<T>(shape.width))) {
    if (std::isnan(y) || std::isnan(x)) sample.down = sample.across = y + x;
    return sample;
  }
  const T top = std::floor(y), left = std::floor(x);
  sample.down = y - top;
  sample.across = x - left;
  for (int i = 0; i < 4; ++i) {
    const int64_t row = static_cast<int64_t>(top) + i / 2;
    const int64_t column = static_cast<int64_t>(left) + i % 2;
    if (row >= 0 && row < shape.height && column >= 0 && column < shape.width)
      sample.pixel[i] = row * shape.width + column;
  }
  return sample;
}

// The arrays of one image.
template <class T>
struct Image {
  const T *pixels, *offset, *mask;  // no mask: nullptr

  explicit Image(const DeformImage& image)
      : pixels(static_cast<const T*>(image.pixels)),
        offset(static_cast<const T*>(image.offset)),
        mask(static_cast<const T*>(image.mask)) {}
};

// The points that a tap reads, one for every pixel of the result.
template <class T>
void samples_of(const DeformPlan& shape, const Image<T>& image, int64_t group, int64_t tap,
                std::vector<Sample<T>>& samples) {
  samples.resize(static_cast<size_t>(shape.pixels()));
  const int64_t number = group * shape.taps() + tap;
  const T* offset = image.offset + 2 * number * shape.pixels();
  const T* mask = image.mask == nullptr ? nullptr : image.mask + number * shape.pixels();
  const int64_t top = tap / shape.across.kernel * shape.down.dilation - shape.down.padding;
  const int64_t left = tap % shape.across.kernel * shape.across.dilation - shape.across.padding;
  for (int64_t i = 0; i < shape.pixels(); ++i) {
    const int64_t row = top + i / shape.across.result * shape.down.stride;
    const int64_t column = left + i % shape.across.result * shape.across.stride;
    samples[static_cast<size_t>(i)] = sample_at(static_cast<T>(row) + offset[i],
                                                static_cast<T>(column) + offset[shape.pixels() + i],
                                                mask == nullptr ? T{1} : mask[i], shape.input);
  }
}

// Positions as a loop over channels reads them: four pixels each, and their weights with the
// factor. Pixels outside are those behind the end of a plane, where `padded` has a zero.
template <class T>
struct Reads {
  std::vector<int64_t> pixel;
  std::vector<T> weight;

  void take(const std::vector<Sample<T>>& samples, int64_t outside) {
    pixel.resize(4 * samples.size());
    weight.resize(4 * samples.size());
    for (size_t n = 0; n < samples.size(); ++n)
      for (size_t i = 0; i < 4; ++i) {
        const int64_t at = samples[n].pixel[i];
        pixel[4 * n + i] = at < 0 ? outside : at;
        weight[4 * n + i] = samples[n].weight(static_cast<int>(i)) * samples[n].factor;
      }
  }
};

template <class T>
std::vector<T> padded(const ImageBatch& shape, const T* pixels) {
  const int64_t step = shape.pixels() + 1;
  std::vector<T> planes(static_cast<size_t>(shape.channels * step));
  for (int64_t c = 0; c < shape.channels; ++c)
    std::copy_n(pixels + c * shape.pixels(), shape.pixels(), planes.data() + c * step);
  return planes;
}

// What the taps see, as the matrix that weight is multiplied with: a row for every channel and tap.
template <class T>
void columns_of(const DeformPlan& shape, const Image<T>& image, T* columns) {
  const int64_t channels = shape.channels_of_offset(), pixels = shape.pixels();
  const std::vector<T> planes = padded(shape.input, image.pixels);
  parallel_for(shape.offset_groups * shape.taps(), 1, [&](int64_t begin, int64_t end) {
    std::vector<Sample<T>> samples;
    Reads<T> reads;
    for (int64_t number = begin; number < end; ++number) {
      const int64_t group = number / shape.taps(), tap = number % shape.taps();
      samples_of(shape, image, group, tap, samples);
      reads.take(samples, shape.input.pixels());
      for (int64_t c = group * channels; c < (group + 1) * channels; ++c) {
        const T* plane = planes.data() + c * (shape.input.pixels() + 1);
        T* row = columns + (c * shape.taps() + tap) * pixels;
        const int64_t* at = reads.pixel.data();
        const T* weight = reads.weight.data();
        for (int64_t i = 0; i < pixels; ++i, at += 4, weight += 4)
          row[i] = (weight[0] * plane[at[0]] + weight[1] * plane[at[1]]) +
                   (weight[2] * plane[at[2]] + weight[3] * plane[at[3]]);
      }
    }
  });
}

// The gradients of one image; no mask: nullptr.
template <class T>
struct Gradients {
  T *pixels, *offset, *mask;

  explicit Gradients(const DeformGradients& gradients)
      : pixels(static_cast<T*>(gradients.pixels)),
        offset(static_cast<T*>(gradients.offset)),
        mask(static_cast<T*>(gradients.mask)) {}
};

template <class T>
void spread(const std::vector<Sample<T>>& samples, const T* gradient, T* plane) {
  for (const Sample<T>& sample : samples) {
    const T share = *gradient++ * sample.factor;
    for (int i = 0; i < 4; ++i)
      if (sample.pixel[i] >= 0) plane[sample.pixel[i]] += sample.weight(i) * share;
  }
}

// The gradients of a tap's offsets and mask: sums over the channels of its group.
template <class T>
void move(const DeformPlan& shape, const Image<T>& image, const std::vector<Sample<T>>& samples,
          const T* gradient, int64_t group, int64_t tap, const Gradients<T>& out) {
  const int64_t channels = shape.channels_of_offset(), pixels = shape.pixels();
  const int64_t number = group * shape.taps() + tap;
  T* offset = out.offset + 2 * number * pixels;
  T* mask = out.mask == nullptr ? nullptr : out.mask + number * pixels;
  const int64_t work = std::max<int64_t>(channels * 8, 1);
  parallel_for(pixels, std::max<int64_t>(kGrain / work, 1), [&](int64_t begin, int64_t end) {
    for (int64_t c = 0; c < channels; ++c) {
      const int64_t channel = group * channels + c;
      const T* plane = image.pixels + channel * shape.input.pixels();
      const T* row = gradient + (channel * shape.taps() + tap) * pixels;
      for (int64_t i = begin; i < end; ++i) {
        const Sample<T>& sample = samples[static_cast<size_t>(i)];
        T v[4];
        sample.read(plane, v);
        const T upper = v[0] + (v[1] - v[0]) * sample.across;
        const T lower = v[2] + (v[3] - v[2]) * sample.across;
        const T across = v[1] - v[0] + (v[3] - v[2] - v[1] + v[0]) * sample.down;
        offset[i] += row[i] * sample.factor * (lower - upper);
        offset[pixels + i] += row[i] * sample.factor * across;
        if (mask != nullptr) mask[i] += row[i] * (upper + (lower - upper) * sample.down);
      }
    }
  });
}

template <class T>
void columns_backward(const DeformPlan& shape, const Image<T>& image, const T* gradient,
                      const Gradients<T>& out) {
  const int64_t channels = shape.channels_of_offset(), pixels = shape.pixels();
  std::vector<Sample<T>> samples;
  for (int64_t group = 0; group < shape.offset_groups; ++group)
    for (int64_t tap = 0; tap < shape.taps(); ++tap) {
      samples_of(shape, image, group, tap, samples);
      move(shape, image, samples, gradient, group, tap, out);
      // Taps overlap, channels do not.
      parallel_for(channels, std::max<int64_t>(kGrain / (8 * pixels), 1),
                   [&](int64_t begin, int64_t end) {
                     for (int64_t c = group * channels + begin; c < group * channels + end; ++c)
                       spread(samples, gradient + (c * shape.taps() + tap) * pixels,
                              out.pixels + c * shape.input.pixels());
                   });
    }
}

}  // namespace

void deform_columns(DType dtype, const DeformPlan& plan, const DeformImage& image, void* columns) {
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    columns_of(plan, Image<T>(image), static_cast<T*>(columns));
  });
}

void deform_columns_backward(DType dtype, const DeformPlan& plan, const DeformImage& image,
                             const void* gradient, const DeformGradients& out) {
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    columns_backward(plan, Image<T>(image), static_cast<const T*>(gradient), Gradients<T>(out));
  });
}

}  // namespace fb::cpu
