// From uniform words to uniform and normal numbers.
#include "cpu/kernels/random.h"

#include <cmath>

#include "scalar/math.h"

namespace fb::cpu::FB_ISA {
namespace {

// The logarithm, sine and cosine of the Cephes library in single precision. More accurate ones
// exist; these are the ones whose last bits PyTorch's normal numbers show.

// For 0 < x <= 1.
FB_FN float log_unit(float x) {
  constexpr float kSqrtHalf = 0.707106781186547524f;
  const unsigned bits = bit_cast<unsigned>(x);
  float exponent = static_cast<float>(static_cast<int>(bits >> 23) - 126);
  const float fraction = bit_cast<float>((bits & 0x007fffffu) | 0x3f000000u);  // in [0.5, 1)
  const bool small = fraction < kSqrtHalf;
  const float r = (fraction - 1.0f) + (small ? fraction : 0.0f);
  exponent -= small ? 1.0f : 0.0f;
  const float r2 = r * r;
  float y = 7.0376836292e-2f;
  y = y * r - 1.1514610310e-1f;
  y = y * r + 1.1676998740e-1f;
  y = y * r - 1.2420140846e-1f;
  y = y * r + 1.4249322787e-1f;
  y = y * r - 1.6668057665e-1f;
  y = y * r + 2.0000714765e-1f;
  y = y * r - 2.4999993993e-1f;
  y = y * r + 3.3333331174e-1f;
  y = y * r * r2;
  y = y + exponent * -2.12194440e-4f;
  y = y - r2 * 0.5f;
  return (r + y) + exponent * 0.693359375f;
}

// For 0 <= x < 2 pi.
FB_FN void sin_cos(float x, float& sine, float& cosine) {
  constexpr float kFourOverPi = 1.27323954473516f;
  // The octant, rounded up to even: the rest of x lies in [-pi/4, pi/4].
  const int octant = (static_cast<int>(x * kFourOverPi) + 1) & ~1;
  const float y = static_cast<float>(octant);
  // pi/4 in three parts, so that the subtraction loses nothing.
  x = x - y * 0.78515625f;
  x = x - y * 2.4187564849853515625e-4f;
  x = x - y * 3.77489497744594108e-8f;
  const float x2 = x * x;
  float c = 2.443315711809948e-5f;
  c = c * x2 - 1.388731625493765e-3f;
  c = c * x2 + 4.166664568298827e-2f;
  c = c * x2 * x2;
  c = c - x2 * 0.5f;
  c = c + 1.0f;
  float s = -1.9515295891e-4f;
  s = s * x2 + 8.3321608736e-3f;
  s = s * x2 - 1.6666654611e-1f;
  s = s * x2 * x;
  s = s + x;
  const bool swapped = (octant & 2) != 0;
  const unsigned sine_sign = static_cast<unsigned>(octant & 4) << 29;
  const unsigned cosine_sign = static_cast<unsigned>(~(octant - 2) & 4) << 29;
  sine = bit_cast<float>(bit_cast<unsigned>(swapped ? c : s) ^ sine_sign);
  cosine = bit_cast<float>(bit_cast<unsigned>(swapped ? s : c) ^ cosine_sign);
}

FB_FN int64_t join53(uint32_t upper, uint32_t lower) {
  return static_cast<int64_t>((static_cast<uint64_t>(upper & 0x1fffffu) << 32) | lower);
}

// `Compute` is the type the formula is evaluated in before it is rounded to T.
template <class T, class Compute>
void to_uniform(const uint32_t* __restrict words, T* __restrict out, int64_t n, double from,
                double to) {
  const auto first = static_cast<Compute>(from);
  const Compute width = static_cast<Compute>(to) - first;
  for (int64_t i = 0; i < n; ++i) {
    Compute unit;
    if constexpr (sizeof(Compute) == 8) {
      unit = static_cast<double>(join53(words[2 * i], words[2 * i + 1])) * 0x1p-53;
    } else {
      unit = static_cast<float>(static_cast<int32_t>(words[i] & 0xffffffu)) * 0x1p-24f;
    }
    out[i] = convert<T>(unit * width + first);
  }
  // Rounding can reach the upper bound, which is excluded: such a number becomes the lower one.
  const auto excluded = static_cast<Compute>(convert<T>(to));
  int reached = 0;
  for (int64_t i = 0; i < n; ++i) reached += static_cast<Compute>(out[i]) == excluded ? 1 : 0;
  if (reached == 0) return;
  for (int64_t i = 0; i < n; ++i)
    if (static_cast<Compute>(out[i]) == excluded) out[i] = convert<T>(from);
}

}  // namespace

void words_to_uniform(DType dtype, const uint32_t* words, void* out, int64_t n, double from,
                      double to) {
  switch (dtype) {
    case DType::kFloat16:
      return to_uniform<Half, float>(words, static_cast<Half*>(out), n, from, to);
    case DType::kBFloat16:
      return to_uniform<BFloat16, float>(words, static_cast<BFloat16*>(out), n, from, to);
    case DType::kFloat32:
      return to_uniform<float, float>(words, static_cast<float*>(out), n, from, to);
    case DType::kFloat64:
      return to_uniform<double, double>(words, static_cast<double*>(out), n, from, to);
    default: __builtin_unreachable();
  }
}

void words_below(const uint32_t* __restrict words, double* __restrict out, int64_t n,
                 int64_t threshold) {
  for (int64_t i = 0; i < n; ++i)
    out[i] = join53(words[2 * i], words[2 * i + 1]) < threshold ? 1.0 : 0.0;
}

void words_below_flags(const uint32_t* __restrict words, uint8_t* __restrict out, int64_t n,
                       int64_t threshold) {
  for (int64_t i = 0; i < n; ++i) out[i] = join53(words[2 * i], words[2 * i + 1]) < threshold;
}

void words_modulo(const uint32_t* __restrict words, int64_t* __restrict out, int64_t n,
                  uint32_t range, int64_t base) {
  if (range == 1) {
    for (int64_t i = 0; i < n; ++i) out[i] = base;
    return;
  }
  // Division as multiplication: the quotient is right or off by one (right for a power of two),
  // which the remainder's sign and size show. Integer division has no vector form.
  const double inverse = 1.0 / range;
  const auto divisor = static_cast<int32_t>(range);
  for (int64_t i = 0; i < n; ++i) {
    const auto quotient = static_cast<int32_t>(static_cast<double>(words[i]) * inverse);
    auto rest = static_cast<int32_t>(words[i] - static_cast<uint32_t>(quotient) * range);
    rest += rest < 0 ? divisor : 0;
    rest -= rest >= divisor && divisor > 0 ? divisor : 0;
    out[i] = base + rest;
  }
}

void scaled_log1m(double* data, int64_t n, double scale) {
  for (int64_t i = 0; i < n; ++i) data[i] = scale * math::log1p(-data[i]);
}

void box_muller(float* data, int64_t blocks, float mean, float std) {
  constexpr float kTwoPi = 6.283185307179586f;
  constexpr int kHalf = 8;      // a block is eight radii, then eight angles
  constexpr int kTogether = 8;  // blocks whose halves are computed together, for the widest vectors
  float first[kTogether * kHalf] = {};
  float second[kTogether * kHalf] = {};
  for (int64_t done = 0; done < blocks; done += kTogether) {
    const int count = blocks - done < kTogether ? static_cast<int>(blocks - done) : kTogether;
    for (int block = 0; block < count; ++block) {
      const float* from = data + block * 2 * kHalf;
      __builtin_memcpy(first + block * kHalf, from, sizeof(float) * kHalf);
      __builtin_memcpy(second + block * kHalf, from + kHalf, sizeof(float) * kHalf);
    }
    for (int i = 0; i < kTogether * kHalf; ++i) {
      const float radius = std::sqrt(-2.0f * log_unit(1.0f - first[i]));
      float sine;
      float cosine;
      sin_cos(kTwoPi * second[i], sine, cosine);
      first[i] = radius * cosine * std + mean;
      second[i] = radius * sine * std + mean;
    }
    for (int block = 0; block < count; ++block, data += 2 * kHalf) {
      __builtin_memcpy(data, first + block * kHalf, sizeof(float) * kHalf);
      __builtin_memcpy(data + kHalf, second + block * kHalf, sizeof(float) * kHalf);
    }
  }
}

}  // namespace fb::cpu::FB_ISA
