// Convolutions: chooses kernels and how they share the work, by the shape alone.
//
// Kernels of one element are products of matrices, which cuBLASLt computes where there is one.
// Others, and gradients of weights, are cuDNN's (conv_cudnn.cpp) where it is there and takes them.
// The rest are kernels of our own: see device/conv.cuh.
#include "cuda/conv.h"

#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "core/tensor.h"
#include "cuda/allocator.h"
#include "cuda/cudnn.h"
#include "cuda/device/conv_args.h"
#include "cuda/gemm.h"
#include "cuda/launch.h"
#include "cuda/loop.h"
#include "cuda/typed_kernel.h"
#include "kernel/table.h"

namespace fb::cuda {
namespace {

using device::ConvArguments;
using kernel::ConvShape;
using kernel::Extent;
using kernel::GemmCall;

TypedKernel tile_kernel("conv.cuh", "conv_tile", "ConvArguments");
TypedKernel join_kernel("conv.cuh", "conv_join", "ConvArguments");
TypedKernel pack_kernel("conv.cuh", "pack_weight", "ConvArguments");
TypedKernel direct_kernel("conv.cuh", "conv_direct", "ConvArguments");
TypedKernel weight_tile_kernel("conv.cuh", "conv_weight_tile", "ConvArguments");
TypedKernel weight_direct_kernel("conv.cuh", "conv_weight_direct", "ConvArguments");
TypedKernel weight_join_kernel("conv.cuh", "conv_weight_join", "ConvArguments");

// Groups of at most so many channels that are written waste a tile, and there may be so many.
constexpr int64_t kFewChannels = 8, kMostGroups = 512;
// Blocks and threads that are enough for any device.
constexpr int64_t kEnoughBlocks = 256, kEnoughThreads = 1 << 18;
constexpr int64_t kMostParts = 64;      // of a sum that tiles compute
constexpr int64_t kMostBlocks = 65535;  // in y
constexpr int64_t kMostPartialBytes = 256 << 20;

int64_t divided(int64_t n, int64_t by) { return (n + by - 1) / by; }
int64_t rounded_up(int64_t n, int64_t step) { return divided(n, step) * step; }
int64_t size_of(const Extent& e) { return e[0] * e[1] * e[2]; }

DType sum_type(DType dtype) { return is_reduced_float(dtype) ? DType::kFloat32 : dtype; }

device::ConvSteps steps_of(const Extent& space, int64_t channels, bool planes) {
  const int64_t pixels = size_of(space);
  if (planes) return {pixels * channels, 1, pixels};
  return {pixels * channels, channels, 1};
}

// Positions are computed in 32 bits.
void check_extents(const ConvShape& s) {
  constexpr int64_t kMost = 1 << 30;
  for (size_t d = 0; d < 3; ++d) {
    const int64_t span = s.dilation[d] * (s.kernel[d] - 1);
    FB_CHECK_AS(ErrorKind::kNotImplemented,
                std::max({s.in[d] + 2 * s.padding[d] + span, s.out[d] + s.padding[d] + span,
                          s.stride[d] * s.out[d]}) < kMost,
                "no kernel on cuda for images of so many pixels along a dimension");
  }
}

// From the image that the convolution takes to the one that it gives, or back.
ConvArguments arguments_of(const ConvShape& s, bool backward, bool planes, const Tensor& weight) {
  check_extents(s);
  ConvArguments args{};
  const Extent &from = backward ? s.out : s.in, &to = backward ? s.in : s.out;
  for (size_t d = 0; d < 3; ++d) {
    device::ConvSide& side = args.side[d];
    side.from = static_cast<int>(from[d]), side.to = static_cast<int>(to[d]);
    side.taps = static_cast<int>(s.kernel[d]);
    const int stride = static_cast<int>(s.stride[d]), padding = static_cast<int>(s.padding[d]);
    const int dilation = static_cast<int>(s.dilation[d]);
    side.step = backward ? 1 : stride;
    side.start = backward ? padding : -padding;
    side.tap_step = backward ? -dilation : dilation;
    side.divisor = backward ? stride : 1;
    side.to_all = side.to, side.to_step = 1;
  }
  args.groups = s.groups;
  args.from_group = backward ? s.group_out() : s.group_in();
  args.to_group = backward ? s.group_in() : s.group_out();
  args.from_step = steps_of(from, args.groups * args.from_group, planes);
  args.to_step = steps_of(to, args.groups * args.to_group, planes);
  args.rows = s.batch * size_of(to);
  args.depth = s.window() * args.from_group;
  args.parts = 1;
  args.planes = planes;
  args.all = true;
  const IntSpan steps = weight.strides();
  args.group_step = s.group_out() * steps[0];
  args.written_step = steps[backward ? 1 : 0];
  args.read_step = steps[backward ? 0 : 1];
  const size_t missing = 5 - steps.size();
  for (size_t d = missing; d < 3; ++d) args.tap_step[d] = steps[2 + d - missing];
  return args;
}

// Whether groups of four channels can be read at once.
bool by_fours(const void* data, const device::ConvSteps& steps, int64_t group, DType dtype) {
  const size_t bytes = 4 * fb::size_of(dtype);
  return bytes <= 32 && steps.channel == 1 && group % 4 == 0 &&
         reinterpret_cast<uintptr_t>(data) % bytes == 0;
}

// Tiles of (16 own) x (16 own) elements: see ConvTile.
struct Tile {
  int own;
  int64_t side, depth;

