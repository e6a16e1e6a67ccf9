// Rows times rows, with nothing packed: see DotProducts in cpu/packed_gemm.h.
#include "cpu/kernels/simd.h"
#include "cpu/packed_gemm.h"

namespace fb::cpu::FB_ISA {
namespace {

// Lanes of [a, b] that hold the first (`high` = 0) or second (1) half of each block of `width`.
template <int L, int width, int high>
constexpr int half_of_block(int lane) {
  const int half = width / 2;
  const int block = lane / half;  // over both vectors
  return block * width + high * half + lane % half;
}

// Adds the halves of the blocks of two vectors: the result has blocks half as wide, those of `a`
// before those of `b`.
template <int width, class V, size_t... I>
FB_FN V add_halves(const V& a, const V& b, std::index_sequence<I...>) {
  constexpr int L = sizeof...(I);
  return FB_SHUFFLE(a, b, half_of_block<L, width, 0>(I)...) +
         FB_SHUFFLE(a, b, half_of_block<L, width, 1>(I)...);
}

// A vector whose lane i is the sum over the lanes of v[i], for as many vectors as it has lanes.
template <int count, int L, class V>
FB_FN V sums_of(const V* v) {
  if constexpr (count == 1) {
    return v[0];
  } else {
    // After this level each of the count / 2 * 2 halves is one vector.
    const V low = sums_of<count / 2, L>(v), high = sums_of<count / 2, L>(v + count / 2);
    return add_halves<L * 2 / count>(low, high, std::make_index_sequence<L>());
  }
}

// R rows of A against L / R rows of W, one sum per lane of a vector.
template <class T, int R>
FB_FN void tile(const DotProducts<T>& g, int64_t i, int64_t j, int64_t columns) {
  constexpr int L = kLanes<T>, C = L / R;
  const T* a[R];
  const T* w[C];
  for (int r = 0; r < R; ++r) a[r] = g.a + (i + r) * g.a_row;
  // Beyond the last column the last one is read again, and its sum is not stored.
  for (int c = 0; c < C; ++c) w[c] = g.w + (j + (c < columns ? c : columns - 1)) * g.w_row;
  Vec<T> sum[L] = {};
  int64_t k = 0;
  for (; k + L <= g.k; k += L) {
    Vec<T> left[R];
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) left[r] = load<T, L>(a[r] + k);
#pragma GCC unroll 16
    for (int c = 0; c < C; ++c) {
      const Vec<T> right = load<T, L>(w[c] + k);
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) sum[r * C + c] += left[r] * right;
    }
  }
  if (k < g.k) {
    Vec<T> left[R];
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) left[r] = load_part(a[r] + k, g.k - k, T(0));
#pragma GCC unroll 16
    for (int c = 0; c < C; ++c) {
      const Vec<T> right = load_part(w[c] + k, g.k - k, T(0));
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) sum[r * C + c] += left[r] * right;
    }
  }
  const Vec<T> totals = sums_of<L, L>(sum);
  for (int r = 0; r < R; ++r) {
    T* const out = g.c + (i + r) * g.c_row + j;
    for (int64_t c = 0; c < columns; ++c) {
      const T start = g.accumulate ? out[c] : (g.bias ? g.bias[j + c] : T(0));
      out[c] = start + totals[r * C + c];
    }
  }
}

template <class T, int R>
void rows(const DotProducts<T>& g, int64_t i) {
  constexpr int C = kLanes<T> / R;
  for (int64_t j = 0; j < g.n; j += C) tile<T, R>(g, i, j, g.n - j < C ? g.n - j : C);
}

}  // namespace

template <class T>
void dot_products(const DotProducts<T>& g) {
  constexpr int kRows = kLanes<T> < 4 ? kLanes<T> : 4;
  int64_t i = 0;
  for (; i + kRows <= g.m; i += kRows) rows<T, kRows>(g, i);
  for (; i + 2 <= g.m; i += 2) rows<T, 2>(g, i);
  if (i < g.m) rows<T, 1>(g, i);
}

template void dot_products(const DotProducts<float>&);
template void dot_products(const DotProducts<double>&);

}  // namespace fb::cpu::FB_ISA
