// Convolutions as matrix products over blocks of windows.
#include <algorithm>
#include <cstring>
#include <memory>

#include "core/allocator.h"
#include "cpu/conv_impl.h"
#include "cpu/gemm.h"
#include "cpu/gemm_impl.h"
#include "cpu/pack_on_threads.h"
#include "cpu/packed.h"
#include "cpu/threads.h"

namespace fb::cpu {
namespace {

// Columns of a block: half a second-level cache.
constexpr int64_t kBlockBytes = 256 * 1024;
// The most parts that the gradient of the weight is summed in. Independent of the number of
// threads, as the result must not depend on it.
constexpr int64_t kParts = 8;

// How one convolution is cut into blocks.
struct Plan {
  const ConvShape& s;
  DType dtype;
  int64_t lines;   // of windows in a block
  int64_t blocks;  // of a sample
  int64_t width;   // elements of a window

  Plan(const ConvShape& shape, DType type)
      : s(shape), dtype(type), width(shape.window() * shape.group_in()) {
    const int64_t line_bytes = s.out[2] * width * static_cast<int64_t>(size_of(dtype));
    const int64_t all = s.out[0] * s.out[1];
    lines = std::clamp<int64_t>(kBlockBytes / line_bytes, 1, all);
    blocks = (all + lines - 1) / lines;
  }

  ConvBlock block(int64_t sample, int64_t index, int64_t group) const {
    const int64_t first = index * lines;
    return {sample, group, first, std::min(first + lines, s.out[0] * s.out[1])};
  }
  int64_t rows(const ConvBlock& block) const { return (block.last - block.first) * s.out[2]; }
  Storage columns() const { return allocate_cpu(lines * s.out[2] * width * size_of(dtype)); }

  // The first pixel of a block in the image that has one pixel per window, at its group's channels.
  int64_t out_offset(const ConvBlock& block) const {
    const int64_t line = block.sample * s.out[0] * s.out[1] + block.first;
    return line * s.out[2] * s.out_channels + block.group * s.group_out();
  }
  // A group's kernels, one after the other.
  int64_t weight_offset(int64_t group) const { return group * s.group_out() * width; }
};

}  // namespace

void conv_forward_columns(const ConvShape& s, const Tensor& in, const Tensor& weight,
                          const Tensor& bias, const Tensor& out) {
  const DType dtype = in.dtype();
  const Plan plan(s, dtype);
  parallel_for(s.batch * plan.blocks, 1, [&](int64_t begin, int64_t end) {
    const Storage columns = plan.columns();
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t group = 0; group < s.groups; ++group) {
        const ConvBlock block = plan.block(i / plan.blocks, i % plan.blocks, group);
        FB_KERNEL(gather_columns)(s, block, dtype, in.data(), columns->data);
        GemmCall call{dtype, 1, plan.rows(block), s.group_out(), plan.width, {}, {}, {}};
        call.a = {columns->data, plan.width};
        call.b = {element_at(weight.data(), plan.weight_offset(group), dtype), plan.width, true};
        call.c = {element_at(out.data(), plan.out_offset(block), dtype), s.out_channels};
        if (bias.defined()) call.bias = element_at(bias.data(), group * s.group_out(), dtype);
        gemm(call);
      }
    }
  });
}

void conv_backward_data_columns(const ConvShape& s, const Tensor& out, const Tensor& weight,
                                const Tensor& bias, const Tensor& in) {
  const DType dtype = in.dtype();
  const Plan plan(s, dtype);
  fill_pixels(in, bias);
  // Windows overlap, so one thread computes all of a sample's group.
  parallel_for(s.batch * s.groups, 1, [&](int64_t begin, int64_t end) {
    const Storage columns = plan.columns();
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t index = 0; index < plan.blocks; ++index) {
        const ConvBlock block = plan.block(i / s.groups, index, i % s.groups);
        GemmCall call{dtype, 1, plan.rows(block), plan.width, s.group_out(), {}, {}, {}};
        call.a = {element_at(out.data(), plan.out_offset(block), dtype), s.out_channels};
        call.b = {element_at(weight.data(), plan.weight_offset(block.group), dtype), plan.width};
        call.c = {columns->data, plan.width};
        gemm(call);
        FB_KERNEL(scatter_columns)(s, block, dtype, columns->data, in.data());
      }
    }
  });
}

namespace {

int64_t pixels_of(const ConvShape& s) { return s.batch * s.out[0] * s.out[1] * s.out[2]; }

// The windows of all images as one matrix: the image itself if a window is a pixel.
class Windows {
 public:
  Windows(const ConvShape& s, const Tensor& in) : data_(in.data()) {
    if (s.is_pointwise()) return;
    const DType dtype = in.dtype();
    Plan plan(s, dtype);
    plan.lines = 1;
    plan.blocks = s.out[0] * s.out[1];
    const int64_t line = s.out[2] * plan.width, lines = s.batch * plan.blocks;
    columns_ = allocate_cpu(lines * line * size_of(dtype));
    parallel_for(lines, kGrain / (line + 1) + 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) FB_KERNEL(gather_columns)
      (s, plan.block(i / plan.blocks, i % plan.blocks, 0), dtype, in.data(),
       element_at(columns_->data, i * line, dtype));
    });
    data_ = columns_->data;
  }

  const void* data() const { return data_; }

 private:
  Storage columns_;
  const void* data_;
};

