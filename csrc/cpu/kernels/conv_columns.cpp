// Windows of images as rows of a matrix, and back.
#include <algorithm>
#include <cstring>

#include "cpu/conv_impl.h"
#include "cpu/kernels/simd.h"

namespace fb::cpu::FB_ISA {
namespace {

// Calls f(at, pixel, n) for the runs of a window whose elements are adjacent in its row of columns
// and in the image: n elements from `at` of the row lie at `pixel` of the image; a negative pixel
// stands for padding.
template <class F>
void visit_window(const ConvShape& s, int64_t group, int64_t od, int64_t oh, int64_t ow, F&& f) {
  const int64_t channels = s.group_in(), pixel = s.in_channels;
  const int64_t x0 = ow * s.stride[2] - s.padding[2];
  const bool whole_rows = s.groups == 1 && s.dilation[2] == 1;
  const int64_t from = std::clamp<int64_t>(-x0, 0, s.kernel[2]);
  const int64_t to = std::clamp<int64_t>(s.in[2] - x0, from, s.kernel[2]);
  int64_t at = 0;
  for (int64_t kd = 0; kd < s.kernel[0]; ++kd) {
    const int64_t z = od * s.stride[0] - s.padding[0] + kd * s.dilation[0];
    for (int64_t kh = 0; kh < s.kernel[1]; ++kh, at += s.kernel[2] * channels) {
      const int64_t y = oh * s.stride[1] - s.padding[1] + kh * s.dilation[1];
      if (z < 0 || z >= s.in[0] || y < 0 || y >= s.in[1]) {
        f(at, int64_t{-1}, s.kernel[2] * channels);
        continue;
      }
      const int64_t row = (z * s.in[1] + y) * s.in[2];
      if (whole_rows) {
        if (from > 0) f(at, int64_t{-1}, from * channels);
        f(at + from * channels, (row + x0 + from) * pixel, (to - from) * channels);
        if (to < s.kernel[2]) f(at + to * channels, int64_t{-1}, (s.kernel[2] - to) * channels);
        continue;
      }
      for (int64_t kw = 0; kw < s.kernel[2]; ++kw) {
        const int64_t x = x0 + kw * s.dilation[2];
        const bool inside = x >= 0 && x < s.in[2];
        f(at + kw * channels, inside ? (row + x) * pixel + group * channels : -1, channels);
      }
    }
  }
}

// Calls f(row of columns, at, pixel, n) for all windows of a block.
template <class F>
void visit_block(const ConvShape& s, const ConvBlock& block, F&& f) {
  const int64_t width = s.window() * s.group_in();
  int64_t row = 0;
  for (int64_t line = block.first; line < block.last; ++line) {
    for (int64_t ow = 0; ow < s.out[2]; ++ow, row += width) {
      visit_window(s, block.group, line / s.out[1], line % s.out[1], ow,
                   [&](int64_t at, int64_t pixel, int64_t n) { f(row + at, pixel, n); });
    }
  }
}

int64_t sample_elements(const ConvShape& s) { return s.in_channels * s.in[0] * s.in[1] * s.in[2]; }

template <class T>
void gather(const ConvShape& s, const ConvBlock& block, const void* from, void* to) {
  const T* image = static_cast<const T*>(from) + block.sample * sample_elements(s);
  T* columns = static_cast<T*>(to);
  visit_block(s, block, [&](int64_t at, int64_t pixel, int64_t n) {
    if (pixel < 0) {
      std::fill_n(columns + at, n, T{});
    } else {
      for (int64_t i = 0; i < n; ++i) columns[at + i] = image[pixel + i];
    }
  });
}

template <class T>
void scatter(const ConvShape& s, const ConvBlock& block, const void* from, void* to) {
  const T* columns = static_cast<const T*>(from);
  T* image = static_cast<T*>(to) + block.sample * sample_elements(s);
  visit_block(s, block, [&](int64_t at, int64_t pixel, int64_t n) {
    if (pixel < 0) return;
    for (int64_t i = 0; i < n; ++i) image[pixel + i] = image[pixel + i] + columns[at + i];
  });
}

#if defined(__AVX512F__)
// Adds the columns of a block to one image of one group, a vector of the image at a time: adds what
// all windows over that vector contribute, so that it is loaded and stored only once.
class RowSums {
 public:
  RowSums(const ConvShape& s, const ConvBlock& block, const float* columns, float* image)
      : s_(s),
        block_(block),
        columns_(columns),
        image_(image),
        row_(s.in[2] * s.in_channels),
        run_(s.kernel[2] * s.in_channels),
        step_(s.stride[2] * s.in_channels) {}

  static bool take(const ConvShape& s) {
    return s.groups == 1 && s.dilation[2] == 1 && s.in[0] == 1 && s.out[0] == 1 &&
           s.kernel[0] == 1 && s.kernel[1] <= kMostRuns;
  }

