// The loop around an element function; the generator instantiates it for every pointwise operator
// and type.
#pragma once

#include <utility>

#include "cpu/kernels/loops.h"
#include "cpu/pointwise.h"
#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace fb::cpu::FB_ISA {
namespace {

template <class T>
FB_FN T load(const void* data, int64_t i) {
  return element_at(static_cast<const T*>(data) + i);
}

// Whether bools of numbers of 32 bits are narrowed here. GCC by itself clears bits that are zero
// before each of three steps, Clang 16 narrows vector by vector: both take up to twice as long.
// AVX-512 has masks of bits.
#if defined(__AVX2__) && !defined(__AVX512F__)
template <class Out, class... Inputs>
inline constexpr bool kNarrowsFlags = kIsBool<Out> && ((sizeof(Inputs) == sizeof(int)) && ...);

// Writes 32 flags, which are 0 or -1, as bools.
FB_FN void narrow_flags(const int* flags, bool* out) {
  const auto at = [&](int i) {
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(flags + i));
  };
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);  // of four bytes, once packed
  const __m256i low = _mm256_packs_epi32(at(0), at(8)), high = _mm256_packs_epi32(at(16), at(24));
  const __m256i packed = _mm256_permutevar8x32_epi32(_mm256_packs_epi16(low, high), order);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out),
                      _mm256_and_si256(packed, _mm256_set1_epi8(1)));
}
#else
template <class Out, class... Inputs>
inline constexpr bool kNarrowsFlags = false;
#endif

// F has Param, kParams, kRanged and call(inputs..., params).
template <class F, class... Inputs, size_t... I>
void run(int64_t n, void* out, const void* const* in, const typename F::Param* params,
         std::index_sequence<I...>) {
  using Out = decltype(F::call(Inputs{}..., params));
  auto* __restrict target = static_cast<Out*>(out);
  // Copies, so that the compiler knows that writing the output changes neither.
  const void* const data[] = {in[I]...};
  typename F::Param local[F::kParams + 1];
  for (int p = 0; p < F::kParams; ++p) local[p] = params[p];
  if constexpr (F::kRanged) {
    constexpr int64_t kBlock = 256;  // read twice, so it should stay in the first-level cache
    for (int64_t first = 0; first < n; first += kBlock) {
      const int64_t last = first + kBlock < n ? first + kBlock : n;
      int outside = 0;
      for (int64_t i = first; i < last; ++i)
        outside |= F::has_range(load<Inputs>(data[I], i)...) ? 0 : 1;
      if (outside == 0) {
        FB_IVDEP
        for (int64_t i = first; i < last; ++i) target[i] = F::in_range(load<Inputs>(data[I], i)...);
      } else {
        for (int64_t i = first; i < last; ++i)
          target[i] = F::call(load<Inputs>(data[I], i)..., local);
      }
    }
  } else if constexpr (kNarrowsFlags<Out, Inputs...>) {
    int64_t i = 0;
    for (; i + 32 <= n; i += 32) {
      alignas(32) int flags[32];  // registers, once the compiler has unrolled the loop
      for (int lane = 0; lane < 32; ++lane)
        flags[lane] = F::call(load<Inputs>(data[I], i + lane)..., local) ? -1 : 0;
      narrow_flags(flags, target + i);
    }
    for (; i < n; ++i) target[i] = F::call(load<Inputs>(data[I], i)..., local);
  } else {
    FB_IVDEP
    for (int64_t i = 0; i < n; ++i) target[i] = F::call(load<Inputs>(data[I], i)..., local);
  }
}

template <class T>
void fill(T* out, int64_t n, T value) {
  for (int64_t i = 0; i < n; ++i) out[i] = value;
}

// Single-valued inputs are spread over a block that stays in the first-level cache: as constants of
// the loop they would need a loop for every set of them, and GCC vectorises comparisons of
// constants poorly. When all are single values, the result is computed once.
template <class F, class... Inputs>
void pointwise_loop(int64_t n, void* out, const void* const* in, unsigned fixed,
                    const void* params) {
  constexpr int kInputs = sizeof...(Inputs);
  constexpr auto indices = std::make_index_sequence<kInputs>{};
  const auto* typed = static_cast<const typename F::Param*>(params);
  using Out = decltype(F::call(Inputs{}..., typed));
  if (fixed == 0) {
    run<F, Inputs...>(n, out, in, typed, indices);
    return;
  }
  auto* target = static_cast<Out*>(out);
  if (fixed == (1u << kInputs) - 1) {
    Out value;
    run<F, Inputs...>(1, &value, in, typed, indices);
    fill(target, n, value);
    return;
  }
  constexpr int64_t kBlock = 512;
  constexpr int64_t kSizes[] = {sizeof(Inputs)...};
  alignas(64) char blocks[kInputs][kBlock * 16];
  const void* at[kInputs];
  [&]<size_t... I>(std::index_sequence<I...>) {
    const auto spread = [&]<class T>(size_t k, const T* value) {
      at[k] = value;
      if (!(fixed >> k & 1)) return;
      fill(reinterpret_cast<T*>(blocks[k]), n < kBlock ? n : kBlock, element_at(value));
      at[k] = blocks[k];
    };
    (spread(I, static_cast<const Inputs*>(in[I])), ...);
  }(indices);
  for (int64_t first = 0; first < n; first += kBlock) {
    run<F, Inputs...>(n - first < kBlock ? n - first : kBlock, target + first, at, typed, indices);
    for (int k = 0; k < kInputs; ++k)
      if (!(fixed >> k & 1)) at[k] = static_cast<const char*>(at[k]) + kBlock * kSizes[k];
  }
}

}  // namespace
}  // namespace fb::cpu::FB_ISA
