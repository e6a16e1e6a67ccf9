// Bytes as vectors of int32 and back, which compilers make of single elements when left alone.
#pragma once

#include "cpu/kernels/simd.h"
#if defined(__SSE4_1__)
#include <immintrin.h>
#endif

namespace fb::cpu::FB_ISA {

#if defined(__AVX512F__)
// The forms without a mask warn of a variable of their own in GCC 12.
inline constexpr __mmask16 kAllLanes = 0xffff;
#endif

// The kLanes<int32_t> bytes at p.
FB_FN Vec<int32_t> load_bytes(const uint8_t* p) {
#if defined(__AVX512F__)
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  return (Vec<int32_t>)_mm512_maskz_cvtepu8_epi32(kAllLanes, bytes);
#elif defined(__AVX2__)
  return (Vec<int32_t>)_mm256_cvtepu8_epi32(_mm_loadu_si64(p));
#elif defined(__SSE4_1__)
  return (Vec<int32_t>)_mm_cvtepu8_epi32(_mm_loadu_si32(p));
#else
  return load<int32_t, kLanes<int32_t> >(p);
#endif
}

// Each value as the nearest byte.
FB_FN void store_bytes(uint8_t* p, Vec<int32_t> value) {
#if defined(__AVX512F__)
  const Vec<int32_t> positive = value > 0 ? value : Vec<int32_t>{};
  const __m128i bytes = _mm512_maskz_cvtusepi32_epi8(kAllLanes, (__m512i)positive);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), bytes);
#elif defined(__AVX2__)
  const __m128i low = _mm256_castsi256_si128((__m256i)value);
  const __m128i words = _mm_packs_epi32(low, _mm256_extracti128_si256((__m256i)value, 1));
  _mm_storeu_si64(p, _mm_packus_epi16(words, words));
#elif defined(__SSE4_1__)
  const __m128i words = _mm_packs_epi32((__m128i)value, (__m128i)value);
  _mm_storeu_si32(p, _mm_packus_epi16(words, words));
#else
  for (int i = 0; i < kLanes<int32_t>; ++i)
    p[i] = static_cast<uint8_t>(value[i] < 0 ? 0 : value[i] > 255 ? 255 : value[i]);
#endif
}

}  // namespace fb::cpu::FB_ISA
