// Passes of a Fourier transform over tiles: each lane of the vectors is a transform of its own, so
// that butterflies of any radix are plain vector arithmetic.
//
// Note [Tiles]: a tile holds `n` complex numbers of kLanes<T> transforms: for each number a vector
// of real parts, then one of imaginary parts. Passes go from tile to tile and leave the numbers in
// order (Stockham): with what was done before as inner stride, radix R reads numbers `rest * done`
// apart and writes them `done` apart.
#pragma once

#include <utility>

#include "cpu/fft.h"
#include "cpu/kernels/transpose.h"

namespace fb::cpu::FB_ISA {

template <class V>
struct Pair {
  V re, im;
};
template <class V>
FB_FN Pair<V> operator+(const Pair<V>& a, const Pair<V>& b) {
  return {a.re + b.re, a.im + b.im};
}
template <class V>
FB_FN Pair<V> operator-(const Pair<V>& a, const Pair<V>& b) {
  return {a.re - b.re, a.im - b.im};
}
template <class V, class W>
FB_FN Pair<V> times(const Pair<V>& a, const W& re, const W& im) {
  return {a.re * re - a.im * im, a.re * im + a.im * re};
}

namespace detail {
template <class V, size_t... I>
FB_FN Pair<V> parted(const V& a, const V& b, std::index_sequence<I...>) {
  return {FB_SHUFFLE(a, b, (2 * I)...), FB_SHUFFLE(a, b, (2 * I + 1)...)};
}
}  // namespace detail

template <class T>
using LaneSequence = std::make_index_sequence<kLanes<T>>;

// Neighbouring complex numbers in memory, of which there is one for each lane.
template <class T>
FB_FN Pair<Vec<T>> load_neighbours(const T* p) {
  constexpr int L = kLanes<T>;
  return detail::parted(load<T, L>(p), load<T, L>(p + L), LaneSequence<T>{});
}
template <class T>
FB_FN void store_neighbours(T* p, const Pair<Vec<T>>& value) {
  constexpr int L = kLanes<T>;
  store(p, detail::interleave<0, L>(value.re, value.im, LaneSequence<T>{}));
  store(p + L, detail::interleave<1, L>(value.re, value.im, LaneSequence<T>{}));
}

// --- where a pass reads number e from and writes it to

template <class T>
struct TileSource {
  const T* tile;
  FB_FN Pair<Vec<T>> operator()(int64_t e) const {
    constexpr int L = kLanes<T>;
    const T* const p = tile + e * 2 * L;
    return {load<T, L>(p), load<T, L>(p + L)};
  }
};
template <class T>
struct TileSink {
  T* tile;
  FB_FN void operator()(int64_t e, const Pair<Vec<T>>& value) const {
    constexpr int L = kLanes<T>;
    T* const p = tile + e * 2 * L;
    store(p, value.re);
    store(p + L, value.im);
  }
};

// Lanes that are neighbours in a tensor.
template <class T>
struct ColumnSource {
  const T* p;
  int64_t step;
  T sign;  // of the imaginary part
  FB_FN Pair<Vec<T>> operator()(int64_t e) const {
    const Pair<Vec<T>> value = load_neighbours(p + e * step);
    return {value.re, value.im * sign};
  }
};
template <class T>
struct ColumnSink {
  T* p;
  int64_t step;
  T re_scale, im_scale;
  FB_FN void operator()(int64_t e, const Pair<Vec<T>>& value) const {
    store_neighbours(p + e * step, {value.re * re_scale, value.im * im_scale});
  }
};

// Lanes that are neighbours in rows of real parts and of imaginary ones, times roots of unity.
template <class T, bool kCoarse>
struct TurnedSource {
  const T* p;
  const T* fine;
  const T* coarse;
  int64_t pitch;
  FB_FN Pair<Vec<T>> row(const T* rows, int64_t e) const {
    constexpr int L = kLanes<T>;
    const T* const at = rows + e * 2 * pitch;
    return {load<T, L>(at), load<T, L>(at + pitch)};
  }
  FB_FN Pair<Vec<T>> operator()(int64_t e) const {
    if constexpr (kCoarse) {
      const Pair<Vec<T>> w = row(fine, e % kFftFineRows), c = row(coarse, e / kFftFineRows);
      const Pair<Vec<T>> turn = times(w, c.re, c.im);
      return times(row(p, e), turn.re, turn.im);
    } else {
      const Pair<Vec<T>> w = row(fine, e);
      return times(row(p, e), w.re, w.im);
    }
  }
};

// --- butterflies: a transform of R points by few operations

template <class V>
FB_FN void butterfly4(Pair<V>& a, Pair<V>& b, Pair<V>& c, Pair<V>& d) {
  const Pair<V> s = a + c, t = a - c, u = b + d, v = b - d;
  a = s + u;
  b = {t.re + v.im, t.im - v.re};
  c = s - u;
  d = {t.re - v.im, t.im + v.re};
}

// With `roots` of unity as cosines and sines of angles from zero on; only odd radices need them.
template <int R, class T, class V>
FB_FN void butterfly(Pair<V> (&x)[R], const T* roots) {
  if constexpr (R == 2) {
    const Pair<V> a = x[0];
    x[0] = a + x[1];
    x[1] = a - x[1];
  } else if constexpr (R == 4) {
    butterfly4(x[0], x[1], x[2], x[3]);
  } else if constexpr (R == 8) {
    constexpr T half_root = static_cast<T>(0.70710678118654752440);
    butterfly4(x[0], x[2], x[4], x[6]);
    butterfly4(x[1], x[3], x[5], x[7]);
    const Pair<V> a{x[3].re + x[3].im, x[3].im - x[3].re}, b{x[5].im, -x[5].re},
        c{x[7].im - x[7].re, -x[7].re - x[7].im};
    const Pair<V> e0 = x[0], e1 = x[2], e2 = x[4], e3 = x[6], o0 = x[1];
    x[0] = e0 + o0;
    x[4] = e0 - o0;
    x[1] = {e1.re + a.re * half_root, e1.im + a.im * half_root};
    x[5] = {e1.re - a.re * half_root, e1.im - a.im * half_root};
    x[2] = e2 + b;
    x[6] = e2 - b;
    x[3] = {e3.re + c.re * half_root, e3.im + c.im * half_root};
    x[7] = {e3.re - c.re * half_root, e3.im - c.im * half_root};
  } else {
    static_assert(R % 2 == 1);
    constexpr int H = R / 2;
    Pair<V> sum[H], difference[H];
    const Pair<V> zero = x[0];
#pragma GCC unroll 8
    for (int q = 0; q < H; ++q) {
      sum[q] = x[q + 1] + x[R - 1 - q];
      difference[q] = x[q + 1] - x[R - 1 - q];
      x[0] = x[0] + sum[q];
    }
#pragma GCC unroll 8
    for (int k = 1; k <= H; ++k) {
      Pair<V> a = zero, b{V{}, V{}};
#pragma GCC unroll 8
      for (int q = 0; q < H; ++q) {
        const T* const root = roots + (q + 1) * k % R * 2;
        a = {a.re + sum[q].re * root[0], a.im + sum[q].im * root[0]};
        b = {b.re + difference[q].re * root[1], b.im + difference[q].im * root[1]};
      }
      x[k] = {a.re + b.im, a.im - b.re};
      x[R - k] = {a.re - b.im, a.im + b.re};
    }
  }
}

// --- passes

template <int R, class T, class Source, class Sink>
FB_FN void pass_of(const FftPass& pass, const T* table, const Source& source, const Sink& sink) {
  using V = Vec<T>;
  const int64_t rest = pass.rest, done = pass.done;
  const T* const roots = table + pass.roots;
  for (int64_t k = 0; k < done; ++k) {  // the first group of each part is not turned
    Pair<V> x[R];
#pragma GCC unroll 16
    for (int q = 0; q < R; ++q) x[q] = source(k + done * rest * q);
    butterfly<R>(x, roots);
#pragma GCC unroll 16
    for (int q = 0; q < R; ++q) sink(k + done * q, x[q]);
  }
  for (int64_t j = 1; j < rest; ++j) {
    const T* const w = table + pass.twiddles + j * 2 * (R - 1);
    for (int64_t k = 0; k < done; ++k) {
      Pair<V> x[R];
#pragma GCC unroll 16
      for (int q = 0; q < R; ++q) x[q] = source(k + done * (j + rest * q));
      butterfly<R>(x, roots);
      sink(k + done * j * R, x[0]);
#pragma GCC unroll 16
      for (int q = 1; q < R; ++q)
        sink(k + done * (j * R + q), times(x[q], w[2 * q - 2], w[2 * q - 1]));
    }
  }
}

// A prime radix that has no butterfly of its own.
template <class T>
void pass_of_prime(const FftPass& pass, const T* table, const TileSource<T>& source,
                   const TileSink<T>& sink) {
  using V = Vec<T>;
  const int64_t rest = pass.rest, done = pass.done, radix = pass.radix, half = radix / 2;
  const T* const roots = table + pass.roots;
  Pair<V> sum[kLargestRadix / 2 + 1], difference[kLargestRadix / 2 + 1];
  for (int64_t j = 0; j < rest; ++j) {
    const T* const w = table + pass.twiddles + j * 2 * (radix - 1);
    const auto put = [&](int64_t k, int64_t q, const Pair<V>& value) {
      const int64_t to = k + done * (j * radix + q);
      sink(to, j == 0 || q == 0 ? value : times(value, w[2 * q - 2], w[2 * q - 1]));
    };
    for (int64_t k = 0; k < done; ++k) {
      const auto get = [&](int64_t q) { return source(k + done * (j + rest * q)); };
      const Pair<V> zero = get(0);
      Pair<V> total = zero;
      for (int64_t q = 1; q <= half; ++q) {
        const Pair<V> a = get(q), b = get(radix - q);
        sum[q] = a + b;
        difference[q] = a - b;
        total = total + sum[q];
      }
      put(k, 0, total);
      for (int64_t p = 1; p <= half; ++p) {
        Pair<V> a = zero, b{V{}, V{}};
        int64_t angle = 0;
        for (int64_t q = 1; q <= half; ++q) {
          angle += p;
          if (angle >= radix) angle -= radix;
          const T cosine = roots[2 * angle], sine = roots[2 * angle + 1];
          a = {a.re + sum[q].re * cosine, a.im + sum[q].im * cosine};
          b = {b.re + difference[q].re * sine, b.im + difference[q].im * sine};
        }
        put(k, p, {a.re + b.im, a.im - b.re});
        put(k, radix - p, {a.re - b.im, a.im + b.re});
      }
    }
  }
}

template <class T>
void pass_between_tiles(const FftPass& pass, const T* table, const T* from, T* to) {
  const TileSource<T> source{from};
  const TileSink<T> sink{to};
  switch (pass.radix) {
    case 2: return pass_of<2>(pass, table, source, sink);
    case 3: return pass_of<3>(pass, table, source, sink);
    case 4: return pass_of<4>(pass, table, source, sink);
    case 5: return pass_of<5>(pass, table, source, sink);
    case 7: return pass_of<7>(pass, table, source, sink);
    case 8: return pass_of<8>(pass, table, source, sink);
    case 11: return pass_of<11>(pass, table, source, sink);
    case 13: return pass_of<13>(pass, table, source, sink);
    default: return pass_of_prime(pass, table, source, sink);
  }
}

inline bool reads_elsewhere(const FftPass& pass) { return pass.radix == 4 || pass.radix == 8; }

// The first pass from anywhere; another radix than a power of two has its numbers brought to a tile
// first.
template <class T, class Source, class Sink>
void outer_pass(const FftPass& pass, const T* table, const Source& source, const Sink& sink) {
  if (pass.radix == 4)
    pass_of<4>(pass, table, source, sink);
  else
    pass_of<8>(pass, table, source, sink);
}

// Passes [begin, end) between tiles, from `tile` on; returns the tile with the result. The other
// one is overwritten.
template <class T>
T* run_passes(const FftPasses<T>& passes, size_t begin, size_t end, T* tile, T* other) {
  for (size_t i = begin; i < end; ++i) {
    if (passes.passes[i].radix == 1) continue;
    pass_between_tiles(passes.passes[i], passes.table.data(), tile, other);
    std::swap(tile, other);
  }
  return tile;
}

// All passes, from `source` into one of two tiles, which is returned.
template <class T, class Source>
T* run_passes_from(const FftPasses<T>& passes, const Source& source, T* tile, T* other,
                   size_t end) {
  size_t begin = 0;
  if (end > 0 && reads_elsewhere(passes.passes[0])) {
    outer_pass(passes.passes[0], passes.table.data(), source, TileSink<T>{tile});
    begin = 1;
  } else {
    const TileSink<T> sink{tile};
    for (int64_t e = 0; e < passes.size; ++e) sink(e, source(e));
  }
  return run_passes(passes, begin, end, tile, other);
}
template <class T, class Source>
T* run_passes_from(const FftPasses<T>& passes, const Source& source, T* tile, T* other) {
  return run_passes_from(passes, source, tile, other, passes.passes.size());
}

// All passes, from `source` to `sink`.
template <class T, class Source, class Sink>
void run_passes_through(const FftPasses<T>& passes, const Source& source, const Sink& sink, T* tile,
                        T* other) {
  const size_t last = passes.passes.size() - 1;
  if (last > 0 && reads_elsewhere(passes.passes[last])) {
    const T* const numbers = run_passes_from(passes, source, tile, other, last);
    outer_pass(passes.passes[last], passes.table.data(), TileSource<T>{numbers}, sink);
    return;
  }
  const TileSource<T> numbers{run_passes_from(passes, source, tile, other)};
  for (int64_t e = 0; e < passes.size; ++e) sink(e, numbers(e));
}

}  // namespace fb::cpu::FB_ISA
