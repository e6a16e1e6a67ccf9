// Convolutions whose every tap is moved by an offset (https://arxiv.org/abs/1703.06211) and scaled
// by a mask (https://arxiv.org/abs/1811.11168).
#include <algorithm>
#include <cmath>
#include <vector>

#include "cpu/copy.h"
#include "cpu/gemm.h"
#include "cpu/threads.h"
#include "gen/ops/vision.h"
#include "ops/vision_regions.h"

namespace fb::ops {
namespace {

int64_t extent(IntSpan values, size_t i, const char* name, int64_t least) {
  FB_CHECK(values.size() == 2, name, " must have two elements, got ", values);
  FB_CHECK(values[i] >= least && values[i] <= (int64_t{1} << 31), name, " must be at least ", least,
           ", got ", values);
  return values[i];
}

// One of the two directions of a convolution.
struct Side {
  int64_t size, kernel, stride, padding, dilation, result;

  Side(int64_t size, int64_t kernel, size_t i, IntSpan strides, IntSpan paddings, IntSpan dilations)
      : size(size),
        kernel(kernel),
        stride(extent(strides, i, "stride", 1)),
        padding(extent(paddings, i, "padding", 0)),
        dilation(extent(dilations, i, "dilation", 1)) {
    FB_CHECK(kernel > 0 && kernel < (int64_t{1} << 28), "weight must not be empty, got a side of ",
             kernel);
    const int64_t rest = size + 2 * padding - (dilation * (kernel - 1) + 1);
    result = rest < 0 ? 0 : rest / stride + 1;
    FB_CHECK(result > 0, "a kernel of ", kernel, " with dilation ", dilation,
             " does not fit into an input of ", size, " with padding ", padding);
  }
};

// How the tensors of a convolution fit together.
struct Deform {
  Shape input;
  Side down, across;
  int64_t filters, groups = 0, offset_groups = 0;

  Deform(const Tensor& images, const Tensor& offset, const Tensor& mask, const Tensor& weight,
         IntSpan stride, IntSpan padding, IntSpan dilation)
      : input(images.sizes()),
        down(input.height, kernel_side(weight, 2), 0, stride, padding, dilation),
        across(input.width, kernel_side(weight, 3), 1, stride, padding, dilation),
        filters(weight.size(0)) {
    check_weight(weight);
    check_offset(offset);
    if (mask.defined()) check_planes(mask, "mask", offset_groups * taps());
    for (const Tensor* each : {&offset, &mask, &weight})
      FB_CHECK(!each->defined() || each->dtype() == images.dtype(),
               "input, offset, mask and weight must have one dtype, got ", images.dtype(), " and ",
               each->dtype());
  }

  int64_t taps() const { return down.kernel * across.kernel; }
  int64_t pixels() const { return down.result * across.result; }
  int64_t rows() const { return input.channels * taps(); }
  int64_t channels_of_offset() const { return input.channels / offset_groups; }

 private:
  static int64_t kernel_side(const Tensor& weight, int64_t dim) {
    FB_CHECK(weight.dim() == 4, "weight must have shape (filters, channels, height, width), got ",
             weight.sizes());
    return weight.size(dim);
  }

  void check_weight(const Tensor& weight) {
    const int64_t channels = weight.size(1);
    FB_CHECK(channels > 0 && input.channels > 0 && input.channels % channels == 0,
             "input must have a multiple of the ", channels, " channels of weight, got ",
             input.channels);
    groups = input.channels / channels;
    FB_CHECK(filters % groups == 0, "weight must have a multiple of ", groups,
             " filters, as many for each group of channels, got ", filters);
  }

  void check_offset(const Tensor& offset) {
    FB_CHECK(offset.dim() == 4, "offset must have shape (batch, planes, height, width), got ",
             offset.sizes());
    const int64_t planes = offset.size(1);
    FB_CHECK(planes > 0 && planes % (2 * taps()) == 0, "offset must have a multiple of 2 * ",
             down.kernel, " * ", across.kernel, " planes, two for each element of the kernel, got ",
             planes);
    offset_groups = planes / (2 * taps());
    FB_CHECK(input.channels % offset_groups == 0, "the ", input.channels,
             " channels of input cannot be shared by ", offset_groups, " groups of offsets");
    check_planes(offset, "offset", planes);
  }

