// Vectors of the level's register width on the compiler's vector extension, for kernels whose
// accumulators must stay in registers. For cpu/kernels only: every function here is inlined.
#pragma once

#include <type_traits>
#include <utility>

#include "core/dtype.h"
#if defined(__F16C__)
#include <immintrin.h>
#endif

// Vectors never cross a real call, so the ABI for passing them does not matter.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace fb::cpu::FB_ISA {

template <class T, int N>
struct VecOf {
  typedef T type __attribute__((vector_size(N * sizeof(T))));
};
template <class T>
struct VecOf<T, 1> {
  using type = T;
};

// Vectors wider than the machine's would compile too, but the compiler turns their comparisons into
// scalar code.
#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
inline constexpr int kVectorBytes = 32;
#else
inline constexpr int kVectorBytes = 16;
#endif

template <class T>
inline constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));
template <>
inline constexpr int kLanes<Complex<float>> = 1;  // complex arithmetic has no vector operators
template <>
inline constexpr int kLanes<Complex<double>> = 1;

template <class T, int N = kLanes<T>>
using Vec = typename VecOf<T, N>::type;

}  // namespace fb::cpu::FB_ISA

namespace fb {
// So that element functions that use operators only take vectors, too.
template <>
struct TypeOf<cpu::FB_ISA::Vec<float>> : TypeOf<float> {};
template <>
struct TypeOf<cpu::FB_ISA::Vec<double>> : TypeOf<double> {};
}  // namespace fb

namespace fb::cpu::FB_ISA {

// Lanes of a and b by number; those of b follow those of a.
#if __has_builtin(__builtin_shufflevector)
#define FB_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else  // GCC 11
template <class V, class... Lane>
FB_FN auto shuffled(const V& a, const V& b, Lane... lane) {
  using T = std::remove_cvref_t<decltype(a[0])>;
  constexpr int n = sizeof(V) / sizeof(T);
  if constexpr (sizeof...(Lane) == n) {
    using Number = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;
    if constexpr (sizeof(T) == sizeof(Number))
      return __builtin_shuffle(a, b, Vec<Number, n>{static_cast<Number>(lane)...});
  }
  return Vec<T, sizeof...(Lane)>{(static_cast<int>(lane) < n ? a[static_cast<int>(lane) % n]
                                                             : b[static_cast<int>(lane) % n])...};
}
#define FB_SHUFFLE(a, b, ...) shuffled(a, b, __VA_ARGS__)
#endif

// What a comparison of two V yields: bool for scalars, a vector of 0 / -1 otherwise.
template <class V>
using MaskOf = decltype(std::declval<V>() == std::declval<V>());

template <class T, int N>
FB_FN Vec<T, N> broadcast(T value) {
  if constexpr (N == 1)
    return value;
  else
    return Vec<T, N>{} + value;
}

// N numbers of 16 bits with as many zeros before them. GCC 12 widens the halves of a vector one
// after the other.
template <int N>
FB_FN Vec<unsigned, N> widened(const unsigned short* p) {
#if defined(__AVX512F__)
  if constexpr (N == 16)
    return (Vec<unsigned, N>)_mm512_maskz_cvtepu16_epi32(
        0xffff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
#endif
#if defined(__AVX2__)
  if constexpr (N == 8)
    return (Vec<unsigned, N>)_mm256_cvtepu16_epi32(
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
#endif
  Vec<unsigned short, N> raw;
  __builtin_memcpy(&raw, p, sizeof(raw));
  return __builtin_convertvector(raw, Vec<unsigned, N>);
}

// N consecutive elements at p, converted to A.
template <class A, int N, class T>
FB_FN Vec<A, N> load(const T* p) {
  if constexpr (N == 1) {
    return convert<A>(*p);
  } else if constexpr (__is_same(T, bool)) {
    Vec<unsigned char, N> bytes = load<unsigned char, N>(reinterpret_cast<const unsigned char*>(p));
    bytes = bytes != 0 ? broadcast<unsigned char, N>(1) : Vec<unsigned char, N>{};
    return __builtin_convertvector(bytes, Vec<A, N>);
  } else if constexpr (__is_same(T, BFloat16)) {
    return (Vec<float, N>)(widened<N>(reinterpret_cast<const unsigned short*>(p)) << 16);
  } else if constexpr (__is_same(T, Half)) {
    Vec<float, N> result;
#if defined(__F16C__)
    static_assert(N % 8 == 0);
    for (int i = 0; i < N; i += 8) {
      const __m256 part = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p + i)));
      __builtin_memcpy(reinterpret_cast<float*>(&result) + i, &part, sizeof(part));
    }
#else
    for (int i = 0; i < N; ++i) result[i] = static_cast<float>(p[i]);
#endif
    return result;
#if defined(__AVX2__)
  } else if constexpr (__is_same(T, float) && __is_same(A, double) && N == 4) {
    return (Vec<double, N>)_mm256_cvtps_pd(_mm_loadu_ps(p));  // GCC 12 would convert halves
#endif
  } else {
    Vec<T, N> raw;
    __builtin_memcpy(&raw, p, sizeof(raw));
    if constexpr (__is_same(T, A))
      return raw;
    else
      return __builtin_convertvector(raw, Vec<A, N>);
  }
}

