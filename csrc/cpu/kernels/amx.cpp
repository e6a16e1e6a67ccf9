// Products of bfloat16 matrices by AMX: see cpu/amx.h.
//
// A tile is 16 rows of 64 bytes. TDPBF16PS adds to a tile of 16 x 16 floats of C the product of one
// of A, 16 rows of 32 elements of the depth, and one of B, 16 rows each of which holds two rows of
// B for 16 columns, element beside element.
#include "cpu/amx.h"

#include <algorithm>

#include "cpu/kernels/transpose.h"

namespace fb::cpu::FB_ISA {
namespace {

constexpr int64_t kSide = kAmxSide, kTileRows = 16, kTile = kTileRows * kSide;
constexpr int64_t kSquare = kSide * kSide;
constexpr int kPairs = 16;  // of 32 elements

// The tile registers in plain code, for processors without them.
class EmulatedTiles {
 public:
  template <int t>
  void zero() {
    __builtin_memset(&tiles_[t], 0, sizeof(Tile));
  }
  template <int t>
  void load(const void* from, int64_t bytes) {
    for (int i = 0; i < kTileRows; ++i)
      __builtin_memcpy(tiles_[t].row[i], static_cast<const char*>(from) + i * bytes, 64);
  }
  template <int t>
  void store(void* to, int64_t bytes) const {
    for (int i = 0; i < kTileRows; ++i)
      __builtin_memcpy(static_cast<char*>(to) + i * bytes, tiles_[t].row[i], 64);
  }
  // c += a b
  template <int c, int a, int b>
  void multiply() {
    float right[2][kPairs][kPairs];
    for (int k = 0; k < kPairs; ++k) {
      BFloat16 row[2 * kPairs];
      __builtin_memcpy(row, tiles_[b].row[k], sizeof(row));
      for (int j = 0; j < kPairs; ++j) {
        for (int p = 0; p < 2; ++p) right[p][k][j] = static_cast<float>(row[2 * j + p]);
      }
    }
    for (int i = 0; i < kTileRows; ++i) {
      BFloat16 left[2 * kPairs];
      float sum[kPairs];
      __builtin_memcpy(left, tiles_[a].row[i], sizeof(left));
      __builtin_memcpy(sum, tiles_[c].row[i], sizeof(sum));
      for (int k = 0; k < kPairs; ++k) {
        for (int p = 0; p < 2; ++p) {
          const float each = static_cast<float>(left[2 * k + p]);
          for (int j = 0; j < kPairs; ++j) sum[j] += each * right[p][k][j];
        }
      }
      __builtin_memcpy(tiles_[c].row[i], sum, sizeof(sum));
    }
  }

 private:
  struct Tile {
    unsigned char row[kTileRows][64];
  };
  Tile tiles_[8];
};

#if defined(FB_MULTI_ISA) && defined(__AVX512F__)
#define FB_AMX_TILES
// GCC assembles any instruction, Clang those of the function's target alone. The compilers' own
// functions take literals for numbers of tiles and, in GCC, do not say that loads read memory.
#if defined(__clang__)
#define FB_AMX __attribute__((target("amx-tile,amx-bf16")))
#else
#define FB_AMX
#endif

class RealTiles {
 public:
  FB_AMX RealTiles() {
    struct alignas(64) Configuration {
      uint8_t palette = 1, unused[15] = {};
      uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
      uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
    };
    static constexpr Configuration kAllWhole;
    __asm__ volatile("ldtilecfg (%0)" ::"r"(&kAllWhole) : "memory");
  }
  // The system saves no tiles of a thread that has released them.
  FB_AMX ~RealTiles() { __asm__ volatile("tilerelease" ::: "memory"); }
  RealTiles(const RealTiles&) = delete;
  RealTiles& operator=(const RealTiles&) = delete;

  template <int t>
  FB_AMX inline __attribute__((always_inline)) void zero() {
    __asm__ volatile("tilezero %%tmm%c0" ::"i"(t));
  }
  template <int t>
  FB_AMX inline __attribute__((always_inline)) void load(const void* from, int64_t bytes) {
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(bytes), "i"(t) : "memory");
  }
  template <int t>
  FB_AMX inline __attribute__((always_inline)) void store(void* to, int64_t bytes) {
    __asm__ volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(bytes), "i"(t) : "memory");
  }
  template <int c, int a, int b>
  FB_AMX inline __attribute__((always_inline)) void multiply() {
    __asm__ volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(c), "i"(a), "i"(b));
  }
};
#else
#define FB_AMX
#endif

// Rows of `from` or, where the matrix ends, a copy of the square with zeros behind it.
struct Square {
  const BFloat16* data;
  int64_t ld;