  void check_planes(const Tensor& given, const char* name, int64_t planes) const {
    const int64_t sizes[] = {input.batch, planes, down.result, across.result};
    const IntSpan expected(sizes, 4);
    FB_CHECK(given.sizes() == expected, name, " must have shape ", expected, ", got ",
             given.sizes());
  }
};

// A place between four pixels; -1 stands for one that is outside and counts as zero.
template <class T>
struct Place {
  int64_t pixel[4] = {-1, -1, -1, -1};
  T down = 0, across = 0, factor = 1;

  void read(const T* plane, T (&values)[4]) const {
    for (int i = 0; i < 4; ++i) values[i] = pixel[i] < 0 ? T{0} : plane[pixel[i]];
  }
  T weight(int i) const { return (i < 2 ? 1 - down : down) * (i % 2 == 0 ? 1 - across : across); }
};

template <class T>
Place<T> place_at(T y, T x, T factor, const Shape& shape) {
  Place<T> place;
  place.factor = factor;
  // What is outside counts as zero, but for NaN, which reaches the result as a fraction.
  if (!(y > -1 && y < static_cast<T>(shape.height) && x > -1 && x < static_cast<T>(shape.width))) {
    if (std::isnan(y) || std::isnan(x)) place.down = place.across = y + x;
    return place;
  }
  const T top = std::floor(y), left = std::floor(x);
  place.down = y - top;
  place.across = x - left;
  for (int i = 0; i < 4; ++i) {
    const int64_t row = static_cast<int64_t>(top) + i / 2;
    const int64_t column = static_cast<int64_t>(left) + i % 2;
    if (row >= 0 && row < shape.height && column >= 0 && column < shape.width)
      place.pixel[i] = row * shape.width + column;
  }
  return place;
}

// The tensors of one image.
template <class T>
struct Image {
  const T *pixels, *offset, *mask;  // no mask: nullptr
};

// Where a tap looks for every pixel of the result.
template <class T>
void places_of(const Deform& shape, const Image<T>& image, int64_t group, int64_t tap,
               std::vector<Place<T>>& places) {
  places.resize(static_cast<size_t>(shape.pixels()));
  const int64_t number = group * shape.taps() + tap;
  const T* offset = image.offset + 2 * number * shape.pixels();
  const T* mask = image.mask == nullptr ? nullptr : image.mask + number * shape.pixels();
  const int64_t top = tap / shape.across.kernel * shape.down.dilation - shape.down.padding;
  const int64_t left = tap % shape.across.kernel * shape.across.dilation - shape.across.padding;
  for (int64_t i = 0; i < shape.pixels(); ++i) {
    const int64_t row = top + i / shape.across.result * shape.down.stride;
    const int64_t column = left + i % shape.across.result * shape.across.stride;
    places[static_cast<size_t>(i)] = place_at(static_cast<T>(row) + offset[i],
                                              static_cast<T>(column) + offset[shape.pixels() + i],
                                              mask == nullptr ? T{1} : mask[i], shape.input);
  }
}

// Places as a loop over channels reads them: four pixels each, and their weights with the factor.
// Pixels outside are those behind the end of a plane, where `padded` has a zero.
template <class T>
struct Reads {
  std::vector<int64_t> pixel;
  std::vector<T> weight;