template <class T, class V>
FB_FN void store(T* p, const V& value) {
  __builtin_memcpy(p, &value, sizeof(value));
}

// Whether load_part exists for T without conversion.
#if defined(__AVX512F__)
template <class T>
inline constexpr bool kLoadsPart = sizeof(T) == 4 || (sizeof(T) == 8 && !kIsComplex<T>);
#else
template <class T>
inline constexpr bool kLoadsPart = false;
#endif

// The n < kLanes<T> elements at p, and `fill` in the other lanes; reads nothing beyond them.
template <class T>
FB_FN Vec<T> load_part(const T* p, int64_t n, T fill) {
  Vec<T> result = broadcast<T, kLanes<T>>(fill);
#if defined(__AVX512F__)
  const auto mask = static_cast<unsigned>((1u << n) - 1);
  if constexpr (sizeof(T) == 4)
    result = (Vec<T>)_mm512_mask_loadu_epi32((__m512i)result, static_cast<__mmask16>(mask), p);
  else
    result = (Vec<T>)_mm512_mask_loadu_epi64((__m512i)result, static_cast<__mmask8>(mask), p);
#elif defined(__AVX2__)
  // Lane by lane GCC would write the vector to memory and read it back.
  if constexpr (sizeof(T) == 4) {
    const Vec<int> lanes = {0, 1, 2, 3, 4, 5, 6, 7};
    const Vec<int> mask = lanes < static_cast<int>(n);
    const __m256i loaded = _mm256_maskload_epi32(reinterpret_cast<const int*>(p), (__m256i)mask);
    result = mask ? (Vec<T>)loaded : result;
  } else if constexpr (sizeof(T) == 8 && !kIsComplex<T>) {
    const Vec<long long> lanes = {0, 1, 2, 3};
    const Vec<long long> mask = lanes < static_cast<long long>(n);
    const __m256i loaded =
        _mm256_maskload_epi64(reinterpret_cast<const long long*>(p), (__m256i)mask);
    result = mask ? (Vec<T>)loaded : result;
  } else {
    for (int64_t i = 0; i < n; ++i) result[i] = p[i];
  }
#else
  for (int64_t i = 0; i < n; ++i) result[i] = p[i];
#endif
  return result;
}

namespace detail {
template <class V, size_t... I>
FB_FN auto low_half(const V& v, std::index_sequence<I...>) {
  return FB_SHUFFLE(v, v, I...);
}
template <class V, size_t... I>
FB_FN auto high_half(const V& v, std::index_sequence<I...>) {
  return FB_SHUFFLE(v, v, (I + sizeof...(I))...);
}

// By halves: stores under a mask are slow on many machines that have no AVX-512.
template <int N, class T>
FB_FN void store_first(T* p, const Vec<T, N>& value, int64_t n) {
  if constexpr (N == 2) {
    if (n & 1) *p = value[0];
  } else {
    using Half = std::make_index_sequence<N / 2>;
    const bool whole = (n & (N / 2)) != 0;
    if (whole) store(p, low_half(value, Half{}));
    store_first<N / 2>(whole ? p + N / 2 : p,
                       whole ? high_half(value, Half{}) : low_half(value, Half{}), n);
  }
}
}  // namespace detail

// The first n < kLanes<T> lanes of `value` to p; writes nothing beyond them.
template <class T>
FB_FN void store_part(T* p, const Vec<T>& value, int64_t n) {
#if defined(__AVX512F__)
  const auto mask = static_cast<unsigned>((1u << n) - 1);
  if constexpr (sizeof(T) == 4)
    _mm512_mask_storeu_epi32(p, static_cast<__mmask16>(mask), (__m512i)value);
  else
    _mm512_mask_storeu_epi64(p, static_cast<__mmask8>(mask), (__m512i)value);
#else
  if constexpr (kLanes<T> > 1) detail::store_first<kLanes<T>>(p, value, n);
#endif
}