// What weights are packed for: oneDNN's primitives have positive numbers, Winograd's -1 and -2.
constexpr int64_t kGatheredPacking = -3;

}  // namespace

bool conv_gathered_takes(ConvPass pass, const ConvShape& s, DType dtype) {
  // Few pixels of many channels: oneDNN, called for slices of images or for sums of a weight, would
  // have less than a slice for every thread. The windows must not take much memory, and forwards a
  // weight has to be packed, which is kept for one image: in evaluation.
  constexpr int64_t kLeastWork = 1 << 23, kMostBytes = 64 << 20, kLeastChannels = 64;
  const bool is_forward = pass == ConvPass::kForward;
  const int64_t most_pixels = is_forward ? 256 : 8192, width = s.window() * s.in_channels;
  return pass != ConvPass::kBackwardData && !(is_forward && s.batch > 1) &&
         dtype == DType::kFloat32 && s.groups == 1 && s.in_channels >= kLeastChannels &&
         s.out_channels >= kLeastChannels && pixels_of(s) < most_pixels && s.work() >= kLeastWork &&
         pixels_of(s) * width * static_cast<int64_t>(sizeof(float)) <= kMostBytes;
}

void conv_forward_gathered(const ConvShape& s, const Tensor& in, const Tensor& weight,
                           const Tensor& bias, const Tensor& out) {
  constexpr int64_t kRows = 16;  // of the result, in a part
  const int64_t pixels = pixels_of(s), width = s.window() * s.in_channels, n = s.out_channels;
  const Packing packing{kGatheredPacking, s.in_channels, n};
  const size_t bytes = packed_elements(width, n) * sizeof(float);
  const Storage packed = packed_weight(weight, packing, bytes, [&](void* to) {
    const Tensor last = dense_weight(weight, true);
    pack_on_threads<float>({width, n, last.data_as<float>(), width, true}, static_cast<float*>(to));
  });
  const Windows windows(s, in);
  const int64_t down = (pixels + kRows - 1) / kRows;
  const int64_t across = (n + kPackedColumns - 1) / kPackedColumns;
  parallel_for(down * across, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = pixels * (i % down) / down, last = pixels * (i % down + 1) / down;
      const int64_t column = i / down * kPackedColumns;
      FB_KERNEL(packed_product<float>)
      ({last - row, std::min(kPackedColumns, n - column), width,
        static_cast<const float*>(windows.data()) + row * width, width,
        static_cast<const float*>(packed->data) + column * width,
        out.data_as<float>() + row * n + column, n, false,
        bias.defined() ? bias.data_as<float>() + column : nullptr});
    }
  });
}

void conv_backward_weight_gathered(const ConvShape& s, const Tensor& in, const Tensor& out,
                                   const Tensor& weight) {
  const int64_t width = s.window() * s.in_channels;
  const Windows windows(s, in);
  GemmCall call{weight.dtype(), 1, s.out_channels, width, pixels_of(s), {}, {}, {}};
  call.a = {out.data(), s.out_channels, true};
  call.b = {windows.data(), width};
  call.c = {weight.data(), width};
  gemm(call);
}

void conv_backward_weight_columns(const ConvShape& s, const Tensor& in, const Tensor& out,
                                  const Tensor& weight) {
  const DType dtype = in.dtype();
  const Plan plan(s, dtype);
  const int64_t blocks = s.batch * plan.blocks, parts = std::min(blocks, kParts);
  const int64_t elements = s.out_channels * plan.width;
  const Storage sums = allocate_cpu(parts * elements * size_of(dtype));
  parallel_for(parts, 1, [&](int64_t begin, int64_t end) {
    const Storage columns = plan.columns();
    for (int64_t part = begin; part < end; ++part) {
      const int64_t first = blocks * part / parts, last = blocks * (part + 1) / parts;
      for (int64_t i = first; i < last; ++i) {
        for (int64_t group = 0; group < s.groups; ++group) {
          const ConvBlock block = plan.block(i / plan.blocks, i % plan.blocks, group);
          FB_KERNEL(gather_columns)(s, block, dtype, in.data(), columns->data);
          GemmCall call{dtype, 1, s.group_out(), plan.width, plan.rows(block), {}, {}, {}};
          call.a = {element_at(out.data(), plan.out_offset(block), dtype), s.out_channels, true};
          call.b = {columns->data, plan.width};
          call.c = {element_at(sums->data, part * elements + plan.weight_offset(group), dtype),
                    plan.width};
          call.accumulate = i != first;
          gemm(call);
        }
      }
    }
  });
  std::memcpy(weight.data(), sums->data, elements * size_of(dtype));
  for (int64_t part = 1; part < parts; ++part) {
    FB_KERNEL(add_elements)
    (dtype, elements, element_at(sums->data, part * elements, dtype), weight.data());
  }
}

}  // namespace fb::cpu
