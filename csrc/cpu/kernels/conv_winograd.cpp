// Winograd's minimal filtering F(4x4, 3x3): 4 x 4 pixels of the result from 6 x 6 of the image with
// 36 multiplications per channel instead of 144 (Lavin and Gray, "Fast Algorithms for Convolutional
// Neural Networks", 2016).
#include <algorithm>

#include "cpu/conv_impl.h"
#include "cpu/kernels/gemm.h"
#include "cpu/kernels/simd.h"

namespace fb::cpu::FB_ISA {
namespace {

constexpr int kStep = kLanes<float>;
using V = Vec<float>;

struct alignas(4) Loose {
  typedef float type __attribute__((vector_size(kVectorBytes), aligned(4), may_alias));
};
FB_FN V load_at(const float* p) { return *reinterpret_cast<const Loose::type*>(p); }
FB_FN void store_at(float* p, V v) { *reinterpret_cast<Loose::type*>(p) = v; }

// The pixels of a line and the taps of a kernel are coefficients of polynomials, whose product is
// known from its values at 0, +-a, +-b and infinity. With a = 3/4 and b = 3/2 the sums lose one
// bit against the definition; with the usual 1 and 2 they lose two.
constexpr float a = 0.75f, b = 1.5f;
constexpr float aa = a * a, bb = b * b;

FB_FN void pixels_at_points(const V (&d)[6], V (&t)[6]) {
  const V near = d[4] - bb * d[2], near_odd = a * (d[3] - bb * d[1]);
  const V far = d[4] - aa * d[2], far_odd = b * (d[3] - aa * d[1]);
  t[0] = aa * bb * d[0] - (aa + bb) * d[2] + d[4];
  t[1] = near + near_odd;
  t[2] = near - near_odd;
  t[3] = far + far_odd;
  t[4] = far - far_odd;
  t[5] = aa * bb * d[1] - (aa + bb) * d[3] + d[5];
}

// The factors of the interpolation go into the taps: those of a layer are transformed once.
constexpr float near_factor = 1 / (2 * aa * (aa - bb)), far_factor = 1 / (2 * bb * (bb - aa));

FB_FN void taps_at_points(const V (&g)[3], V (&t)[6]) {
  const V near = (g[0] + aa * g[2]) * near_factor, near_odd = g[1] * (a * near_factor);
  const V far = (g[0] + bb * g[2]) * far_factor, far_odd = g[1] * (b * far_factor);
  t[0] = g[0] * (1 / (aa * bb));
  t[1] = near + near_odd;
  t[2] = near - near_odd;
  t[3] = far + far_odd;
  t[4] = far - far_odd;
  t[5] = g[2];
}

FB_FN void sums_of_points(const V (&m)[6], V (&s)[4]) {
  const V near = m[1] + m[2], near_odd = m[1] - m[2];
  const V far = m[3] + m[4], far_odd = m[3] - m[4];
  s[0] = m[0] + near + far;
  s[1] = a * near_odd + b * far_odd;
  s[2] = aa * near + bb * far;
  s[3] = a * aa * near_odd + b * bb * far_odd + m[5];
}

// The gradient of the kernel is a product too, in which four pixels of the result are the taps.
FB_FN void gradients_at_points(const V (&g)[4], V (&t)[6]) {
  const V near = (g[0] + aa * g[2]) * near_factor;
  const V near_odd = (g[1] + aa * g[3]) * (a * near_factor);
  const V far = (g[0] + bb * g[2]) * far_factor;
  const V far_odd = (g[1] + bb * g[3]) * (b * far_factor);
  t[0] = g[0] * (1 / (aa * bb));
  t[1] = near + near_odd;
  t[2] = near - near_odd;
  t[3] = far + far_odd;
  t[4] = far - far_odd;
  t[5] = g[3];
}

FB_FN void taps_of_points(const V (&m)[6], V (&s)[3]) {
  const V near = m[1] + m[2], near_odd = m[1] - m[2];
  const V far = m[3] + m[4], far_odd = m[3] - m[4];
  s[0] = m[0] + near + far;
  s[1] = a * near_odd + b * far_odd;
  s[2] = aa * near + bb * far + m[5];
}

// Along columns, then along rows: `f` takes n values to m.
template <int n, int m, class F>
FB_FN void both_ways(const V (&in)[n][n], V (&out)[m][m], F&& f) {
  V half[m][n];
  for (int x = 0; x < n; ++x) {
    V column[n], transformed[m];
    for (int y = 0; y < n; ++y) column[y] = in[y][x];
    f(column, transformed);
    for (int y = 0; y < m; ++y) half[y][x] = transformed[y];
  }
  for (int y = 0; y < m; ++y) f(half[y], out[y]);
}

// Where a tile begins in the result, and therefore in the padded image.
struct Corner {
  int64_t sample, y, x;

