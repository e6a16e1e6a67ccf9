// Packing, and products with packed matrices: see cpu/packed_gemm.h.
#include "cpu/packed_gemm.h"

#include "cpu/kernels/transpose.h"

namespace fb::cpu::FB_ISA {
namespace {

// A panel is up to kPanel vectors wide. With kRows rows of A, its sums take three quarters of the
// registers.
constexpr int kPanel = 4;
constexpr int kRows = kVectorBytes == 64 ? 6 : 2;

// R rows of C from row i on, for the `width` columns of a panel of V vectors at column j.
template <class T, int R, int V>
FB_FN void tile(const PackedProduct<T>& g, int64_t i, int64_t j, int64_t width) {
  constexpr int L = kLanes<T>;
  const int64_t last = width - (V - 1) * L;
  T* const c = g.c + i * g.c_row + j;
  Vec<T> sum[R][V] = {};
  if (g.accumulate || g.bias) {
    const T* const start = g.accumulate ? c : g.bias + j;
    const int64_t start_row = g.accumulate ? g.c_row : 0;
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
      for (int v = 0; v < V - 1; ++v) sum[r][v] = load<T, L>(start + r * start_row + v * L);
      const T* const end = start + r * start_row + (V - 1) * L;
      sum[r][V - 1] = last == L ? load<T, L>(end) : load_part(end, last, T(0));
    }
  }
  const T* a = g.a + i * g.a_row;
  const T* b = g.b + j * g.k;
  for (int64_t k = 0; k < g.k; ++k, ++a, b += V * L) {
    Vec<T> right[V];
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) right[v] = load<T, L>(b + v * L);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const Vec<T> left = broadcast<T, L>(a[r * g.a_row]);
#pragma GCC unroll 8
      for (int v = 0; v < V; ++v) sum[r][v] += left * right[v];
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < V - 1; ++v) store(c + r * g.c_row + v * L, sum[r][v]);
    T* const end = c + r * g.c_row + (V - 1) * L;
    last == L ? store(end, sum[r][V - 1]) : store_part(end, sum[r][V - 1], last);
  }
}

template <class T, int R, int V>
void tile_of(const PackedProduct<T>& g, int64_t rows, int64_t i, int64_t j, int64_t width) {
  if constexpr (R > 0) {
    if (rows == R) return tile<T, R, V>(g, i, j, width);
    tile_of<T, R - 1, V>(g, rows, i, j, width);
  }
}

// All rows, in blocks as even as can be: 8 rows are 4 + 4 rather than 6 + 2.
template <class T, int V>
void panel(const PackedProduct<T>& g, int64_t j, int64_t width) {
  int64_t blocks = (g.m + kRows - 1) / kRows;
  for (int64_t i = 0; i < g.m; --blocks) {
    const int64_t rows = (g.m - i + blocks - 1) / blocks;
    tile_of<T, kRows, V>(g, rows, i, j, width);
    i += rows;
  }
}

// A vector of columns from column j on, whose rows are `padded` apart in the panel.
template <class T>
void pack_straight(const PackSource<T>& s, int64_t j, int64_t columns, int64_t padded, T* out) {
  for (int64_t k = 0; k < s.k; ++k, out += padded) {
    const T* const from = s.data + k * s.ld + j;
    for (int64_t c = 0; c < columns; ++c) out[c] = from[c];
    for (int64_t c = columns; c < kLanes<T>; ++c) out[c] = T(0);
  }
}

// The same for a matrix stored by columns, a square block at a time: in registers if the block is
// whole, otherwise its lines stay in the first-level cache, even though many of them often map to
// the same set of that cache.
template <class T>
void pack_transposed(const PackSource<T>& s, int64_t j, int64_t columns, int64_t padded, T* out) {
  constexpr int L = kLanes<T>;
  for (int64_t block = 0; block < s.k; block += L) {
    const int64_t end = s.k - block < L ? s.k - block : L;
    if (columns == L && end == L) {
      transpose_tile(s.data + j * s.ld + block, s.ld, out + block * padded, padded);
      continue;
    }
    for (int64_t c = 0; c < L; ++c) {
      const T* const from = s.data + (j + (c < columns ? c : 0)) * s.ld + block;
      T* const to = out + block * padded + c;
      for (int64_t k = 0; k < end; ++k) to[k * padded] = c < columns ? from[k] : T(0);
    }
  }
}

}  // namespace

template <class T>
void packed_product(const PackedProduct<T>& g) {
  constexpr int L = kLanes<T>;
  for (int64_t j = 0; j < g.n; j += kPanel * L) {
    const int64_t width = g.n - j < kPanel * L ? g.n - j : kPanel * L;
    switch ((width + L - 1) / L) {
      case 1: panel<T, 1>(g, j, width); break;
      case 2: panel<T, 2>(g, j, width); break;
      case 3: panel<T, 3>(g, j, width); break;
      default: panel<T, 4>(g, j, width);
    }
  }
}

template <class T>
void pack_matrix(const PackSource<T>& s, T* packed) {
  constexpr int L = kLanes<T>;
  for (int64_t j = 0; j < s.n; j += kPanel * L) {
    const int64_t width = s.n - j < kPanel * L ? s.n - j : kPanel * L;
    const int64_t padded = (width + L - 1) / L * L;
    T* const out = packed + j * s.k;
    for (int64_t c = 0; c < padded; c += L) {
      const int64_t columns = width - c < L ? width - c : L;
      if (s.transposed)
        pack_transposed(s, j + c, columns, padded, out + c);
      else
        pack_straight(s, j + c, columns, padded, out + c);
    }
  }
}

template void packed_product(const PackedProduct<float>&);
template void packed_product(const PackedProduct<double>&);
template void pack_matrix(const PackSource<float>&, float*);
template void pack_matrix(const PackSource<double>&, double*);

}  // namespace fb::cpu::FB_ISA
