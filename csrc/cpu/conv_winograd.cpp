// Convolutions with 3 x 3 kernels by Winograd's minimal filtering.
#include <algorithm>

#include "core/allocator.h"
#include "cpu/conv_impl.h"
#include "cpu/packed.h"
#include "cpu/threads.h"

namespace fb::cpu {
namespace {

// Tiles that are transformed together: enough rows for a matrix product, few enough for the caches.
constexpr int64_t kTiles = 64;
// The gradient of the weight sums over all tiles in their order, in blocks with images at one point
// of a megabyte or so, on many threads more.
constexpr int64_t kBlockElements = 1 << 15;

int64_t tiles_along(int64_t pixels) { return (pixels + kWinogradTile - 1) / kWinogradTile; }

WinogradCall call_of(const ConvShape& s, const Tensor& in, const Tensor& out) {
  WinogradCall w{};
  w.in_channels = s.in_channels;
  w.out_channels = s.out_channels;
  w.height = s.in[1];
  w.width = s.in[2];
  w.out_height = s.out[1];
  w.out_width = s.out[2];
  w.padding_y = s.padding[1];
  w.padding_x = s.padding[2];
  w.down = tiles_along(w.out_height);
  w.across = tiles_along(w.out_width);
  w.in = in.data_as<float>();
  w.out = out.data_as<float>();
  return w;
}

Storage floats(int64_t count) { return allocate_cpu(count * sizeof(float)); }
float* begin_of(const Storage& storage) { return static_cast<float*>(storage->data); }

// Calls f(first, last) over the input channels; the work of each grows with the output channels.
template <class F>
void for_channels(const WinogradCall& w, F&& f) {
  parallel_for(w.in_channels, 1 + kGrain / (4 * w.out_channels), f);
}

// What weights are packed for: oneDNN's primitives have positive numbers.
constexpr int64_t kForwardPacking = -1, kBackwardPacking = -2;

Storage weight_at_points(WinogradCall w, const Tensor& weight, const WinogradTaps& taps) {
  const Packing packing{taps.flipped ? kBackwardPacking : kForwardPacking, w.in_channels,
                        w.out_channels};
  const size_t bytes = kWinogradPoints * w.in_channels * w.out_channels * sizeof(float);
  return packed_weight(weight, packing, bytes, [&](void* packed) {
    w.weight = static_cast<float*>(packed);
    for_channels(
        w, [&](int64_t first, int64_t last) { FB_KERNEL(winograd_weight)(w, taps, first, last); });
  });
}

// About 10 us of transforms, and of multiplications.
constexpr int64_t kTransformedChannels = 1024, kMultiplications = 1 << 19;

int64_t grain_of(int64_t worth, int64_t each) { return std::max<int64_t>(1, worth / each); }

// A block of tiles with room for both images at all points.
struct Block : WinogradBlock {
  Storage scratch;

  Block(const WinogradCall& w, int64_t most)
      : scratch(floats(kWinogradPoints * most * (w.in_channels + w.out_channels))) {}

  void begin_at(const WinogradCall& w, int64_t tile, int64_t count) {
    first = tile;
    tiles = count;
    in = begin_of(scratch);
    out = in + kWinogradPoints * count * w.in_channels;
  }
};

// Calls f(point, first, last) for all points and output channels of a block's products: more parts
// than there are points, so that many threads have even shares.
template <class F>
void for_products(const WinogradCall& w, const WinogradBlock& block, F&& f) {
  constexpr int64_t kParts = 4, kLeast = 32;
  const int64_t part = std::max(kLeast, w.out_channels / kParts / kLeast * kLeast);
  const int64_t parts = (w.out_channels + part - 1) / part;
  const int64_t grain = grain_of(kMultiplications, block.tiles * w.in_channels * part);
  parallel_for(kWinogradPoints * parts, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % parts * part;
      f(i / parts, first, std::min(first + part, w.out_channels));
    }
  });
}

// All threads on the same tiles, where they are too few for each to have a block of its own: the
// products of an element are summed in the same order.
void convolve_together(const WinogradCall& w, int64_t tiles) {
  Block block(w, tiles);
  block.begin_at(w, 0, tiles);
  parallel_for(
      tiles, grain_of(kTransformedChannels, w.in_channels),
      [&](int64_t begin, int64_t end) { FB_KERNEL(winograd_transform)(w, block, begin, end); });
  for_products(w, block, [&](int64_t point, int64_t first, int64_t last) {
    FB_KERNEL(winograd_product)(w, block, point, first, last);
  });
  parallel_for(
      tiles, grain_of(kTransformedChannels, w.out_channels),
      [&](int64_t begin, int64_t end) { FB_KERNEL(winograd_restore)(w, block, begin, end); });
}

