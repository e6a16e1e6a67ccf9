// Max pooling.
#include "ops/pool.h"

#include "gen/ops/pool.h"
#include "kernel/table.h"

namespace fb::ops {
namespace {

using kernel::PoolPlan;
using Both = std::tuple<Tensor, Tensor>;

Both max_pooled(const Tensor& input, const Windows& windows, bool ceil_mode, Where where) {
  const Dims out = pooled_space(input, windows, ceil_mode);
  const Image image(input, windows.rank());
  PoolPlan plan = plan_of(image);
  set_sliding_axes(plan, image.space(), out, windows);
  return run_max_pool(image, plan, where);
}

// Whether a gradient may be wanted, so that positions have to be kept.
bool may_need_positions(const Tensor& input) {
  return input->flags & (kRequiresGrad | kIsView | kBatched | kDual);
}

Both recorded(const Tensor& input, const Windows& w, bool ceil_mode, bool compact) {
  constexpr decltype(&ops::_max_pool1d) kOperators[] = {ops::_max_pool1d, ops::_max_pool2d,
                                                        ops::_max_pool3d};
  return kOperators[w.rank() - 1](input, w.kernel, w.stride, w.padding, w.dilation, ceil_mode,
                                  compact);
}

Tensor largest(const Tensor& input, const Windows& windows, bool ceil_mode) {
  return std::get<0>(may_need_positions(input)
                         ? recorded(input, windows, ceil_mode, true)
                         : max_pooled(input, windows, ceil_mode, Where::kNowhere));
}

Both adaptive(const Tensor& input, IntSpan output_size, int64_t rank) {
  check_image(input, rank);
  const Image image(input, rank);
  const Dims out = adaptive_space(input, output_size, rank);
  check_memory(image.sizes_with(out), input.dtype(), input.device());
  PoolPlan plan = plan_of(image);
  for (size_t i = 0; i < out.size(); ++i)
    plan.axis[axis_of(rank, i)] = kernel::adaptive_axis(image.space()[i], out[i]);
  plan.set_offsets();
  return run_max_pool(image, plan, Where::kIndices);
}

OneOrTwo as_asked(Both results, bool return_indices) {
  if (return_indices) return results;
  return std::get<0>(std::move(results));
}

Tensor positions_for(const Image& image, IntSpan space, Where where, int64_t volume) {
  if (where == Where::kNowhere) return {};
  const bool compact = where == Where::kCompact && volume <= kernel::kCompactVolume;
  return image.make(space, compact ? DType::kUInt8 : DType::kInt64);
}

}  // namespace

Windows read_windows(IntSpan kernel_size, std::optional<IntSpan> stride, IntSpan padding,
                     IntSpan dilation, int64_t rank) {
  Windows windows;
  windows.kernel = for_each_dim(kernel_size, rank, "kernel_size");
  const bool has_stride = stride && !stride->empty();
  windows.stride = has_stride ? for_each_dim(*stride, rank, "stride") : windows.kernel;
  windows.padding = for_each_dim(padding, rank, "padding");
  windows.dilation = for_each_dim(dilation, rank, "dilation");
  return windows;
}

Dims pooled_space(const Tensor& input, const Windows& windows, bool ceil_mode) {
  const auto check_positive = [](const char* name, const Dims& values) {
    for (const int64_t value : values)
      FB_CHECK(value > 0, name, " must be greater than zero, got ", values);
  };
  check_positive("kernel_size", windows.kernel);
  check_positive("stride", windows.stride);
  check_positive("dilation", windows.dilation);
  check_image(input, windows.rank());
  const IntSpan space = input.sizes().last(windows.kernel.size());
  Dims out;
  for (size_t i = 0; i < space.size(); ++i) {
    const int64_t kernel = windows.kernel[i], padding = windows.padding[i];
    const int64_t extent = windows.dilation[i] * (kernel - 1) + 1;
    FB_CHECK(padding >= 0, "padding must be non-negative, got ", windows.padding);
    FB_CHECK(padding <= extent / 2,
             "padding must be at most half of the kernel with its dilation, got padding ",
             windows.padding, ", kernel_size ", windows.kernel, " and dilation ", windows.dilation);
    out.push_back(kernel::pooled_size(space[i], kernel, windows.stride[i], padding,
                                      windows.dilation[i], ceil_mode));
    FB_CHECK(out.back() > 0, "input of shape ", input.sizes(), " is too small for kernel_size ",
             windows.kernel, " with padding ", windows.padding, " and dilation ", windows.dilation,
             ": the output would have the size ", out.back());
  }
  return out;
}

Dims adaptive_space(const Tensor& input, IntSpan output_size, int64_t rank) {
  Dims out = for_each_dim(output_size, rank, "output_size");
  const IntSpan space = input.sizes().last(static_cast<size_t>(rank));
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i] == std::numeric_limits<int64_t>::min()) out[i] = space[i];
    FB_CHECK(out[i] >= 0, "output_size must be non-negative, got ", output_size);
  }
  return out;
}