// Whether any lane of a comparison's result is set.
template <class Mask>
FB_FN bool any(const Mask& mask) {
#if defined(__AVX512F__)
  if constexpr (sizeof(Mask) == 64)
    return _mm512_test_epi32_mask((__m512i)mask, (__m512i)mask) != 0;
#endif
#if defined(__AVX2__)
  if constexpr (sizeof(Mask) == 32) return _mm256_movemask_epi8((__m256i)mask) != 0;
#endif
  long long parts[sizeof(Mask) / sizeof(long long)], all = 0;
  __builtin_memcpy(parts, &mask, sizeof(mask));
  for (const long long part : parts) all |= part;
  return all != 0;
}

// The first lane of a comparison's result that is set, of which there is one.
template <class Mask>
FB_FN int first_lane(const Mask& mask) {
  [[maybe_unused]] constexpr int size = sizeof(mask[0]);
#if defined(__AVX512BW__)
  if constexpr (sizeof(Mask) == 64)
    return __builtin_ctzll(_mm512_movepi8_mask((__m512i)mask)) / size;
#endif
#if defined(__AVX2__)
  if constexpr (sizeof(Mask) == 32)
    return __builtin_ctz(static_cast<unsigned>(_mm256_movemask_epi8((__m256i)mask))) / size;
#endif
  int lane = 0;
  while (mask[lane] == 0) ++lane;
  return lane;
}

// b > a ? b : a, and b < a ? b : a: one instruction each for floats, which gives a where one of
// them is NaN. Compilers that see the comparison join it with another and need more.
template <class V>
FB_FN V larger(const V& a, const V& b) {
#if defined(__AVX512F__)
  if constexpr (__is_same(V, Vec<float>)) return (V)_mm512_max_ps((__m512)b, (__m512)a);
  if constexpr (__is_same(V, Vec<double>)) return (V)_mm512_max_pd((__m512d)b, (__m512d)a);
#elif defined(__AVX2__)
  if constexpr (__is_same(V, Vec<float>)) return (V)_mm256_max_ps((__m256)b, (__m256)a);
  if constexpr (__is_same(V, Vec<double>)) return (V)_mm256_max_pd((__m256d)b, (__m256d)a);
#endif
  return b > a ? b : a;
}
template <class V>
FB_FN V smaller(const V& a, const V& b) {
#if defined(__AVX512F__)
  if constexpr (__is_same(V, Vec<float>)) return (V)_mm512_min_ps((__m512)b, (__m512)a);
  if constexpr (__is_same(V, Vec<double>)) return (V)_mm512_min_pd((__m512d)b, (__m512d)a);
#elif defined(__AVX2__)
  if constexpr (__is_same(V, Vec<float>)) return (V)_mm256_min_ps((__m256)b, (__m256)a);
  if constexpr (__is_same(V, Vec<double>)) return (V)_mm256_min_pd((__m256d)b, (__m256d)a);
#endif
  return b < a ? b : a;
}

// The 16-bit floats to float and back, n at a time.
template <class T>
FB_FN void widen(const T* from, float* to, int64_t n) {
  constexpr int L = kLanes<float>;
  int64_t i = 0;
  for (; i + L <= n; i += L) store(to + i, load<float, L>(from + i));
  for (; i < n; ++i) to[i] = static_cast<float>(from[i]);
}
template <class T>
FB_FN void narrow(const float* from, T* to, int64_t n) {
  int64_t i = 0;
#if defined(__F16C__)
  if constexpr (__is_same(T, Half)) {
    for (; i + 8 <= n; i += 8)
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                       _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
  }
#endif
  for (; i < n; ++i) to[i] = T(from[i]);
}

// combine over the N lanes of v, as a tree.
template <class T, int N, class Combine>
FB_FN T fold_lanes(const Vec<T, N>& v, Combine combine) {
  if constexpr (N == 1) {
    return v;
  } else if constexpr (N == 2) {
    return combine(v[0], v[1]);
  } else {
    using Half = std::make_index_sequence<N / 2>;
    return fold_lanes<T, N / 2>(combine(detail::low_half(v, Half{}), detail::high_half(v, Half{})),
                                combine);
  }
}

}  // namespace fb::cpu::FB_ISA
