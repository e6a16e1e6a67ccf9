// Runs of float16 to float32 and back with the machine's conversion instructions, which the
// compiler does not use in loops by itself. Included by kernels only: everything depends on their
// instruction set.
#pragma once

#include <cstdint>

#include "scalar/types.h"

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace fb::cpu::FB_ISA {
namespace {

[[maybe_unused]] void to_floats(const Half* __restrict in, float* __restrict out, int64_t n) {
  int64_t i = 0;
#if defined(__AVX512F__)
  // The masked forms, because GCC 12 warns about an uninitialised operand in the others.
  for (; i + 16 <= n; i += 16) {
    const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + i));
    _mm512_storeu_ps(out + i, _mm512_maskz_cvtph_ps(0xffff, halves));
  }
#elif defined(__F16C__)
  for (; i + 8 <= n; i += 8) {
    const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i));
    _mm256_storeu_ps(out + i, _mm256_cvtph_ps(halves));
  }
#endif
  for (; i < n; ++i) out[i] = static_cast<float>(in[i]);
}

[[maybe_unused]] void to_halves(const float* __restrict in, Half* __restrict out, int64_t n) {
  int64_t i = 0;
#if defined(__AVX512F__)
  for (; i + 16 <= n; i += 16) {
    const __m256i halves =
        _mm512_maskz_cvtps_ph(0xffff, _mm512_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), halves);
  }
#elif defined(__F16C__)
  for (; i + 8 <= n; i += 8) {
    const __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), halves);
  }
#endif
  for (; i < n; ++i) out[i] = Half(in[i]);
}

}  // namespace
}  // namespace fb::cpu::FB_ISA
