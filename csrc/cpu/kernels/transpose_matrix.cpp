// The transpose of a matrix: see transpose_matrix.h. Squares as wide as a vector are transposed in
// registers, which stores whole vectors where a plain loop stores single elements far apart.
#include "cpu/kernels/transpose_matrix.h"

#include <utility>

#include "cpu/kernels/simd.h"

namespace fb::cpu::FB_ISA {
namespace {

// Wider squares would leave much of a small matrix to single elements.
constexpr int kSquareBytes = kVectorBytes < 32 ? kVectorBytes : 32;

// Within each stretch of 2 `half` lanes: the first half of both vectors, or the second.
template <int half, bool second, class V, int... lane>
FB_FN V halves(V a, V b, std::integer_sequence<int, lane...>) {
  constexpr int lanes = sizeof...(lane);
  constexpr int shift = second ? half : 0;
  return FB_SHUFFLE(a, b, (lane & half ? lanes + lane - half : lane) + shift...);
}

// Exchanges the off-diagonal squares of `half` rows within each square of twice as many.
template <int lanes, int half, class V>
FB_FN void exchange(V* rows) {
  constexpr auto all = std::make_integer_sequence<int, lanes>();
  for (int i = 0; i < lanes; ++i) {
    if (i & half) continue;
    const V a = rows[i], b = rows[i + half];
    rows[i] = halves<half, false>(a, b, all);
    rows[i + half] = halves<half, true>(a, b, all);
  }
  if constexpr (2 * half < lanes) exchange<lanes, 2 * half>(rows);
}

template <class T, int lanes>
FB_FN void turn_square(const T* from, int64_t from_ld, T* to, int64_t to_ld) {
  Vec<T, lanes> rows[lanes];
  for (int i = 0; i < lanes; ++i) rows[i] = load<T, lanes>(from + i * from_ld);
  exchange<lanes, 1>(rows);
  for (int i = 0; i < lanes; ++i) store(to + i * to_ld, rows[i]);
}

// The columns from j on: `lanes` at a time, and fewer and fewer for the rest.
template <class T, int lanes>
void turn_columns(const TransposeCall<T>& t, int64_t j) {
  for (; j + lanes <= t.columns; j += lanes) {
    const T* from = t.from + j;
    T* to = t.to + j * t.to_ld;
    int64_t i = 0;
    if constexpr (lanes > 1) {
      for (; i + lanes <= t.rows; i += lanes)
        turn_square<T, lanes>(from + i * t.from_ld, t.from_ld, to + i, t.to_ld);
    }
    for (; i < t.rows; ++i) {
      for (int c = 0; c < lanes; ++c) to[c * t.to_ld + i] = from[i * t.from_ld + c];
    }
  }
  if constexpr (lanes > 1) turn_columns<T, lanes / 2>(t, j);
}

}  // namespace

template <class T>
void transpose_matrix(const TransposeCall<T>& t) {
  turn_columns<T, kSquareBytes / sizeof(T)>(t, 0);
}

template void transpose_matrix(const TransposeCall<float>&);
template void transpose_matrix(const TransposeCall<double>&);

}  // namespace fb::cpu::FB_ISA
