// Convolutions that keep channels apart, over images whose channels are planes.
//
// A strip of rows is copied with its padding around it. In that copy a tap of the kernel is one
// distance for all pixels, so that vectors run on over the ends of rows, however short these are;
// the few pixels between two rows are computed in vain.
#include "cpu/conv_depthwise.h"

#include "cpu/kernels/blocks.h"

namespace fb::cpu::FB_ISA {
namespace {

constexpr int64_t kTaps = ConvShape::kDepthwiseTaps, kStrip = ConvShape::kDepthwiseStrip;
constexpr int L = kLanes<float>;
constexpr int kVectors = 4;  // that are summed together
constexpr int kBlock = L * kVectors;
constexpr int kBeyond = 128;      // elements that blocks read beyond a strip
constexpr int kTapsTogether = 9;  // sums of a weight's gradient that stay in registers

FB_FN int64_t min_of(int64_t a, int64_t b) { return a < b ? a : b; }

FB_FN void copy_row(const float* from, int64_t n, float* to) {
  in_blocks<float, float>(0, n, [&](int64_t i, auto lanes) {
    store(to + i, load<float, decltype(lanes)::value>(from + i));
  });
}

class Strips {
 public:
  explicit Strips(const DepthwiseCall& call)
      : call_(call),
        pitch_(call.to_width + call.kernel_width - 1),
        most_(kStrip / pitch_ - call.kernel_height + 1) {
    int64_t t = 0;
    for (int64_t y = 0; y < call.kernel_height; ++y)
      for (int64_t x = 0; x < call.kernel_width; ++x) distance_[t++] = y * pitch_ + x;
    // Padding stays zero; above and below only where a strip is the whole plane.
    for (float& value : strip_) value = 0;
  }

  int64_t taps() const { return call_.kernel_height * call_.kernel_width; }

  // A plane of the result.
  void convolve(const float* from, const float* weight, float bias, float* to) {
    const int64_t width = call_.to_width;
    for (int64_t first = 0; first < call_.to_height; first += most_) {
      const int64_t rows = min_of(most_, call_.to_height - first);
      fill_strip(from, first, rows);
      if (width >= L && call_.kernel_height == 3 && call_.kernel_width == 3) {
        int64_t y = 0;
        for (; y + kVectors <= rows; y += kVectors)
          rows_by_three<kVectors>(y, weight, bias, to + (first + y) * width);
        for (; y < rows; ++y) rows_by_three<1>(y, weight, bias, to + (first + y) * width);
        continue;
      }
      sums(rows, weight, bias);
      for (int64_t y = 0; y < rows; ++y)
        copy_row(other_ + y * pitch_, width, to + (first + y) * width);
    }
  }

  // Adds the gradient of a kernel from one plane and the gradient of its result.
  void add_weight(const float* from, const float* gradient, double* total) {
    const int64_t width = call_.to_width;
    for (int64_t first = 0; first < call_.to_height; first += most_) {
      const int64_t rows = min_of(most_, call_.to_height - first);
      fill_strip(from, first, rows);
      for (int64_t y = 0; y < rows; ++y) {
        float* const row = other_ + y * pitch_;
        copy_row(gradient + (first + y) * width, width, row);
        for (int64_t x = width; x < pitch_; ++x) row[x] = 0;
      }
      for (int64_t i = rows * pitch_; i < (rows * pitch_ + L - 1) / L * L; ++i) other_[i] = 0;
      int64_t t = 0;
      for (; t + kTapsTogether <= taps(); t += kTapsTogether)
        products<kTapsTogether>(rows, t, total);
      for (; t < taps(); ++t) products<1>(rows, t, total);
    }
  }

 private:
  // What rows [first, first + rows) of the result are computed from.
  void fill_strip(const float* from, int64_t first, int64_t rows) {
    const int64_t height = call_.from_height, width = call_.from_width;
    const int64_t left = call_.padding_x, inside = min_of(width, pitch_ - left);
    for (int64_t r = 0; r < rows + call_.kernel_height - 1; ++r) {
      float* const row = strip_ + r * pitch_;
      const int64_t y = first + r - call_.padding_y;
      const bool exists = y >= 0 && y < height;
      if (exists) copy_row(from + y * width, inside, row + left);
      if (call_.to_height > most_ && !exists)
        for (int64_t x = 0; x < inside; ++x) row[left + x] = 0;
    }
    // Nothing of another plane, which may hold NaN.
    float* const end = strip_ + (rows + call_.kernel_height - 1) * pitch_;
    for (int64_t x = 0; x < kBeyond; ++x) end[x] = 0;
  }