  Square(const BFloat16* from, int64_t from_ld, int64_t rows, int64_t columns, BFloat16* copy)
      : data(from), ld(from_ld) {
    if (rows >= kSide && columns >= kSide) return;
    __builtin_memset(copy, 0, kSquare * sizeof(BFloat16));
    for (int64_t i = 0; i < std::min(rows, kSide); ++i)
      __builtin_memcpy(copy + i * kSide, from + i * from_ld,
                       std::min(columns, kSide) * sizeof(BFloat16));
    data = copy;
    ld = kSide;
  }
};

// Of 16 rows of 16 pairs, the transpose.
void transpose_pairs(const BFloat16* from, int64_t ld, BFloat16* to) {
  constexpr int L = kLanes<int32_t>;
  for (int i = 0; i < kPairs; i += L) {
    for (int j = 0; j < kPairs; j += L) {
      Vec<int32_t> rows[L];
      for (int l = 0; l < L; ++l)
        __builtin_memcpy(&rows[l], from + (i + l) * ld + 2 * j, sizeof(rows[l]));
      transpose_lanes(rows);
      for (int l = 0; l < L; ++l)
        __builtin_memcpy(to + (j + l) * kSide + 2 * i, &rows[l], sizeof(rows[l]));
    }
  }
}

// Two tiles of pairs of rows: the left 16 columns and the right ones.
void pair_rows(const Square& from, BFloat16* to) {
  constexpr int L = kLanes<int32_t>;
  for (int p = 0; p < kPairs; ++p, to += kSide) {
    const auto* even = reinterpret_cast<const unsigned short*>(from.data + 2 * p * from.ld);
    const auto* odd = reinterpret_cast<const unsigned short*>(from.data + (2 * p + 1) * from.ld);
    for (int j = 0; j < 2 * kPairs; j += L) {
      const Vec<unsigned> both = widened<L>(even + j) | widened<L>(odd + j) << 16;
      __builtin_memcpy(to + j / kPairs * kTile + j % kPairs * 2, &both, sizeof(both));
    }
  }
}

// Packs A's or B's square: two tiles one after the other.
template <bool kLeft>
void pack_square(const Square& from, bool by_depth, BFloat16* to) {
  if (kLeft && by_depth) {
    for (int64_t i = 0; i < kSide; ++i)
      __builtin_memcpy(to + i * kSide, from.data + i * from.ld, kSide * sizeof(BFloat16));
  } else if (by_depth) {
    transpose_pairs(from.data, from.ld, to);
    transpose_pairs(from.data + kTileRows * from.ld, from.ld, to + kTile);
  } else if (kLeft) {
    alignas(64) BFloat16 pairs[kSquare];
    pair_rows(from, pairs);
    transpose_pairs(pairs, kSide, to);
    transpose_pairs(pairs + kTile, kSide, to + kTile);
  } else {
    pair_rows(from, to);
  }
}

// Packs `extent` rows of A or columns of B, over so much of the depth: strips of squares.
// `by_depth`: whether elements along the depth are neighbours.
template <bool kLeft>
void pack(const BFloat16* data, int64_t ld, bool by_depth, int64_t extent, int64_t depth,
          BFloat16* to) {
  alignas(64) BFloat16 copy[kSquare];
  for (int64_t s = 0; s < extent; s += kSide) {
    for (int64_t k = 0; k < depth; k += kSide, to += kSquare) {
      const Square square = by_depth ? Square(data + s * ld + k, ld, extent - s, depth - k, copy)
                                     : Square(data + k * ld + s, ld, depth - k, extent - s, copy);
      pack_square<kLeft>(square, by_depth, to);
    }
  }
}

// 32 rows of A over a block of the depth: where they lie, or packed; and the last square where the
// depth is no multiple of 32 (otherwise null).
struct Strip {
  const BFloat16* data;
  int64_t row, step, steps;
  const BFloat16* last;
};

// A square of C, whose sums begin at zero or at `sums`, which take the result.
template <class Tiles>
FB_AMX void multiply_square(Tiles& tiles, const Strip& a, const BFloat16* b, bool begins,
                            float* sums) {
  constexpr int64_t kRow = kSide * sizeof(float), kLower = kTileRows * kSide;
  if (begins) {
    tiles.template zero<0>();
    tiles.template zero<1>();
    tiles.template zero<2>();
    tiles.template zero<3>();
  } else {
    tiles.template load<0>(sums, kRow);
    tiles.template load<1>(sums + kTileRows, kRow);
    tiles.template load<2>(sums + kLower, kRow);
    tiles.template load<3>(sums + kLower + kTileRows, kRow);
  }
  const BFloat16* left = a.data;
  int64_t row = a.row;
  for (int64_t step = 0; step <= a.steps; ++step, left += a.step, b += kSquare) {
    if (step == a.steps) {
      if (!a.last) break;
      left = a.last;
      row = kSide;
    }
    tiles.template load<4>(left, row * 2);
    tiles.template load<6>(b, 64);
    tiles.template multiply<0, 4, 6>();
    tiles.template load<7>(b + kTile, 64);
    tiles.template multiply<1, 4, 7>();
    tiles.template load<5>(left + kTileRows * row, row * 2);
    tiles.template multiply<2, 5, 6>();
    tiles.template multiply<3, 5, 7>();
  }
  tiles.template store<0>(sums, kRow);
  tiles.template store<1>(sums + kTileRows, kRow);
  tiles.template store<2>(sums + kLower, kRow);
  tiles.template store<3>(sums + kLower + kTileRows, kRow);
}