  Tile(int own_elements, DType dtype)
      : own(own_elements),
        side(16 * own_elements),
        depth(own_elements == 8 || fb::size_of(sum_type(dtype)) > 8 ? 8 : 16) {}
};

// Large tiles where they fill the device and are filled.
Tile choose_tile(DType dtype, int64_t rows, int64_t columns, int64_t groups) {
  const bool is_full = rows > 64 && columns > 64;
  const int64_t large = divided(rows, 128) * divided(columns, 128) * groups;
  return Tile(sum_type(dtype) == DType::kFloat32 && is_full && large >= kEnoughBlocks / 2 ? 8 : 4,
              dtype);
}

bool takes_no_tiles(const ConvArguments& args) {
  return args.groups > 1 && (args.to_group <= kFewChannels || args.groups > kMostGroups);
}

class Launcher {
 public:
  Launcher(const Tensor& made, ConvArguments& args)
      : device_(place_of(made)), dtype_(made.dtype()), args_(args) {
    use(device_);
  }

  int64_t sum_bytes() const { return static_cast<int64_t>(fb::size_of(sum_type(dtype_))); }
  Storage room(int64_t bytes) const {
    return allocate(static_cast<size_t>(bytes),
                    Device(DeviceType::kCuda, static_cast<int8_t>(device_)));
  }
  void run(TypedKernel& kernel, Grid grid, int number = 0, const std::string& variant = {}) const {
    launch(device_, kernel.on(device_, dtype_, number, variant.c_str()), grid, 256, args_);
  }
  // A thread for each of n elements.
  void each(TypedKernel& kernel, int64_t n) const { run(kernel, {blocks_for(n, 256)}); }

