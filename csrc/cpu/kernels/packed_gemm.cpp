// Packing, and products with packed matrices: see cpu/packed_gemm.h.
#include "cpu/packed_gemm.h"

#include "cpu/kernels/transpose.h"

namespace fb::cpu::FB_ISA {
namespace {

// A tile of C is kRows x (kPanel vectors). Its sums, a row of B's panel and an element of A fill
// the registers, and each element of A, whose load is the bottleneck, serves kPanel products.
// Powers of two would fit less; rows in pairs bound how many tiles there are to compile.
#if defined(__AVX512F__)
constexpr int kRows = 14;
#elif defined(__AVX2__)
constexpr int kRows = 6;
#else
constexpr int kRows = 4;
#endif
constexpr int kPanel = 2;
// Vectors of a wide panel: as many sums as additions that are under way at the same time.
constexpr int kWidePanel = 8;
static_assert(kWideColumns % (kWidePanel * kLanes<float>) == 0);

// Rows in tiles as even as can be: 20 are 10 + 10 rather than 14 + 6.
struct Tiles {
  int64_t rows, count;

  explicit Tiles(int64_t m) : rows(m), count((m + kRows - 1) / kRows) {}
  int64_t begin(int64_t tile) const { return (rows + 1) / 2 * tile / count * 2; }
  int64_t size(int64_t tile) const {
    const int64_t end = tile + 1 == count ? rows : begin(tile + 1);
    return end - begin(tile);
  }
};

// The rows of a tile of A from the first element of the depth on: together, packed or by columns,
// or each where it lies. If the tile has one row less than its number of sums, the last row is
// computed twice.
template <class T, int R, bool kTogether>
struct LeftRows {
  const T* at[kTogether ? 1 : R];
  int64_t step;

  FB_FN LeftRows(const PackedProduct<T>& g, int64_t i, int64_t rows) {
    if constexpr (kTogether) {
      at[0] = g.a + i * (g.a_row ? 1 : g.k);
      step = g.a_row ? g.a_row : R;
    } else {
#pragma GCC unroll 14
      for (int r = 0; r < R; ++r) at[r] = g.a + (i + (r < rows ? r : R - 2)) * g.a_row;
    }
  }
  // Of row r, k steps along the depth if every row has its place; the others are advanced instead.
  FB_FN T element(int r, int64_t k) const { return kTogether ? at[0][r] : at[r][k]; }
  FB_FN void advance() {
    if constexpr (kTogether) at[0] += step;
  }
  // Packed rows come from the second-level cache, a line ahead of where they are needed.
  FB_FN void fetch_next() const { __builtin_prefetch(at[0] + step + 2); }
};

// The `width` columns of B and C from column j on, up to kPanel vectors of them.
template <class T>
struct Columns {
  int64_t j, width;
  const T* b;
  int64_t b_row;
};

// `rows` rows of C from row i on, R or one less, for V vectors of columns. Never inlined: together,
// the tiles of all sizes make a compiler run out of registers.
template <class T, int R, int V, bool kTogether>
[[gnu::noinline]] void tile(const PackedProduct<T>& g, int64_t i, int64_t rows,
                            const Columns<T>& columns) {
  constexpr int L = kLanes<T>;
  T* const c = g.c + i * g.c_row + columns.j;
  for (int64_t r = 0; r < rows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) __builtin_prefetch(c + r * g.c_row + v * L, 1);
  }
  LeftRows<T, R, kTogether> a(g, i, rows);
  const T* b = columns.b;
  const int64_t b_row = columns.b_row;
  Vec<T> sum[R][V] = {};
  // Of what most of the time is spent on.
  constexpr bool kFetches = kTogether && kRows == 14 && R >= kRows - 2 && V == kPanel;
  const auto add_products = [&](int64_t k) __attribute__((always_inline)) {
    Vec<T> right[V];
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) right[v] = load<T, L>(b + v * L);
    if constexpr (kFetches) a.fetch_next();
#pragma GCC unroll 14
    for (int r = 0; r < R; ++r) {
      const T left = a.element(r, k);
#pragma GCC unroll 2
      for (int v = 0; v < V; ++v) sum[r][v] += left * right[v];
    }
    b += b_row;
    a.advance();
  };
  int64_t k = 0;
  if constexpr (kFetches) {
    for (; k + 2 <= g.k; k += 2) {
      add_products(k);
      add_products(k + 1);
    }
  }
  for (; k < g.k; ++k) add_products(k);
  const int64_t last = columns.width - (V - 1) * L;
#pragma GCC unroll 14
  for (int r = 0; r < R; ++r) {
    if (r == R - 1 && rows < R) break;
    T* const out = c + r * g.c_row;
    const T* const start = g.accumulate ? out : g.bias ? g.bias + columns.j : nullptr;
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) {
      const bool whole = v < V - 1 || last == L;
      Vec<T> total = sum[r][v];
      if (start) total += whole ? load<T, L>(start + v * L) : load_part(start + v * L, last, T(0));
      whole ? store(out + v * L, total) : store_part(out + v * L, total, last);
    }
  }
}

