// Convolutions as matrix products over blocks of windows.
#include <algorithm>
#include <cstring>
#include <memory>

#include "core/allocator.h"
#include "cpu/conv_impl.h"
#include "cpu/gemm.h"
#include "cpu/gemm_impl.h"
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