  void operator()() {
    const int64_t top = block_.first * s_.stride[1] - s_.padding[1];
    const int64_t bottom =
        (block_.last - 1) * s_.stride[1] - s_.padding[1] + (s_.kernel[1] - 1) * s_.dilation[1];
    for (int64_t y = std::max<int64_t>(top, 0); y <= std::min(bottom, s_.in[1] - 1); ++y) {
      find_runs(y);
      if (count_ == 0) continue;
      for (int64_t at = 0; at < row_; at += L) add(at, image_ + y * row_ + at);
    }
  }

 private:
  static constexpr int64_t L = kLanes<float>;
  static constexpr int64_t kMostRuns = 16;

  // Where the first window's run of columns for row y is, in each line of windows that reaches it.
  void find_runs(int64_t y) {
    const int64_t width = s_.kernel[1] * run_;
    count_ = 0;
    for (int64_t k = 0; k < s_.kernel[1]; ++k) {
      const int64_t from = y + s_.padding[1] - k * s_.dilation[1];
      const int64_t line = from / s_.stride[1];
      if (from % s_.stride[1] != 0 || line < block_.first || line >= block_.last) continue;
      runs_[count_++] = columns_ + (line - block_.first) * s_.out[2] * width + k * run_;
    }
  }

  void add(int64_t at, float* image) const {
    const int64_t n = std::min(L, row_ - at), width = s_.kernel[1] * run_;
    const int64_t margin = s_.padding[2] * s_.in_channels;
    // Window w covers the elements from w * step - margin on.
    const int64_t before = at + margin - run_;
    const int64_t first = before < 0 ? 0 : before / step_ + 1;
    const int64_t last = std::min((at + n - 1 + margin) / step_ + 1, s_.out[2]);
    Vec<float> sum = n == L ? load<float, L>(image) : load_part(image, n, 0.0f);
    for (int64_t w = first; w < last; ++w) {
      const int64_t shift = at + margin - w * step_;  // of the vector within the run
      const int64_t begin = std::max<int64_t>(-shift, 0), end = std::min(n, run_ - shift);
      const auto mask = static_cast<__mmask16>((1u << end) - (1u << begin));
      for (int64_t k = 0; k < count_; ++k)
        sum += (Vec<float>)_mm512_maskz_loadu_ps(mask, runs_[k] + w * width + shift);
    }
    n == L ? store(image, sum) : store_part(image, sum, n);
  }

  const ConvShape& s_;
  const ConvBlock& block_;
  const float* const columns_;
  float* const image_;
  const int64_t row_, run_, step_;
  const float* runs_[kMostRuns];
  int64_t count_ = 0;
};
#endif

// Calls f<T>() with the type that elements are added in.
template <class F>
void with_type(DType dtype, F&& f) {
  switch (dtype) {
    // Integers wrap, which is defined for unsigned ones; the bits are the same.
    case DType::kUInt8:
    case DType::kInt8: return f.template operator()<uint8_t>();
    case DType::kInt16: return f.template operator()<uint16_t>();
    case DType::kInt32: return f.template operator()<uint32_t>();
    case DType::kInt64: return f.template operator()<uint64_t>();
    case DType::kFloat32: return f.template operator()<float>();
    case DType::kFloat64: return f.template operator()<double>();
    case DType::kComplex64: return f.template operator()<Complex<float>>();
    case DType::kComplex128: return f.template operator()<Complex<double>>();
    default: fail(ErrorKind::kNotImplemented, "not implemented for dtype ", dtype);
  }
}

}  // namespace

void gather_columns(const ConvShape& shape, const ConvBlock& block, DType dtype, const void* image,
                    void* columns) {
  switch (size_of(dtype)) {
    case 1: return gather<uint8_t>(shape, block, image, columns);
    case 2: return gather<uint16_t>(shape, block, image, columns);
    case 4: return gather<uint32_t>(shape, block, image, columns);
    case 8: return gather<uint64_t>(shape, block, image, columns);
    default: return gather<Complex<double>>(shape, block, image, columns);
  }
}

void scatter_columns(const ConvShape& shape, const ConvBlock& block, DType dtype,
                     const void* columns, void* image) {
#if defined(__AVX512F__)
  if (dtype == DType::kFloat32 && RowSums::take(shape))
    return RowSums(shape, block, static_cast<const float*>(columns),
                   static_cast<float*>(image) + block.sample * sample_elements(shape))();
#endif
  with_type(dtype, [&]<class T>() { scatter<T>(shape, block, columns, image); });
}

void add_elements(DType dtype, int64_t n, const void* from, void* to) {
  with_type(dtype, [&]<class T>() {
    const T* in = static_cast<const T*>(from);
    T* out = static_cast<T*>(to);
    for (int64_t i = 0; i < n; ++i) out[i] = out[i] + in[i];
  });
}

}  // namespace fb::cpu::FB_ISA