  void take(const std::vector<Place<T>>& places, int64_t outside) {
    pixel.resize(4 * places.size());
    weight.resize(4 * places.size());
    for (size_t n = 0; n < places.size(); ++n)
      for (size_t i = 0; i < 4; ++i) {
        const int64_t at = places[n].pixel[i];
        pixel[4 * n + i] = at < 0 ? outside : at;
        weight[4 * n + i] = places[n].weight(static_cast<int>(i)) * places[n].factor;
      }
  }
};

template <class T>
std::vector<T> padded(const Shape& shape, const T* pixels) {
  const int64_t step = shape.pixels() + 1;
  std::vector<T> planes(static_cast<size_t>(shape.channels * step));
  for (int64_t c = 0; c < shape.channels; ++c)
    std::copy_n(pixels + c * shape.pixels(), shape.pixels(), planes.data() + c * step);
  return planes;
}

// What the taps see, as the matrix that weight is multiplied with: a row for every channel and tap.
template <class T>
void columns_of(const Deform& shape, const Image<T>& image, T* columns) {
  const int64_t channels = shape.channels_of_offset(), pixels = shape.pixels();
  const std::vector<T> planes = padded(shape.input, image.pixels);
  cpu::parallel_for(shape.offset_groups * shape.taps(), 1, [&](int64_t begin, int64_t end) {
    std::vector<Place<T>> places;
    Reads<T> reads;
    for (int64_t number = begin; number < end; ++number) {
      const int64_t group = number / shape.taps(), tap = number % shape.taps();
      places_of(shape, image, group, tap, places);
      reads.take(places, shape.input.pixels());
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
};

template <class T>
void spread(const std::vector<Place<T>>& places, const T* gradient, T* plane) {
  for (const Place<T>& place : places) {
    const T share = *gradient++ * place.factor;
    for (int i = 0; i < 4; ++i)
      if (place.pixel[i] >= 0) plane[place.pixel[i]] += place.weight(i) * share;
  }
}

// What moving a tap, and scaling it, would change: the sums over the channels of its group.
template <class T>
void move(const Deform& shape, const Image<T>& image, const std::vector<Place<T>>& places,
          const T* gradient, int64_t group, int64_t tap, const Gradients<T>& out) {
  const int64_t channels = shape.channels_of_offset(), pixels = shape.pixels();
  const int64_t number = group * shape.taps() + tap;
  T* offset = out.offset + 2 * number * pixels;
  T* mask = out.mask == nullptr ? nullptr : out.mask + number * pixels;
  const int64_t work = std::max<int64_t>(channels * 8, 1);
  cpu::parallel_for(pixels, std::max<int64_t>(cpu::kGrain / work, 1),
                    [&](int64_t begin, int64_t end) {
                      for (int64_t c = 0; c < channels; ++c) {
                        const int64_t channel = group * channels + c;
                        const T* plane = image.pixels + channel * shape.input.pixels();
                        const T* row = gradient + (channel * shape.taps() + tap) * pixels;
                        for (int64_t i = begin; i < end; ++i) {
                          const Place<T>& place = places[static_cast<size_t>(i)];
                          T v[4];
                          place.read(plane, v);
                          const T upper = v[0] + (v[1] - v[0]) * place.across;
                          const T lower = v[2] + (v[3] - v[2]) * place.across;
                          const T across = v[1] - v[0] + (v[3] - v[2] - v[1] + v[0]) * place.down;
                          offset[i] += row[i] * place.factor * (lower - upper);
                          offset[pixels + i] += row[i] * place.factor * across;
                          if (mask != nullptr)
                            mask[i] += row[i] * (upper + (lower - upper) * place.down);
                        }
                      }
                    });
}

template <class T>
void columns_backward(const Deform& shape, const Image<T>& image, const T* gradient,
                      const Gradients<T>& out) {
  const int64_t channels = shape.channels_of_offset(), pixels = shape.pixels();
  std::vector<Place<T>> places;
  for (int64_t group = 0; group < shape.offset_groups; ++group)
    for (int64_t tap = 0; tap < shape.taps(); ++tap) {
      places_of(shape, image, group, tap, places);
      move(shape, image, places, gradient, group, tap, out);
      // Taps overlap, channels do not.
      cpu::parallel_for(channels, std::max<int64_t>(cpu::kGrain / (8 * pixels), 1),
                        [&](int64_t begin, int64_t end) {
                          for (int64_t c = group * channels + begin; c < group * channels + end;
                               ++c)
                            spread(places, gradient + (c * shape.taps() + tap) * pixels,
                                   out.pixels + c * shape.input.pixels());
                        });
    }
}

// The tensors of a call in one type that is computed with, and the images in them.
struct Operands {
  DType dtype;
  Tensor input, offset, mask, weight;

  Operands(const Tensor& input, const Tensor& offset, const Tensor& mask, const Tensor& weight)
      : dtype(working_type(input.dtype())),
        input(ready(input)),
        offset(ready(offset)),
        mask(mask.defined() ? ready(mask) : mask),
        weight(ready(weight)) {}

  Tensor ready(const Tensor& t) const { return contiguous(cast(t, dtype)); }

  template <class T>
  Image<T> image(const Deform& shape, int64_t i) const {
    const int64_t planes = shape.offset_groups * shape.taps() * shape.pixels();
    return {input.data_as<T>() + i * shape.input.image(), offset.data_as<T>() + i * 2 * planes,
            mask.defined() ? mask.data_as<T>() + i * planes : nullptr};
  }
};

Tensor zeros(IntSpan sizes, DType dtype, Device device) {
  const Tensor result = make_tensor(sizes, dtype, device);
  cpu::fill(result, 0);
  return result;
}

}  // namespace

Tensor compute::_deform_conv2d(const Tensor& input, const Tensor& offset, const Tensor& mask,
                               const Tensor& weight, const Tensor& bias, IntSpan stride,
                               IntSpan padding, IntSpan dilation) {
  const Deform shape(input, offset, mask, weight, stride, padding, dilation);
  FB_CHECK(!bias.defined() || (bias.dim() == 1 && bias.size(0) == shape.filters),
           "bias must have an element for each of the ", shape.filters, " filters, got shape ",
           bias.sizes());
  const Operands given(input, offset, mask, weight);
  const Tensor columns = make_tensor({shape.rows(), shape.pixels()}, given.dtype, input.device());
  const Tensor out =
      make_tensor({shape.input.batch, shape.filters, shape.down.result, shape.across.result},
                  given.dtype, input.device());
  if (bias.defined())
    cpu::copy(out, as_view(cast(bias, given.dtype), out.sizes(), Dims{0, bias.stride(0), 0, 0}));
  const int64_t m = shape.filters / shape.groups, n = shape.pixels(),
                k = shape.rows() / shape.groups;
  visit_floating(given.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < shape.input.batch; ++i) {
      columns_of(shape, given.image<T>(shape, i), columns.data_as<T>());
      cpu::gemm(
          {.dtype = given.dtype,
           .batch = shape.groups,
           .m = m,
           .n = n,
           .k = k,
           .a = {.data = given.weight.data_as<T>(), .ld = k, .batch_stride = m * k},
           .b = {.data = columns.data_as<T>(), .ld = n, .batch_stride = k * n},
           .c = {.data = out.data_as<T>() + i * shape.filters * n, .ld = n, .batch_stride = m * n},
           .accumulate = bias.defined()});
    }
  });
  return cast(out, input.dtype());
}

std::tuple<Tensor, Tensor, Tensor, Tensor> compute::_deform_conv2d_backward(
    const Tensor& gradient, const Tensor& input, const Tensor& offset, const Tensor& mask,
    const Tensor& weight, IntSpan stride, IntSpan padding, IntSpan dilation) {
  const Deform shape(input, offset, mask, weight, stride, padding, dilation);
  const int64_t sizes[] = {shape.input.batch, shape.filters, shape.down.result,
                           shape.across.result};
  const IntSpan expected(sizes, 4);
  FB_CHECK(gradient.sizes() == expected, "gradient must have shape ", expected, ", got ",
           gradient.sizes());
  const Operands given(input, offset, mask, weight);
  const DType dtype = given.dtype;
  const Device device = input.device();
  const Tensor result = given.ready(gradient);
  const Tensor columns = make_tensor({shape.rows(), shape.pixels()}, dtype, device);
  const Tensor to_input = zeros(input.sizes(), dtype, device),
               to_offset = zeros(offset.sizes(), dtype, device);
  const Tensor to_mask =
      mask.defined() ? zeros(mask.sizes(), dtype, device) : make_tensor({0}, dtype, device);
  const Tensor to_weight = zeros(weight.sizes(), dtype, device);
  const int64_t m = shape.filters / shape.groups, n = shape.pixels(),
                k = shape.rows() / shape.groups;
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* const seen = columns.data_as<T>();
    for (int64_t i = 0; i < shape.input.batch; ++i) {
      const Image<T> image = given.image<T>(shape, i);
      const T* above = result.data_as<T>() + i * shape.filters * n;
      columns_of(shape, image, seen);
      cpu::gemm({.dtype = dtype,
                 .batch = shape.groups,
                 .m = m,
                 .n = k,
                 .k = n,
                 .a = {.data = above, .ld = n, .batch_stride = m * n},
                 .b = {.data = seen, .ld = n, .transposed = true, .batch_stride = k * n},
                 .c = {.data = to_weight.data_as<T>(), .ld = k, .batch_stride = m * k},
                 .accumulate = true});
      cpu::gemm({.dtype = dtype,
                 .batch = shape.groups,
                 .m = k,
                 .n = n,
                 .k = m,
                 .a = {.data = given.weight.data_as<T>(),
                       .ld = k,
                       .transposed = true,
                       .batch_stride = m * k},
                 .b = {.data = above, .ld = n, .batch_stride = m * n},
                 .c = {.data = seen, .ld = n, .batch_stride = k * n}});
      const int64_t planes = shape.offset_groups * shape.taps() * n;
      columns_backward(shape, image, seen,
                       Gradients<T>{to_input.data_as<T>() + i * shape.input.image(),
                                    to_offset.data_as<T>() + i * 2 * planes,
                                    mask.defined() ? to_mask.data_as<T>() + i * planes : nullptr});
    }
  });
  const auto back = [&](const Tensor& t) { return cast(t, input.dtype()); };
  return {back(to_input), back(to_offset), back(to_mask), back(to_weight)};
}

}  // namespace fb::ops