template <class T, int R, int V, bool kTogether>
void tile_of(const PackedProduct<T>& g, int64_t i, int64_t rows, const Columns<T>& columns) {
  if constexpr (R > 0) {
    if (rows >= R - 1) return tile<T, R, V, kTogether>(g, i, rows, columns);
    tile_of<T, R - 2, V, kTogether>(g, i, rows, columns);
  }
}

template <class T, int V, bool kTogether>
void all_rows(const PackedProduct<T>& g, const Columns<T>& columns) {
  const Tiles tiles(g.m);
  for (int64_t t = 0; t < tiles.count; ++t)
    tile_of<T, kRows, V, kTogether>(g, tiles.begin(t), tiles.size(t), columns);
}

// The R rows of C for V vectors of columns from column j on, with B in place. The sums are those of
// a tile. A matrix that was read in the step before is in the second-level cache, from where it
// comes in time only if it is asked for.
template <class T, int R, int V>
[[gnu::noinline]] void wide_tile(const PackedProduct<T>& g, int64_t j) {
  constexpr int L = kLanes<T>;
  const T* b = g.b + j;
  Vec<T> sum[R][V] = {};
  for (int64_t k = 0; k < g.k; ++k, b += g.b_row) {
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) {
      __builtin_prefetch(b + 4 * g.b_row + v * L);
      const Vec<T> right = load<T, L>(b + v * L);
#pragma GCC unroll 2
      for (int r = 0; r < R; ++r) sum[r][v] += g.a[r * g.a_row + k] * right;
    }
  }
#pragma GCC unroll 2
  for (int r = 0; r < R; ++r) {
    T* const out = g.c + r * g.c_row + j;
    const T* const start = g.accumulate ? out : g.bias ? g.bias + j : nullptr;
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v)
      store(out + v * L, start ? sum[r][v] + load<T, L>(start + v * L) : sum[r][v]);
  }
}

// Of one row or two, as many columns as fill wide tiles; returns where the others begin.
template <class T, int R>
int64_t wide_tiles(const PackedProduct<T>& g) {
  constexpr int V = kVectorBytes == 64 ? kWidePanel : kWidePanel / R;  // as registers allow
  int64_t j = 0;
  for (; j + V * kLanes<T> <= g.n; j += V * kLanes<T>) wide_tile<T, R, V>(g, j);
  return j;
}