// The sums of a square, rounded, to C from row i and column j on.
void finish(const GemmCall& g, const float* sums, int64_t i, int64_t j) {
  const int64_t rows = std::min(g.m - i, kSide), columns = std::min(g.n - j, kSide);
  for (int64_t r = 0; r < rows; ++r) {
    BFloat16* const c = static_cast<BFloat16*>(g.c.data) + (i + r) * g.c.ld + j;
    const BFloat16* const start = g.accumulate ? c
                                  : g.bias     ? static_cast<const BFloat16*>(g.bias) + j
                                               : nullptr;
    const float* from = sums + r * kSide;
    alignas(64) float total[kSide];
    if (start) {
      for (int64_t l = 0; l < columns; ++l) total[l] = from[l] + static_cast<float>(start[l]);
      from = total;
    }
    columns == kSide ? narrow(from, c, kSide) : narrow(from, c, columns);
  }
}

// Rows that lie further apart are packed: each would have a page of its own, and all of them would
// fall into few sets of a cache.
constexpr int64_t kFarRow = 2048;

Strip strip_of(const GemmCall& g, int64_t i, int64_t k, int64_t depth, BFloat16* packed) {
  const int64_t ld = g.a.ld, whole = depth / kSide;
  const BFloat16* const a =
      static_cast<const BFloat16*>(g.a.data) + (g.a.transposed ? k * ld + i : i * ld + k);
  const int64_t rows = std::min(g.m - i, kSide);
  if (g.a.transposed || rows < kSide || ld >= kFarRow) {
    pack<true>(a, ld, !g.a.transposed, rows, depth, packed);
    return {packed, kSide, kSquare, (depth + kSide - 1) / kSide, nullptr};
  }
  if (whole * kSide == depth) return {a, ld, kSide, whole, nullptr};
  BFloat16* const last = packed + whole * kSquare;
  pack<true>(a + whole * kSide, ld, true, rows, depth - whole * kSide, last);
  return {a, ld, kSide, whole, last};
}

template <class Tiles>
FB_AMX void product(const AmxProduct& p) {
  const GemmCall& g = p.call;
  Tiles tiles;
  const int64_t block = std::min(in_amx_sides(g.k), kAmxDepth);
  const int64_t strips = (g.m + kSide - 1) / kSide;
  auto* const left = static_cast<BFloat16*>(p.memory);
  auto* const right = left + strips * kSide * block;
  auto* const all_sums = reinterpret_cast<float*>(right + in_amx_sides(g.n) * block);
  alignas(64) float own[kSquare];
  Strip strip[kAmxLongest / kSide];
  for (int64_t k = 0; k < g.k; k += kAmxDepth) {
    const int64_t depth = std::min(g.k - k, kAmxDepth);
    const bool begins = k == 0, ends = k + depth == g.k;
    const BFloat16* const b = static_cast<const BFloat16*>(g.b.data);
    pack<false>(b + (g.b.transposed ? k : k * g.b.ld), g.b.ld, g.b.transposed, g.n, depth, right);
    for (int64_t s = 0; s < strips; ++s)
      strip[s] = strip_of(g, s * kSide, k, depth, left + s * kSide * block);
    const BFloat16* panel = right;
    for (int64_t j = 0; j < g.n; j += kSide, panel += in_amx_sides(depth) * kSide) {
      for (int64_t s = 0; s < strips; ++s) {
        float* const sums = begins && ends ? own : all_sums + (j * strips + s * kSide) * kSide;
        multiply_square(tiles, strip[s], panel, begins, sums);
        if (ends) finish(g, sums, s * kSide, j);
      }
    }
  }
}

}  // namespace

void amx_product(const AmxProduct& p) {
#if defined(FB_AMX_TILES)
  if (!p.emulates) return product<RealTiles>(p);
#endif
  product<EmulatedTiles>(p);
}

}  // namespace fb::cpu::FB_ISA