 private:
  const int device_;
  const DType dtype_;
  ConvArguments& args_;
};

// Writes the image `to`.
void convolve(ConvArguments& args, const Tensor& from, const Tensor& weight, const Tensor& bias,
              const Tensor& to) {
  const DType dtype = to.dtype();
  const Launcher launcher(to, args);
  const int64_t channels = args.groups * args.to_group;
  args.weight = weight.data();
  if (takes_no_tiles(args)) {
    args.from = from.data(), args.to = to.data();
    args.bias = bias.defined() ? bias.data() : nullptr;
    return launcher.each(direct_kernel, args.rows * channels);
  }
  const Tile tile = choose_tile(dtype, args.rows, args.to_group, args.groups);
  const int64_t down = divided(args.rows, tile.side), across = divided(args.to_group, tile.side);
  args.padded_depth = rounded_up(args.depth, tile.depth);
  args.padded_columns = across * tile.side;
  const int64_t packed = args.groups * args.padded_depth * args.padded_columns;
  const Storage weights = launcher.room(packed * static_cast<int64_t>(fb::size_of(dtype)));
  args.to = weights->data;
  launcher.each(pack_kernel, packed);

  args.from = from.data(), args.weight = weights->data, args.to = to.data();
  args.bias = bias.defined() ? bias.data() : nullptr;
  const int64_t blocks = down * across * args.groups;
  const int64_t parts =
      std::min<int64_t>({divided(kEnoughBlocks, blocks), args.padded_depth / 128, kMostParts});
  args.part = rounded_up(divided(args.padded_depth, std::max<int64_t>(parts, 1)), tile.depth);
  args.parts = divided(args.padded_depth, args.part);
  Storage partial;
  if (args.parts > 1) {
    partial = launcher.room(args.parts * args.rows * channels * launcher.sum_bytes());
    args.partial = partial->data;
  }
  const int width = by_fours(args.from, args.from_step, args.from_group, dtype) ? 4 : 1;
  launcher.run(tile_kernel,
               {static_cast<unsigned>(down), static_cast<unsigned>(across),
                static_cast<unsigned>(args.groups * args.parts)},
               tile.own + width, message_of(tile.own, ", ", width));
  if (args.parts > 1) launcher.each(join_kernel, args.rows * channels);
}

// Writes the gradient of the weight.
void sum_over_pixels(ConvArguments& args, const Tensor& from, const Tensor& written,
                     const Tensor& weight) {
  const DType dtype = weight.dtype();
  const Launcher launcher(weight, args);
  const int64_t elements = args.groups * args.to_group * args.depth;
  args.from = from.data(), args.to_read = written.data(), args.to = weight.data();
  const int64_t most = std::max<int64_t>(kMostPartialBytes / (elements * launcher.sum_bytes()), 1);
  const bool direct = takes_no_tiles(args);
  const Tile tile = choose_tile(dtype, args.to_group, args.depth, args.groups * kEnoughBlocks);
  const int64_t down = divided(args.to_group, tile.side), across = divided(args.depth, tile.side);
  const int64_t wanted =
      direct ? kEnoughThreads / elements : 2 * kEnoughBlocks / (down * across * args.groups);
  const int64_t parts =
      std::clamp<int64_t>(wanted, 1,
                          std::min({most, divided(args.rows, direct ? 64 : 16 * tile.depth),
                                    direct ? kMostBlocks : kMostParts}));
  args.part = rounded_up(divided(args.rows, parts), tile.depth);
  args.parts = divided(args.rows, args.part);
  const Storage partial = launcher.room(args.parts * elements * launcher.sum_bytes());
  args.partial = partial->data;
  if (direct) {
    launcher.run(weight_direct_kernel,
                 {blocks_for(elements, 256), static_cast<unsigned>(args.parts)});
  } else {
    const int width = by_fours(args.from, args.from_step, args.from_group, dtype) ? 4 : 1;
    const int over = by_fours(args.to_read, args.to_step, args.to_group, dtype) ? 4 : 1;
    launcher.run(weight_tile_kernel,
                 {static_cast<unsigned>(across), static_cast<unsigned>(down),
                  static_cast<unsigned>(args.groups * args.parts)},
                 tile.own * 8 + width + over / 2, message_of(tile.own, ", ", width, ", ", over));
  }
  launcher.each(weight_join_kernel, elements);
}

// With a stride, a pixel of the image that the convolution takes meets only some taps, always the
// same ones for pixels a stride apart. Such pixels have no zeros to multiply.
bool has_classes(const ConvShape& s, const ConvArguments& args) {
  constexpr int64_t kWorthLaunching = 1 << 22, kMostClasses = 64;  // multiplications; launches
  bool strided = false;
  for (size_t d = 0; d < 3; ++d) {
    if (std::gcd(s.stride[d], s.dilation[d]) != 1) return false;
    strided |= s.stride[d] > 1;
  }
  return strided && size_of(s.stride) <= kMostClasses && !takes_no_tiles(args) &&
         s.work() >= kWorthLaunching;
}

// Cuts one dimension down to the positions first, first + stride...; false if there are none.
bool cut_side(device::ConvSide& side, long long& first_tap, long long& tap_step, int first) {
  constexpr int kNowhere = -(1 << 29);
  const int stride = side.divisor, dilation = -side.tap_step;
  if (first >= side.to) return false;
  int tap = 0;
  while (tap < side.taps && (first + side.start - tap * dilation) % stride != 0) ++tap;
  side.to_first = first, side.to_step = stride;
  side.to = (side.to - first + stride - 1) / stride;
  side.divisor = 1;
  if (tap == side.taps) {  // these pixels are in no window
    side.taps = 1;
    side.start = kNowhere;
    return true;
  }
  side.start = (first + side.start - tap * dilation) / stride;
  side.taps = (side.taps - tap + stride - 1) / stride;
  first_tap += tap * tap_step;
  tap_step *= stride;
  return true;
}

void convolve_by_classes(const ConvShape& s, const ConvArguments& whole, const Tensor& from,
                         const Tensor& weight, const Tensor& bias, const Tensor& to) {
  const int64_t classes = size_of(s.stride);
  for (int64_t c = 0; c < classes; ++c) {
    ConvArguments args = whole;
    const int64_t first[] = {c / s.stride[2] / s.stride[1], c / s.stride[2] % s.stride[1],
                             c % s.stride[2]};
    bool any = true;
    args.rows = s.batch, args.depth = args.from_group, args.all = false;
    for (int d = 0; d < 3; ++d) {
      any = any &&
            cut_side(args.side[d], args.first_tap, args.tap_step[d], static_cast<int>(first[d]));
      args.rows *= args.side[d].to, args.depth *= args.side[d].taps;
    }
    if (any) convolve(args, from, weight, bias, to);
  }
}

// Whether a weight with kernels of one element is a dense matrix.
bool is_matrix(const Tensor& weight) {
  return (weight.size(1) == 1 || weight.strides()[1] == 1) &&
         (weight.size(0) == 1 || weight.strides()[0] == weight.size(1));
}

// `backward`: the product with the transposed weight.
bool by_product(const ConvShape& s, bool backward, bool planes, const Tensor& from,
                const Tensor& weight, const Tensor& bias, const Tensor& to) {
  if (!s.is_pointwise() || !is_matrix(weight)) return false;
  const int64_t pixels = size_of(s.out), c = s.in_channels;
  const int64_t inputs = backward ? s.out_channels : c, results = backward ? c : s.out_channels;
  const int device = place_of(to);
  use(device);
  GemmCall call{to.dtype(), 1, s.batch * pixels, results, inputs, {}, {}, {}};
  if (planes) {
    call.batch = s.batch, call.m = results, call.n = pixels;
    call.a = {weight.data(), c, backward};
    call.b = {from.data(), pixels, false, inputs * pixels};
    call.c = {to.data(), pixels, results * pixels};
    if (bias.defined()) return false;  // of a row: there is no such product
  } else {
    call.a = {from.data(), inputs};
    call.b = {weight.data(), c, !backward};
    call.c = {to.data(), results};
    if (bias.defined()) call.bias = bias.data();
  }
  return gemm_cublas(device, call, neural_settings.tf32);
}

void run(const ConvShape& s, bool backward, bool planes, const Tensor& from, const Tensor& weight,
         const Tensor& bias, const Tensor& to) {
  if (to.numel() == 0) return;  // nothing to share among blocks
  if (by_product(s, backward, planes, from, weight, bias, to)) return;
  if (!planes && conv_cudnn(backward ? ConvPass::kData : ConvPass::kForward, s,
                            backward ? to : from, weight, backward ? from : to)) {
    if (bias.defined()) add_bias_to_pixels(to, bias);
    return;
  }
  ConvArguments args = arguments_of(s, backward, planes, weight);
  if (backward && has_classes(s, args))
    convolve_by_classes(s, args, from, weight, bias, to);
  else
    convolve(args, from, weight, bias, to);
}

void run_weight(const ConvShape& s, bool planes, const Tensor& in, const Tensor& out,
                const Tensor& weight) {
  // First, also for kernels of one element: the sum over all pixels is deep and its result small,
  // which cuBLASLt hardly divides.
  if (!planes && conv_cudnn(ConvPass::kWeight, s, in, weight, out)) return;
  if (s.is_pointwise() && !planes && is_matrix(weight)) {
    const int device = place_of(weight);
    use(device);
    GemmCall call{
        weight.dtype(), 1, s.out_channels, s.in_channels, s.batch * size_of(s.out), {}, {}, {}};
    call.a = {out.data(), s.out_channels, true};
    call.b = {in.data(), s.in_channels};
    call.c = {weight.data(), s.in_channels};
    if (gemm_cublas(device, call, neural_settings.tf32)) return;
  }
  ConvArguments args = arguments_of(s, false, planes, weight);
  sum_over_pixels(args, in, out, weight);
}

}  // namespace

bool conv_supports(const ConvShape&, DType dtype) { return dtype != DType::kBool; }

void fill_pixels(const Tensor& image, const Tensor& bias) {
  if (!bias.defined()) return kernel::of(image).fill(image, 0);
  Dims strides(image.dim());
  strides[1] = bias.strides()[0];
  kernel::copy(image, inner_view(bias, image.sizes(), strides, bias.offset()));
}

void conv_forward(const ConvShape& s, const Tensor& in, const Tensor& weight, const Tensor& bias,
                  const Tensor& out) {
  run(s, false, false, in, weight, bias, out);
}

void conv_backward_data(const ConvShape& s, const Tensor& out, const Tensor& weight,
                        const Tensor& bias, const Tensor& in) {
  run(s, true, false, out, weight, bias, in);
}

void conv_backward_weight(const ConvShape& s, const Tensor& in, const Tensor& out,
                          const Tensor& weight) {
  run_weight(s, false, in, out, weight);
}

void conv_planes(const ConvShape& s, const Tensor& in, const Tensor& weight, const Tensor& bias,
                 const Tensor& out) {
  run(s, false, true, in, weight, bias, out);
}

void conv_planes_data(const ConvShape& s, const Tensor& out, const Tensor& weight,
                      const Tensor& bias, const Tensor& in) {
  run(s, true, true, out, weight, bias, in);
}

void conv_planes_weight(const ConvShape& s, const Tensor& in, const Tensor& out,
                        const Tensor& weight) {
  run_weight(s, true, in, out, weight);
}

}  // namespace fb::cuda