// Whether blocks, one for a thread at a time, leave threads without work for long.
bool is_uneven(int64_t blocks) {
  const int64_t threads = num_threads();
  const int64_t turns = (blocks + threads - 1) / threads;
  return 4 * blocks < 3 * turns * threads;
}

void convolve(WinogradCall w, const Tensor& weight, const WinogradTaps& taps, const Tensor& bias,
              int64_t batch) {
  const Storage packed = weight_at_points(w, weight, taps);
  w.weight = begin_of(packed);
  w.bias = bias.defined() ? bias.data_as<float>() : nullptr;
  const int64_t tiles = batch * w.down * w.across;
  const int64_t most = std::min(kTiles, (tiles + 1) / 2);  // enough work for a second thread
  const int64_t blocks = (tiles + most - 1) / most;
  if (is_uneven(blocks)) return convolve_together(w, tiles);
  parallel_for(blocks, 1, [&](int64_t begin, int64_t end) {
    Block block(w, most);
    for (int64_t i = begin; i < end; ++i) {
      block.begin_at(w, i * most, std::min(tiles - i * most, most));
      FB_KERNEL(winograd_tiles)(w, block);
    }
  });
}

}  // namespace

bool conv_winograd_takes(ConvPass pass, const ConvShape& s, DType dtype) {
  // Measured. With fewer, transforming images or weights costs more than the products save. The
  // weight's gradient is transformed too, but its alternative is slower.
  constexpr int64_t kLeastChannels = 32;
  const int64_t least_tiles = pass == ConvPass::kBackwardWeight ? 16 : 48;
  const int64_t tiles = s.batch * tiles_along(s.out[1]) * tiles_along(s.out[2]);
  return dtype == DType::kFloat32 && s.groups == 1 && s.kernel == Extent{1, 3, 3} && s.in[0] == 1 &&
         s.out[0] == 1 && s.stride[1] == 1 && s.stride[2] == 1 && s.dilation[1] == 1 &&
         s.dilation[2] == 1 && s.padding[0] == 0 && s.padding[1] <= 2 && s.padding[2] <= 2 &&
         s.in_channels % 16 == 0 && s.out_channels % 16 == 0 && s.in_channels >= kLeastChannels &&
         s.out_channels >= kLeastChannels && tiles >= least_tiles;
}

void conv_forward_winograd(const ConvShape& s, const Tensor& in, const Tensor& weight,
                           const Tensor& bias, const Tensor& out) {
  convolve(call_of(s, in, out), weight, {weight.data_as<float>(), 9, 9 * s.in_channels, false},
           bias, s.batch);
}

// The same with the kernels flipped, from the result to the image.
void conv_backward_data_winograd(const ConvShape& s, const Tensor& out, const Tensor& weight,
                                 const Tensor& bias, const Tensor& in) {
  ConvShape back = s;
  std::swap(back.in, back.out);
  std::swap(back.in_channels, back.out_channels);
  back.padding = {0, 2 - s.padding[1], 2 - s.padding[2]};
  convolve(call_of(back, out, in), weight, {weight.data_as<float>(), 9 * s.in_channels, 9, true},
           bias, s.batch);
}

void conv_backward_weight_winograd(const ConvShape& s, const Tensor& in, const Tensor& out,
                                   const Tensor& weight) {
  WinogradCall w = call_of(s, in, out);
  const Storage sums = floats(kWinogradPoints * w.in_channels * w.out_channels);
  w.weight = begin_of(sums);
  const int64_t channels = w.in_channels + w.out_channels, tiles = s.batch * w.down * w.across;
  const int64_t elements = kBlockElements * std::max<int64_t>(1, num_threads() / 4);
  const int64_t most = std::min(tiles, std::max(kTiles, elements / channels));
  Block block(w, most);
  for (int64_t first = 0; first < tiles; first += most) {
    block.begin_at(w, first, std::min(most, tiles - first));
    parallel_for(
        block.tiles, grain_of(kTransformedChannels, channels),
        [&](int64_t begin, int64_t end) { FB_KERNEL(winograd_both)(w, block, begin, end); });
    for_products(w, block, [&](int64_t point, int64_t begin, int64_t end) {
      FB_KERNEL(winograd_weight_product)(w, block, point, begin, end);
    });
  }
  for_channels(w, [&](int64_t first, int64_t last) {
    FB_KERNEL(winograd_restore_weight)(w, first, last, weight.data_as<float>());
  });
}

}  // namespace fb::cpu
