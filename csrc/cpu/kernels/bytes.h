// Vectors of bytes: weighted sums, for which compilers by themselves take elements one by one, and
// pieces.
#pragma once

#include "cpu/kernels/transpose.h"
#if defined(__SSE4_1__)
#include <immintrin.h>
#endif

namespace fb::cpu::FB_ISA {

using Bytes = Vec<uint8_t>;

namespace detail {
template <class V, size_t... I>
FB_FN auto joined(const V& low, const V& high, std::index_sequence<I...>) {
  return FB_SHUFFLE(low, high, I...);
}

// Interleaves a and b: the first or the second half of every 16 bytes.
template <int half>
FB_FN Bytes interleaved(const Bytes& a, const Bytes& b) {
  return interleave<half, 16>(a, b, std::make_index_sequence<kVectorBytes>{});
}

// Of each pair of 16 bits, the first times the lower half of `weights` and the second times the
// upper half, together.
FB_FN Vec<int32_t> weigh(const Bytes& pairs, int32_t weights) {
#if defined(__AVX512F__)
  return (Vec<int32_t>)_mm512_madd_epi16((__m512i)pairs, _mm512_set1_epi32(weights));
#elif defined(__AVX2__)
  return (Vec<int32_t>)_mm256_madd_epi16((__m256i)pairs, _mm256_set1_epi32(weights));
#elif defined(__SSE4_1__)
  return (Vec<int32_t>)_mm_madd_epi16((__m128i)pairs, _mm_set1_epi32(weights));
#else
  const Vec<int32_t> both = (Vec<int32_t>)pairs;
  return (both & 0xffff) * static_cast<int16_t>(weights) + (both >> 16) * (weights >> 16);
#endif
}
}  // namespace detail

// Sums of as many bytes as a vector has, in four vectors: in the order in which bytes are widened
// and narrowed within every 16 of a register.
struct ByteTotals {
  Vec<int32_t> part[4] = {};

  // a times the lower half of `weights`, plus b times the upper half.
  FB_FN void add(const Bytes& a, const Bytes& b, int32_t weights) {
    const Bytes low = detail::interleaved<0>(a, b), high = detail::interleaved<1>(a, b);
    part[0] += detail::weigh(detail::interleaved<0>(low, Bytes{}), weights);
    part[1] += detail::weigh(detail::interleaved<1>(low, Bytes{}), weights);
    part[2] += detail::weigh(detail::interleaved<0>(high, Bytes{}), weights);
    part[3] += detail::weigh(detail::interleaved<1>(high, Bytes{}), weights);
  }

  // Each sum as the nearest byte.
  FB_FN Bytes bytes() const {
#if defined(__AVX512F__)
    const __m512i low = _mm512_packs_epi32((__m512i)part[0], (__m512i)part[1]);
    return (Bytes)_mm512_packus_epi16(low, _mm512_packs_epi32((__m512i)part[2], (__m512i)part[3]));
#elif defined(__AVX2__)
    const __m256i low = _mm256_packs_epi32((__m256i)part[0], (__m256i)part[1]);
    return (Bytes)_mm256_packus_epi16(low, _mm256_packs_epi32((__m256i)part[2], (__m256i)part[3]));
#elif defined(__SSE4_1__)
    const __m128i low = _mm_packs_epi32((__m128i)part[0], (__m128i)part[1]);
    return (Bytes)_mm_packus_epi16(low, _mm_packs_epi32((__m128i)part[2], (__m128i)part[3]));
#else
    Bytes result;
    for (int i = 0; i < kVectorBytes; ++i) {
      const int32_t value = part[i / 4][i % 4];
      result[i] = static_cast<uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
    }
    return result;
#endif
  }
};

// Vectors of N bytes from and to pieces of 16 bytes, `step` apart.
template <int N>
FB_FN Vec<uint8_t, N> load_pieces(const uint8_t* p, int64_t step) {
  if constexpr (N == 16)
    return load<uint8_t, 16>(p);
  else
    return detail::joined(load_pieces<N / 2>(p, step), load_pieces<N / 2>(p + N / 32 * step, step),
                          std::make_index_sequence<N>{});
}
template <int N>
FB_FN void store_pieces(uint8_t* p, int64_t step, const Vec<uint8_t, N>& value) {
  if constexpr (N == 16) {
    store(p, value);
  } else {
    using Half = std::make_index_sequence<N / 2>;
    store_pieces<N / 2>(p, step, detail::low_half(value, Half{}));
    store_pieces<N / 2>(p + N / 32 * step, step, detail::high_half(value, Half{}));
  }
}

}  // namespace fb::cpu::FB_ISA