  // Some rows of the result from row y of the strip on, by kernels of 3 x 3: what is loaded counts
  // for up to three of them.
  template <int kRows>
  void rows_by_three(int64_t y, const float* weight, float bias, float* to) const {
    const int64_t width = call_.to_width;
    float w[9];
    for (int t = 0; t < 9; ++t) w[t] = weight[t];
    cover<L>(0, width, [&](int64_t x, auto) {
      Vec<float> sum[kRows];
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) sum[r] = broadcast<float, L>(bias);
#pragma GCC unroll 8
      for (int from = 0; from < kRows + 2; ++from) {
        const float* const at = strip_ + (y + from) * pitch_ + x;
#pragma GCC unroll 4
        for (int k = 0; k < 3; ++k) {
          const Vec<float> value = load<float, L>(at + k);
#pragma GCC unroll 4
          for (int r = 0; r < kRows; ++r)
            if (from >= r && from - r < 3) sum[r] += value * w[(from - r) * 3 + k];
        }
      }
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) store(to + r * width + x, sum[r]);
    });
  }

  void sums(int64_t rows, const float* weight, float bias) {
    const int64_t taps = this->taps(), n = rows * pitch_;
    for (int64_t i = 0; i < n; i += kBlock) {
      Vec<float> sum[kVectors];
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sum[v] = broadcast<float, L>(bias);
      for (int64_t t = 0; t < taps; ++t) {
        const float* const at = strip_ + i + distance_[t];
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) sum[v] += load<float, L>(at + v * L) * weight[t];
      }
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) store(other_ + i + v * L, sum[v]);
    }
  }

  template <int kFixed>
  void products(int64_t rows, int64_t first, double* total) const {
    Vec<float> sum[kFixed] = {};
    for (int64_t i = 0; i < rows * pitch_; i += L) {
      const Vec<float> g = load<float, L>(other_ + i);
#pragma GCC unroll 9
      for (int t = 0; t < kFixed; ++t)
        sum[t] += g * load<float, L>(strip_ + i + distance_[first + t]);
    }
    for (int t = 0; t < kFixed; ++t)
      total[first + t] +=
          fold_lanes<float, L>(sum[t], [](const auto& a, const auto& b) { return a + b; });
  }

  const DepthwiseCall& call_;
  const int64_t pitch_, most_;  // elements from row to row, and rows of the result in a strip
  int64_t distance_[kTaps];
  alignas(64) float strip_[kStrip + kBeyond];
  alignas(64) float other_[kStrip + kBeyond];  // the result, or its gradient
};

}  // namespace

void depthwise_planes(const DepthwiseCall& call, const float* from, const float* weight,
                      const float* bias, float* to, int64_t first, int64_t last) {
  static_assert(kBlock + kTaps <= kBeyond);
  Strips strips(call);
  const int64_t taps = strips.taps();
  float turned[kTaps];
  for (int64_t plane = first; plane < last; ++plane) {
    const int64_t channel = plane % call.channels;
    const float* own = weight + channel * taps;
    if (call.flipped) {
      for (int64_t t = 0; t < taps; ++t) turned[t] = own[taps - 1 - t];
      own = turned;
    }
    strips.convolve(from + plane * call.from_height * call.from_width, own,
                    bias ? bias[channel] : 0.0f, to + plane * call.to_height * call.to_width);
  }
}

void depthwise_weight(const DepthwiseCall& call, int64_t batch, const float* from,
                      const float* gradient, float* weight, int64_t first, int64_t last) {
  Strips strips(call);
  const int64_t taps = strips.taps();
  for (int64_t channel = first; channel < last; ++channel) {
    double total[kTaps] = {};
    for (int64_t image = 0; image < batch; ++image) {
      const int64_t plane = image * call.channels + channel;
      strips.add_weight(from + plane * call.from_height * call.from_width,
                        gradient + plane * call.to_height * call.to_width, total);
    }
    for (int64_t t = 0; t < taps; ++t) weight[channel * taps + t] = static_cast<float>(total[t]);
  }
}

}  // namespace fb::cpu::FB_ISA