template <class T>
int64_t few_rows(const PackedProduct<T>& g) {
  return g.m == 1 ? wide_tiles<T, 1>(g) : g.m == 2 ? wide_tiles<T, 2>(g) : 0;
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

// The first panels, whole ones, of a matrix stored by rows: a row of some at a time, as every row
// may lie in a page of its own. Rows of more panels would all be written to one set of a cache.
template <int64_t kWidth, class T>
void pack_whole_panels(const PackSource<T>& s, T* out) {
  constexpr int64_t kTogether = 4;
  const int64_t panels = s.n / kWidth;
  for (int64_t first = 0; first < panels; first += kTogether) {
    const int64_t count = panels - first < kTogether ? panels - first : kTogether;
    const T* from = s.data + first * kWidth;
    T* to = out + first * kWidth * s.k;
    for (int64_t k = 0; k < s.k; ++k, from += s.ld, to += kWidth) {
      for (int64_t p = 0; p < count; ++p)
        __builtin_memcpy(to + p * kWidth * s.k, from + p * kWidth, kWidth * sizeof(T));
    }
  }
}

template <class T, bool kTogether>
void all_panels(const PackedProduct<T>& g) {
  constexpr int L = kLanes<T>;
  int64_t j = 0;
  if constexpr (!kTogether) j = g.b_row ? few_rows(g) : 0;
  for (; j < g.n; j += kPanel * L) {
    Columns<T> columns{j, g.n - j < kPanel * L ? g.n - j : kPanel * L, g.b + j, g.b_row};
    if (g.b_row == 0) {
      columns.b = g.b + j * g.k;
      columns.b_row = (columns.width + L - 1) / L * L;
    }
    if (columns.width > L)
      all_rows<T, 2, kTogether>(g, columns);
    else
      all_rows<T, 1, kTogether>(g, columns);
  }
}

// Each as a matrix that is read in place.
template <class T>
void wide_panels(const PackedProduct<T>& g) {
  constexpr int64_t kWidth = kWidePanel * kLanes<T>;
  for (int64_t j = 0; j < g.n; j += kWidth) {
    PackedProduct<T> panel = g;
    panel.n = g.n - j < kWidth ? g.n - j : kWidth;
    panel.b += j * g.k;
    panel.b_row = (panel.n + kLanes<T> - 1) / kLanes<T> * kLanes<T>;
    panel.c += j;
    if (g.bias) panel.bias += j;
    all_panels<T, false>(panel);
  }
}

// A tile of rows that are stored as rows, R of them or one less: squares are transposed in the
// registers. What a row of the result has too many is written over by the next.
template <class T, int R>
void pack_tile_rows(const PackSource<T>& s, int64_t i, int64_t rows, T* out) {
  constexpr int L = kLanes<T>, kSquares = (R + L - 1) / L;
  const T* at[R];
  for (int r = 0; r < R; ++r) at[r] = s.data + (i + (r < rows ? r : rows - 1)) * s.ld;
  int64_t k = 0;
  for (; k + L <= s.k; k += L) {
    Vec<T> square[kSquares][L];
#pragma GCC unroll 4
    for (int q = 0; q < kSquares; ++q) {
#pragma GCC unroll 16
      for (int r = 0; r < L; ++r)
        square[q][r] = q * L + r < R ? load<T, L>(at[q * L + r < R ? q * L + r : 0] + k) : Vec<T>{};
      transpose_lanes(square[q]);
    }
#pragma GCC unroll 16
    for (int l = 0; l < L; ++l) {
#pragma GCC unroll 4
      for (int q = 0; q < kSquares; ++q) store(out + (k + l) * R + q * L, square[q][l]);
    }
  }
  for (; k < s.k; ++k)
    for (int r = 0; r < R; ++r) out[k * R + r] = at[r][k];
}

// The same for rows that are stored as columns.
template <class T, int R>
void pack_tile_columns(const PackSource<T>& s, int64_t i, int64_t rows, T* out) {
  const T* from = s.data + i;
  if (rows == R) {
    for (int64_t k = 0; k < s.k; ++k, from += s.ld, out += R)
      __builtin_memcpy(out, from, R * sizeof(T));
  } else {
    for (int64_t k = 0; k < s.k; ++k, from += s.ld, out += R)
      for (int r = 0; r < R; ++r) out[r] = from[r < rows ? r : rows - 1];
  }
}

template <class T, int R>
void pack_tile(const PackSource<T>& s, int64_t i, int64_t rows, T* out) {
  if constexpr (R > 0) {
    if (rows < R - 1) return pack_tile<T, R - 2>(s, i, rows, out);
    s.transposed ? pack_tile_rows<T, R>(s, i, rows, out) : pack_tile_columns<T, R>(s, i, rows, out);
  }
}

}  // namespace

template <class T>
void packed_product(const PackedProduct<T>& g) {
  if (g.b_is_wide) return wide_panels(g);
  g.a_row && !g.a_by_columns ? all_panels<T, false>(g) : all_panels<T, true>(g);
}

template <class T>
void pack_matrix(const PackSource<T>& s, T* packed) {
  constexpr int L = kLanes<T>;
  const int64_t whole = (s.wide ? kWidePanel : kPanel) * L;
  int64_t j = 0;
  if (!s.transposed) {
    s.wide ? pack_whole_panels<kWidePanel * L>(s, packed)
           : pack_whole_panels<kPanel * L>(s, packed);
    j = s.n / whole * whole;
  }
  for (; j < s.n; j += whole) {
    const int64_t width = s.n - j < whole ? s.n - j : whole;
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

template <class T>
void pack_rows(const PackSource<T>& s, T* packed) {
  // A cache line of a matrix stored by columns belongs to several tiles: they take so many of its
  // rows at a time that the lines are still in the first-level cache.
  constexpr int64_t kSteps = 16;
  const int64_t most = s.transposed ? s.k : kSteps;
  const Tiles tiles(s.n);
  for (int64_t k = 0; k < s.k; k += most) {
    PackSource<T> part = s;
    part.k = s.k - k < most ? s.k - k : most;
    part.data += s.transposed ? k : k * s.ld;
    for (int64_t t = 0; t < tiles.count; ++t) {
      const int64_t i = tiles.begin(t), rows = tiles.size(t);
      pack_tile<T, kRows>(part, i, rows, packed + i * s.k + (rows + 1) / 2 * 2 * k);
    }
  }
}

template void packed_product(const PackedProduct<float>&);
template void packed_product(const PackedProduct<double>&);
template void pack_matrix(const PackSource<float>&, float*);
template void pack_matrix(const PackSource<double>&, double*);
template void pack_rows(const PackSource<float>&, float*);

}  // namespace fb::cpu::FB_ISA
