// Conversion between every pair of element types, and transposition of tiles.
#include "cpu/copy.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "cpu/kernels/half_run.h"
#include "cpu/kernels/loops.h"
#include "cpu/kernels/transpose.h"

namespace fb::cpu::FB_ISA {
namespace {

// convert, with values beyond a small integer wrapping around. Conversions of floats to signed
// integers show the machine's conversion to 32 bits: NaN and values out of range become the
// smallest number.
template <class To, class From>
FB_FN To element_as(const From& from) {
  constexpr bool from_small = __is_same(From, Half) || __is_same(From, BFloat16);
  if constexpr (from_small && std::is_integral_v<To>) {
    return element_as<To>(static_cast<float>(from));
  } else if constexpr (kIsComplex<From> && std::is_integral_v<To> && !kIsBool<To>) {
    return element_as<To>(from.re);
  } else if constexpr (kIsFloat<From> && std::is_integral_v<To> && std::is_signed_v<To> &&
                       sizeof(To) <= sizeof(int32_t)) {
    constexpr From limit = From(1ll << 31);
    const bool fits = (from >= -limit) & (from < limit);
    return static_cast<To>(fits ? static_cast<int32_t>(from) : std::numeric_limits<int32_t>::min());
  } else {
    return convert<To>(from);
  }
}

// out[i] = in[-i]. GCC 12 turns the words of a vector and then the bytes of each.
template <class T>
void reverse_run(int64_t n, const T* __restrict in, T* __restrict out) {
  constexpr int L = kLanes<T>;
  if (n < L) {
    for (int64_t i = 0; i < n; ++i) out[i] = in[-i];
    return;
  }
  // The last vector may overlap the one before.
  for (int64_t i = 0;;) {
    const Vec<T> value = load<T, L>(in - i - (L - 1));
    store(out + i, detail::backwards(value, std::make_index_sequence<L>{}));
    if (i + L == n) return;
    i = i + 2 * L <= n ? i + L : n - L;
  }
}

#if defined(__AVX2__) && !defined(__AVX512DQ__)
// Before AVX-512 the machine converts numbers of 64 bits one by one. Those of less than 51 bits are
// exact doubles, which the sum with 1.5 * 2^52 has in its low bits; so they are rounded once, too.
void to_floats(const int64_t* __restrict in, float* __restrict out, int64_t n) {
  constexpr int64_t limit = 1ll << 51;
  const __m256d magic = _mm256_set1_pd(0x1.8p52);
  const auto part = [&](const __m256i x) {
    const __m256i bits = _mm256_add_epi64(x, _mm256_castpd_si256(magic));
    return _mm256_cvtpd_ps(_mm256_sub_pd(_mm256_castsi256_pd(bits), magic));
  };
  const __m256i offset = _mm256_set1_epi64x(limit), high = _mm256_set1_epi64x(-2 * limit);
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + i));
    const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + i + 4));
    const __m256i sizes = _mm256_or_si256(_mm256_add_epi64(a, offset), _mm256_add_epi64(b, offset));
    if (_mm256_testz_si256(sizes, high)) {
      _mm256_storeu_ps(out + i, _mm256_set_m128(part(b), part(a)));
    } else {
      for (int64_t k = i; k < i + 8; ++k) out[k] = static_cast<float>(in[k]);
    }
  }
  for (; i < n; ++i) out[i] = static_cast<float>(in[i]);
}
#endif

template <class From, class To>
void convert_run(int64_t n, const void* in, int64_t in_step, void* out, int64_t out_step) {
  if (in_step == sizeof(From) && out_step == sizeof(To)) {
    if constexpr (__is_same(From, To)) {
      std::memcpy(out, in, static_cast<size_t>(n) * sizeof(From));
    } else if constexpr (__is_same(From, Half) && __is_same(To, float)) {
      to_floats(static_cast<const Half*>(in), static_cast<float*>(out), n);
    } else if constexpr (__is_same(From, float) && __is_same(To, Half)) {
      to_halves(static_cast<const float*>(in), static_cast<Half*>(out), n);
#if defined(__AVX2__) && !defined(__AVX512DQ__)
    } else if constexpr (__is_same(From, int64_t) && __is_same(To, float)) {
      to_floats(static_cast<const int64_t*>(in), static_cast<float*>(out), n);
#endif
    } else {
      const auto* __restrict source = static_cast<const From*>(in);
      auto* __restrict target = static_cast<To*>(out);
      FB_IVDEP
      for (int64_t i = 0; i < n; ++i) target[i] = element_as<To>(source[i]);
    }
    return;
  }
  if (in_step == 0 && out_step == sizeof(To)) {
    const To value = element_as<To>(*static_cast<const From*>(in));
    auto* target = static_cast<To*>(out);
    for (int64_t i = 0; i < n; ++i) target[i] = value;
    return;
  }
  if constexpr (__is_same(From, To)) {
    if (in_step == -static_cast<int64_t>(sizeof(From)) && out_step == sizeof(To)) {
      const auto reverse = [&](auto tag) {
        using T = typename decltype(tag)::type;
        reverse_run(n, static_cast<const T*>(in), static_cast<T*>(out));
      };
      if constexpr (sizeof(From) == 1)
        return reverse(TypeTag<uint8_t>{});
      else if constexpr (sizeof(From) == 2)
        return reverse(TypeTag<uint16_t>{});
      else if constexpr (sizeof(From) == 4)
        return reverse(TypeTag<uint32_t>{});
      else if constexpr (!kIsComplex<From>)
        return reverse(TypeTag<uint64_t>{});
    }
  }
  const auto* source = static_cast<const char*>(in);
  auto* target = static_cast<char*>(out);
  for (int64_t i = 0; i < n; ++i) {
    *reinterpret_cast<To*>(target) = element_as<To>(*reinterpret_cast<const From*>(source));
    source += in_step;
    target += out_step;
  }
}

