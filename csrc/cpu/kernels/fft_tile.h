// Rows of a tensor into tiles of a Fourier transform and back, and what real transforms do to the
// numbers of a tile or a row. See Note [Tiles].
#pragma once

#include "cpu/kernels/fft_pass.h"

namespace fb::cpu::FB_ISA {

// Up to kLanes<T> rows of a tensor of complex numbers, in units of T. Pairs of real numbers pass
// for complex ones.
template <class P>
struct LaneView {
  P* p;
  int64_t step;          // from number to number
  bool is_complex;       // or real: then imaginary parts are 0 and not stored
  int64_t imaginary;     // from the real part to the imaginary one
  const int64_t* lanes;  // where rows begin; lanes without a row repeat another one
  int count;             // of rows
  int64_t lane_step;     // from row to row where that is always the same, else 0

  // Whether parts are neighbours in memory.
  bool is_pair() const { return is_complex && imaginary == 1; }
};

// n numbers of each row into the tile, imaginary parts times `sign`.
template <class T>
void load_tile(const LaneView<const T>& view, int64_t n, T sign, T* tile) {
  constexpr int L = kLanes<T>;
  if (view.count == L && view.is_pair() && view.lane_step == 2) {
    const ColumnSource<T> source{view.p + view.lanes[0], view.step, sign};
    for (int64_t e = 0; e < n; ++e) TileSink<T>{tile}(e, source(e));
    return;
  }
  if (view.count == L && view.lane_step == 1) {
    const T* const p = view.p + view.lanes[0];
    for (int64_t e = 0; e < n; ++e) {
      const T* const at = p + e * view.step;
      Vec<T> im{};
      if (view.is_complex) im = load<T, L>(at + view.imaginary) * sign;
      TileSink<T>{tile}(e, {load<T, L>(at), im});
    }
    return;
  }
  int64_t e = 0;
  if (view.is_pair() && view.step == 2) {
    for (; e + L / 2 <= n; e += L / 2) {
      Vec<T> rows[L];
#pragma GCC unroll 16
      for (int l = 0; l < L; ++l) rows[l] = load<T, L>(view.p + view.lanes[l] + 2 * e);
      transpose_lanes(rows);
#pragma GCC unroll 8
      for (int i = 0; i < L; i += 2) {
        store(tile + (2 * e + i) * L, rows[i]);
        store(tile + (2 * e + i + 1) * L, rows[i + 1] * sign);
      }
    }
  }
  for (; e < n; ++e) {
    T* const to = tile + e * 2 * L;
    for (int l = 0; l < L; ++l) {
      const T* const at = view.p + view.lanes[l] + e * view.step;
      to[l] = at[0];
      to[L + l] = view.is_complex ? at[view.imaginary] * sign : T(0);
    }
  }
}

template <class T>
void store_tile(const LaneView<T>& view, int64_t n, T re_scale, T im_scale, const T* tile) {
  constexpr int L = kLanes<T>;
  if (view.count == L && view.is_pair() && view.lane_step == 2) {
    const ColumnSink<T> sink{view.p + view.lanes[0], view.step, re_scale, im_scale};
    for (int64_t e = 0; e < n; ++e) sink(e, TileSource<T>{tile}(e));
    return;
  }
  if (view.count == L && view.lane_step == 1) {
    T* const p = view.p + view.lanes[0];
    for (int64_t e = 0; e < n; ++e) {
      const Pair<Vec<T>> value = TileSource<T>{tile}(e);
      store(p + e * view.step, value.re * re_scale);
      if (view.is_complex) store(p + e * view.step + view.imaginary, value.im * im_scale);
    }
    return;
  }
  int64_t e = 0;
  if (view.is_pair() && view.step == 2) {
    for (; e + L / 2 <= n; e += L / 2) {
      Vec<T> rows[L];
#pragma GCC unroll 8
      for (int i = 0; i < L; i += 2) {
        rows[i] = load<T, L>(tile + (2 * e + i) * L) * re_scale;
        rows[i + 1] = load<T, L>(tile + (2 * e + i + 1) * L) * im_scale;
      }
      transpose_lanes(rows);
      if (view.count == L) {  // all from registers
#pragma GCC unroll 16
        for (int l = 0; l < L; ++l) store(view.p + view.lanes[l] + 2 * e, rows[l]);
      } else {
        for (int l = 0; l < view.count; ++l) store(view.p + view.lanes[l] + 2 * e, rows[l]);
      }
    }
  }
  for (; e < n; ++e) {
    const T* const from = tile + e * 2 * L;
    for (int l = 0; l < view.count; ++l) {
      T* const at = view.p + view.lanes[l] + e * view.step;
      at[0] = from[l] * re_scale;
      if (view.is_complex) at[view.imaginary] = from[L + l] * im_scale;
    }
  }
}

// Note [Real transforms]: 2 h real points are transformed as h complex numbers z, whose parts are
// the points in turn. With Z the transform of z, E = (Z[k] + conj Z[h-k]) / 2 is that of the even
// points, O = (Z[k] - conj Z[h-k]) / 2i that of the odd ones, and the spectrum is E + w^k O. The
// inverse is computed as a forward transform of the conjugate spectrum, by the same roots w^k.

// Z at k and h - k becomes the spectrum there.
template <class V, class W>
FB_FN void split_real(Pair<V>& a, Pair<V>& b, const W& w_re, const W& w_im) {
  const Pair<V> even{a.re + b.re, a.im - b.im}, odd{a.im + b.im, b.re - a.re};
  const Pair<V> turned = times(odd, w_re, w_im);
  a = {(even.re + turned.re) * 0.5f, (even.im + turned.im) * 0.5f};
  b = {(even.re - turned.re) * 0.5f, (turned.im - even.im) * 0.5f};
}
// And back, without the halves: the conjugate spectrum becomes Z.
template <class V, class W>
FB_FN void join_real(Pair<V>& a, Pair<V>& b, const W& w_re, const W& w_im) {
  const Pair<V> even{a.re + b.re, a.im - b.im}, odd{a.re - b.re, a.im + b.im};
  const Pair<V> turned = times(odd, w_re, w_im);
  a = {even.re - turned.im, even.im + turned.re};
  b = {even.re + turned.im, turned.re - even.im};
}

// The tile has h numbers, and then h + 1.
template <class T>
void split_real_tile(T* tile, int64_t h, const T* roots) {
  const TileSource<T> get{tile};
  const TileSink<T> put{tile};
  const Pair<Vec<T>> zero = get(0);
  put(0, {zero.re + zero.im, Vec<T>{}});
  put(h, {zero.re - zero.im, Vec<T>{}});
  for (int64_t k = 1; k <= h - k; ++k) {
    Pair<Vec<T>> a = get(k), b = get(h - k);
    split_real(a, b, roots[2 * k], roots[2 * k + 1]);
    put(k, a);
    put(h - k, b);
  }
}
// The tile has h + 1 numbers, and then h.
template <class T>
void join_real_tile(T* tile, int64_t h, const T* roots) {
  const TileSource<T> get{tile};
  const TileSink<T> put{tile};
  const Vec<T> first = get(0).re, last = get(h).re;
  put(0, {first + last, first - last});
  for (int64_t k = 1; k <= h - k; ++k) {
    Pair<Vec<T>> a = get(k), b = get(h - k);
    join_real(a, b, roots[2 * k], roots[2 * k + 1]);
    put(k, a);
    put(h - k, b);
  }
}
// The conjugates of numbers 1 ... in reverse order, up to n numbers.
template <class T>
void mirror_tile(T* tile, int64_t n) {
  for (int64_t k = 1; k < n - k; ++k) {
    const Pair<Vec<T>> value = TileSource<T>{tile}(k);
    TileSink<T>{tile}(n - k, {value.re, -value.im});
  }
}

namespace detail {
template <class T>
FB_FN Pair<Vec<T>> load_backwards(const T* p) {
  const Pair<Vec<T>> value = load_neighbours(p);
  return {backwards(value.re, LaneSequence<T>{}), backwards(value.im, LaneSequence<T>{})};
}
template <class T>
FB_FN void store_backwards(T* p, const Pair<Vec<T>>& value) {
  store_neighbours(
      p, {backwards(value.re, LaneSequence<T>{}), backwards(value.im, LaneSequence<T>{})});
}
}  // namespace detail

// Applies f to numbers k and h - k of a row for all k of [begin, end), where 0 < k <= h / 2: those
// of `in`, their imaginary parts times `sign`, into `out`, which may be the same row.
template <class T, class F>
FB_FN void for_mirrored_pairs(const T* in, T* out, int64_t h, T sign, const T* roots, int64_t begin,
                              int64_t end, F&& f) {
  constexpr int L = kLanes<T>;
  int64_t k = begin;
  for (; k + L <= end && k + L - 1 < h - k - L + 1; k += L) {
    const int64_t mirror = h - k - L + 1;
    Pair<Vec<T>> a = load_neighbours(in + 2 * k), b = detail::load_backwards(in + 2 * mirror);
    a.im *= sign;
    b.im *= sign;
    const Pair<Vec<T>> w = load_neighbours(roots + 2 * k);
    f(a, b, w.re, w.im);
    store_neighbours(out + 2 * k, a);
    detail::store_backwards(out + 2 * mirror, b);
  }
  for (; k < end; ++k) {
    Pair<T> a{in[2 * k], in[2 * k + 1] * sign}, b{in[2 * (h - k)], in[2 * (h - k) + 1] * sign};
    f(a, b, roots[2 * k], roots[2 * k + 1]);
    out[2 * k] = a.re;
    out[2 * k + 1] = a.im;
    out[2 * (h - k)] = b.re;
    out[2 * (h - k) + 1] = b.im;
  }
}

// Of a row with h numbers, and then h + 1: pairs [begin, end), and the ends.
template <class T>
void split_real_row(T* row, int64_t h, const T* roots, int64_t begin, int64_t end) {
  for_mirrored_pairs(
      row, row, h, T(1), roots, begin, end,
      [](auto& a, auto& b, const auto& c, const auto& s) { split_real(a, b, c, s); });
}
template <class T>
void split_real_ends(T* row, int64_t h) {
  const T re = row[0], im = row[1];
  row[0] = re + im;
  row[1] = 0;
  row[2 * h] = re - im;
  row[2 * h + 1] = 0;
}
// Of a row with h + 1 numbers, and then h.
template <class T>
void join_real_row(const T* row, T* out, int64_t h, T sign, const T* roots, int64_t begin,
                   int64_t end) {
  for_mirrored_pairs(row, out, h, sign, roots, begin, end,
                     [](auto& a, auto& b, const auto& c, const auto& s) { join_real(a, b, c, s); });
}
template <class T>
void join_real_ends(const T* row, T* out, int64_t h) {
  const T first = row[0], last = row[2 * h];
  out[0] = first + last;
  out[1] = first - last;
}

// Number n - k of a row becomes the conjugate of number k, for all k of [begin, end).
template <class T>
void mirror_row(T* row, int64_t n, int64_t begin, int64_t end) {
  constexpr int L = kLanes<T>;
  int64_t k = begin;
  for (; k + L <= end && k + L - 1 < n - k - L + 1; k += L) {
    const Pair<Vec<T>> value = load_neighbours(row + 2 * k);
    detail::store_backwards(row + 2 * (n - k - L + 1), {value.re, -value.im});
  }
  for (; k < end; ++k) {
    row[2 * (n - k)] = row[2 * k];
    row[2 * (n - k) + 1] = -row[2 * k + 1];
  }
}

// What multiplies the parts of numbers before and after a product.
template <class T>
struct Factors {
  T sign;                // of imaginary parts of the input
  T re_scale, im_scale;  // of the result
};

// out = a b for complex numbers [begin, end).
template <class T>
void multiply_rows(const T* a, const T* b, T* out, const Factors<T>& factors, int64_t begin,
                   int64_t end) {
  constexpr int L = kLanes<T>;
  const auto [sign, re_scale, im_scale] = factors;
  int64_t k = begin;
  for (; k + L <= end; k += L) {
    Pair<Vec<T>> x = load_neighbours(a + 2 * k);
    const Pair<Vec<T>> y = load_neighbours(b + 2 * k);
    x.im *= sign;
    x = times(x, y.re, y.im);
    store_neighbours(out + 2 * k, {x.re * re_scale, x.im * im_scale});
  }
  for (; k < end; ++k) {
    const Pair<T> x = times(Pair<T>{a[2 * k], a[2 * k + 1] * sign}, b[2 * k], b[2 * k + 1]);
    out[2 * k] = x.re * re_scale;
    out[2 * k + 1] = x.im * im_scale;
  }
}

}  // namespace fb::cpu::FB_ISA