PoolPlan plan_of(const Image& image) {
  PoolPlan plan;
  plan.planes = image.planes();
  plan.inner = image.inner();
  return plan;
}

void set_sliding_axes(PoolPlan& plan, IntSpan space, IntSpan out, const Windows& windows) {
  // The plan has an entry for each position of a window.
  constexpr int64_t kMostElements = int64_t{1} << 28;
  FB_CHECK(numel_of(windows.kernel) <= kMostElements, "kernel_size ", windows.kernel, " has ",
           numel_of(windows.kernel), " elements, more than the ", kMostElements, " supported");
  for (size_t i = 0; i < space.size(); ++i)
    plan.axis[axis_of(windows.rank(), i)] =
        kernel::sliding_axis(space[i], out[i], windows.kernel[i], windows.stride[i],
                             windows.padding[i], windows.dilation[i]);
  plan.set_offsets();
}

Both run_max_pool(const Image& image, const PoolPlan& plan, Where where) {
  Dims space;
  for (int64_t i = 3 - image.rank; i < 3; ++i) space.push_back(plan.axis[i].out);
  Tensor out = image.make(space);
  Tensor positions = positions_for(image, space, where, plan.volume());
  const bool has_numbers = positions.defined() && positions.dtype() == DType::kUInt8;
  const bool has_indices = positions.defined() && !has_numbers;
  kernel::of(out).max_pool(out.dtype(), plan, image.elements.data(), out.data(),
                           has_numbers ? positions.data_as<uint8_t>() : nullptr,
                           has_indices ? positions.data_as<int64_t>() : nullptr);
  return {std::move(out), std::move(positions)};
}

// The operators over one, two and three dimensions differ only in a rule for autocast, which puts
// the body of one into another namespace.
#define FB_MAX_POOLING(rank, space)                                                                \
  Tensor space max_pool##rank##d(const Tensor& input, IntSpan kernel,                              \
                                 std::optional<IntSpan> stride, IntSpan padding, IntSpan dilation, \
                                 bool ceil_mode) {                                                 \
    return largest(input, read_windows(kernel, stride, padding, dilation, rank), ceil_mode);       \
  }                                                                                                \
  OneOrTwo nn_functional_max_pool##rank##d(                                                        \
      const Tensor& input, IntSpan kernel, std::optional<IntSpan> stride, IntSpan padding,         \
      IntSpan dilation, bool ceil_mode, bool return_indices) {                                     \
    if (!return_indices)                                                                           \
      return ops::max_pool##rank##d(input, kernel, stride, padding, dilation, ceil_mode);          \
    return recorded(input, read_windows(kernel, stride, padding, dilation, rank), ceil_mode,       \
                    false);                                                                        \
  }                                                                                                \
  Both nn_functional_max_pool##rank##d_with_indices(                                               \
      const Tensor& input, IntSpan kernel, std::optional<IntSpan> stride, IntSpan padding,         \
      IntSpan dilation, bool ceil_mode, bool) {                                                    \
    return recorded(input, read_windows(kernel, stride, padding, dilation, rank), ceil_mode,       \
                    false);                                                                        \
  }                                                                                                \
  Both compute::_max_pool##rank##d(const Tensor& input, IntSpan kernel, IntSpan stride,            \
                                   IntSpan padding, IntSpan dilation, bool ceil_mode,              \
                                   bool compact) {                                                 \
    return max_pooled(input, read_windows(kernel, stride, padding, dilation, rank), ceil_mode,     \
                      compact ? Where::kCompact : Where::kIndices);                                \
  }                                                                                                \
  OneOrTwo nn_functional_adaptive_max_pool##rank##d(const Tensor& input, IntSpan output_size,      \
                                                    bool return_indices) {                         \
    return as_asked(ops::_adaptive_max_pool##rank##d(input, output_size), return_indices);         \
  }                                                                                                \
  Both nn_functional_adaptive_max_pool##rank##d_with_indices(const Tensor& input,                  \
                                                             IntSpan output_size, bool) {          \
    return ops::_adaptive_max_pool##rank##d(input, output_size);                                   \
  }                                                                                                \
  Both compute::_adaptive_max_pool##rank##d(const Tensor& input, IntSpan output_size) {            \
    return adaptive(input, output_size, rank);                                                     \
  }
FB_MAX_POOLING(1, )
FB_MAX_POOLING(2, )
FB_MAX_POOLING(3, composed::)
#undef FB_MAX_POOLING

Both adaptive_max_pool1d(const Tensor& input, IntSpan output_size) {
  return ops::_adaptive_max_pool1d(input, output_size);
}

}  // namespace fb::ops