  Corner(const WinogradCall& w, int64_t tile)
      : sample(tile / (w.down * w.across)),
        y(tile / w.across % w.down * kWinogradTile),
        x(tile % w.across * kWinogradTile) {}
};

// size x size pixels of an image, 0 outside of it, for one vector of channels.
template <int size>
FB_FN void load_tile(const float* image, int64_t height, int64_t width, int64_t channels,
                     int64_t top, int64_t left, V (&pixels)[size][size]) {
  for (int64_t i = 0; i < size; ++i) {
    for (int64_t j = 0; j < size; ++j) {
      const int64_t y = top + i, x = left + j;
      const bool inside = y >= 0 && y < height && x >= 0 && x < width;
      pixels[i][j] = inside ? load_at(image + (y * width + x) * channels) : V{};
    }
  }
}

// `to` has one matrix of (tiles, channels) for each point.
FB_FN void store_points(const V (&points)[6][6], float* to, int64_t matrix) {
  for (int p = 0; p < kWinogradPoints; ++p) store_at(to + p * matrix, points[p / 6][p % 6]);
}

FB_FN void load_points(const float* from, int64_t matrix, V (&points)[6][6]) {
  for (int p = 0; p < kWinogradPoints; ++p) points[p / 6][p % 6] = load_at(from + p * matrix);
}

void transform_tile(const WinogradCall& w, const Corner& at, float* to, int64_t matrix) {
  const float* image = w.in + at.sample * w.height * w.width * w.in_channels;
  for (int64_t c = 0; c < w.in_channels; c += kStep) {
    V pixels[6][6], points[6][6];
    load_tile(image + c, w.height, w.width, w.in_channels, at.y - w.padding_y, at.x - w.padding_x,
              pixels);
    both_ways(pixels, points, pixels_at_points);
    store_points(points, to + c, matrix);
  }
}

void transform_gradient(const WinogradCall& w, const Corner& at, float* to, int64_t matrix) {
  const float* image = w.out + at.sample * w.out_height * w.out_width * w.out_channels;
  for (int64_t c = 0; c < w.out_channels; c += kStep) {
    V pixels[4][4], points[6][6];
    load_tile(image + c, w.out_height, w.out_width, w.out_channels, at.y, at.x, pixels);
    both_ways(pixels, points, gradients_at_points);
    store_points(points, to + c, matrix);
  }
}

void restore_tile(const WinogradCall& w, const Corner& at, const float* from, int64_t matrix) {
  float* image = w.out + at.sample * w.out_height * w.out_width * w.out_channels;
  const int64_t rows = std::min<int64_t>(kWinogradTile, w.out_height - at.y);
  const int64_t columns = std::min<int64_t>(kWinogradTile, w.out_width - at.x);
  for (int64_t c = 0; c < w.out_channels; c += kStep) {
    V points[6][6], pixels[4][4];
    load_points(from + c, matrix, points);
    both_ways(points, pixels, sums_of_points);
    const V bias = w.bias ? load_at(w.bias + c) : V{};
    for (int64_t i = 0; i < rows; ++i) {
      float* row = image + ((at.y + i) * w.out_width + at.x) * w.out_channels + c;
      for (int64_t j = 0; j < columns; ++j) store_at(row + j * w.out_channels, pixels[i][j] + bias);
    }
  }
}

}  // namespace

void winograd_weight(const WinogradCall& w, const WinogradTaps& taps, int64_t first, int64_t last) {
  const int64_t matrix = w.in_channels * w.out_channels;
  for (int64_t in = first; in < last; ++in) {
    for (int64_t out = 0; out < w.out_channels; out += kStep) {
      V kernel[3][3], points[6][6];
      for (int k = 0; k < 9; ++k) {
        const float* tap = taps.data + in * taps.in_stride + (taps.flipped ? 8 - k : k);
        for (int lane = 0; lane < kStep; ++lane)
          kernel[k / 3][k % 3][lane] = tap[(out + lane) * taps.out_stride];
      }
      both_ways(kernel, points, taps_at_points);
      store_points(points, w.weight + in * w.out_channels + out, matrix);
    }
  }
}

void winograd_transform(const WinogradCall& w, const WinogradBlock& block, int64_t first,
                        int64_t last) {
  for (int64_t t = first; t < last; ++t)
    transform_tile(w, {w, block.first + t}, block.in + t * w.in_channels,
                   block.tiles * w.in_channels);
}

void winograd_product(const WinogradCall& w, const WinogradBlock& block, int64_t point,
                      int64_t first, int64_t last) {
  GemmBlock<float> product{};
  product.m = block.tiles;
  product.n = last - first;
  product.k = w.in_channels;
  product.a = block.in + point * block.tiles * w.in_channels;
  product.a_row = w.in_channels;
  product.a_col = 1;
  product.b = w.weight + point * w.in_channels * w.out_channels + first;
  product.b_row = w.out_channels;
  product.c = block.out + point * block.tiles * w.out_channels + first;
  product.c_row = w.out_channels;
  gemm_block(product);
}

void winograd_restore(const WinogradCall& w, const WinogradBlock& block, int64_t first,
                      int64_t last) {
  for (int64_t t = first; t < last; ++t)
    restore_tile(w, {w, block.first + t}, block.out + t * w.out_channels,
                 block.tiles * w.out_channels);
}

void winograd_tiles(const WinogradCall& w, const WinogradBlock& block) {
  winograd_transform(w, block, 0, block.tiles);
  for (int p = 0; p < kWinogradPoints; ++p) winograd_product(w, block, p, 0, w.out_channels);
  winograd_restore(w, block, 0, block.tiles);
}

void winograd_both(const WinogradCall& w, const WinogradBlock& block, int64_t first, int64_t last) {
  for (int64_t t = first; t < last; ++t) {
    const Corner at(w, block.first + t);
    transform_tile(w, at, block.in + t * w.in_channels, block.tiles * w.in_channels);
    transform_gradient(w, at, block.out + t * w.out_channels, block.tiles * w.out_channels);
  }
}

void winograd_weight_product(const WinogradCall& w, const WinogradBlock& block, int64_t point,
                             int64_t first, int64_t last) {
  GemmBlock<float> product{};
  product.m = w.in_channels;
  product.n = last - first;
  product.k = block.tiles;
  product.a = block.in + point * block.tiles * w.in_channels;
  product.a_row = 1;
  product.a_col = w.in_channels;
  product.b = block.out + point * block.tiles * w.out_channels + first;
  product.b_row = w.out_channels;
  product.c = w.weight + point * w.in_channels * w.out_channels + first;
  product.c_row = w.out_channels;
  product.start = block.first > 0 ? product.c : nullptr;
  product.start_stride = w.out_channels;
  gemm_block(product);
}

void winograd_restore_weight(const WinogradCall& w, int64_t first, int64_t last, float* weight) {
  for (int64_t in = first; in < last; ++in) {
    for (int64_t out = 0; out < w.out_channels; out += kStep) {
      V points[6][6], kernel[3][3];
      load_points(w.weight + in * w.out_channels + out, w.in_channels * w.out_channels, points);
      both_ways(points, kernel, taps_of_points);
      for (int lane = 0; lane < kStep; ++lane) {
        float* to = weight + ((out + lane) * w.in_channels + in) * 9;
        for (int k = 0; k < 9; ++k) to[k] = kernel[k / 3][k % 3][lane];
      }
    }
  }
}

}  // namespace fb::cpu::FB_ISA