struct Wide {
  uint64_t low, high;
};

// In squares of N elements that are turned in registers, the rest in smaller ones.
template <int N, class T>
void transpose_squares(int64_t rows, int64_t columns, const T* in, int64_t in_step, T* out,
                       int64_t out_step) {
  if constexpr (N < 4) {
    for (int64_t c = 0; c < columns; ++c)
      for (int64_t r = 0; r < rows; ++r) out[c * out_step + r] = in[r * in_step + c];
  } else {
    const int64_t whole_rows = rows / N * N, whole_columns = columns / N * N;
    for (int64_t r = 0; r < whole_rows; r += N) {
      for (int64_t c = 0; c < whole_columns; c += N) {
        Vec<T, N> square[N];
#pragma GCC unroll 16
        for (int i = 0; i < N; ++i) square[i] = load<T, N>(in + (r + i) * in_step + c);
        transpose_lanes(square);
#pragma GCC unroll 16
        for (int i = 0; i < N; ++i) store(out + (c + i) * out_step + r, square[i]);
      }
    }
    if (whole_columns < columns)
      transpose_squares<N / 2>(rows, columns - whole_columns, in + whole_columns, in_step,
                               out + whole_columns * out_step, out_step);
    if (whole_rows < rows)
      transpose_squares<N / 2>(rows - whole_rows, whole_columns, in + whole_rows * in_step, in_step,
                               out + whole_rows, out_step);
  }
}

template <class T>
constexpr int square_of() {
  if constexpr (__is_same(T, Wide))
    return 1;
  else
    return kLanes<T> < 16 ? kLanes<T> : 16;
}

template <class T>
void transpose_stripe(int64_t rows, int64_t columns, const T* __restrict in, int64_t in_step,
                      T* __restrict out, int64_t out_step) {
  // Blocks of 16 x 16 keep both sides in the first-level cache and in whole cache lines.
  constexpr int64_t kBlock = 16;
  for (int64_t r = 0; r < rows; r += kBlock)
    for (int64_t c = 0; c < columns; c += kBlock)
      transpose_squares<square_of<T>()>(std::min(kBlock, rows - r), std::min(kBlock, columns - c),
                                        in + r * in_step + c, in_step, out + c * out_step + r,
                                        out_step);
}

// In stripes, so that lines written for some rows are still cached when the next rows are written.
template <class T>
void transpose_stripes(int64_t rows, int64_t columns, const T* in, int64_t in_step, T* out,
                       int64_t out_step) {
  constexpr int64_t kStripe = 256;
  for (int64_t c = 0; c < columns; c += kStripe) {
    const int64_t width = kStripe < columns - c ? kStripe : columns - c;
    transpose_stripe(rows, width, in + c, in_step, out + c * out_step, out_step);
  }
}

}  // namespace

ConvertFn convert_kernel(DType from, DType to) {
  return visit_all(from, [&](auto from_tag) {
    using From = typename decltype(from_tag)::type;
    return visit_all(to, [](auto to_tag) -> ConvertFn {
      return convert_run<From, typename decltype(to_tag)::type>;
    });
  });
}

void copy_triples(int64_t n, const void* in, int64_t in_step, void* out, int64_t out_step) {
  const auto* from = static_cast<const uint8_t*>(in);
  auto* to = static_cast<uint8_t*>(out);
  int64_t i = 0;
  if (in_step == -3 && out_step == 3) {
    // Five triples in 16 bytes: the odd byte is part of another one, and of the result it is
    // overwritten later.
    for (; i + 6 <= n; i += 5) {
      const auto bytes = load<uint8_t, 16>(from - 3 * (i + 4) - 1);
      store(to + 3 * i,
            FB_SHUFFLE(bytes, bytes, 13, 14, 15, 10, 11, 12, 7, 8, 9, 4, 5, 6, 1, 2, 3, 0));
    }
  }
  for (; i < n; ++i) __builtin_memcpy(to + i * out_step, from + i * in_step, 3);
}

void transpose_tile(size_t element_size, int64_t rows, int64_t columns, const void* in,
                    int64_t in_step, void* out, int64_t out_step) {
  const auto run = [&](auto tag) {
    using T = typename decltype(tag)::type;
    transpose_stripes(rows, columns, static_cast<const T*>(in), in_step, static_cast<T*>(out),
                      out_step);
  };
  switch (element_size) {
    case 1: return run(TypeTag<uint8_t>{});
    case 2: return run(TypeTag<uint16_t>{});
    case 4: return run(TypeTag<uint32_t>{});
    case 8: return run(TypeTag<uint64_t>{});
    default: return run(TypeTag<Wide>{});
  }
}

}  // namespace fb::cpu::FB_ISA
