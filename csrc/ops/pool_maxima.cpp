// The positions of largest elements: scatters and gathers gradients and elements there.
#include "gen/ops/pool.h"
#include "kernel/table.h"
#include "ops/host.h"
#include "ops/pool.h"

namespace fb::ops {
namespace {

using kernel::PoolPlan;

// Refuses indices outside of planes with the sizes `space`. On a GPU nobody waits for an answer:
// its kernels note a bad index.
void check_indices(const Tensor& indices, IntSpan space) {
  if (indices.device().type == DeviceType::kCuda) return;
  const int64_t size = numel_of(space);
  const std::optional<int64_t> outside = first_outside(indices, 0, size - 1);
  FB_CHECK(!outside, "found an invalid max index ", *outside, ": output planes of size ", space,
           " have ", size, " elements");
}

// Positions in planes of sizes `space`, as the kernels take them.
struct Maxima {
  Maxima(const Image& positions, IntSpan space) : plan(plan_of(positions)) {
    check_indices(positions.elements, space);
    for (size_t i = 0; i < space.size(); ++i) {
      kernel::PoolAxis& axis = plan.axis[axis_of(positions.rank, i)];
      axis.in = space[i];
      axis.out = positions.space()[i];
      axis.stride = 0;  // windows are not known
    }
    indices = positions.elements.data_as<int64_t>();
  }
  Maxima(const Image& positions, IntSpan space, const Windows& windows)
      : Maxima(plan_of(positions), positions, space, windows) {}

  void use_indices(const Tensor& positions) {
    numbers = nullptr;
    indices = positions.data_as<int64_t>();
  }

  PoolPlan plan;
  const uint8_t* numbers = nullptr;
  const int64_t* indices = nullptr;

 private:
  Maxima(PoolPlan empty, const Image& positions, IntSpan space, const Windows& windows)
      : plan(std::move(empty)), numbers(positions.elements.data_as<uint8_t>()) {
    set_sliding_axes(plan, space, positions.space(), windows);
  }
};

Maxima maxima_of(const Image& positions, IntSpan space, IntSpan kernel, IntSpan stride,
                 IntSpan padding, IntSpan dilation) {
  const bool has_indices = positions.elements.dtype() == DType::kInt64;
  // The CPU needs no windows to find an index. A GPU, which does not add in order, gathers by them;
  // windows of one element stand for any positions.
  const bool gathers =
      positions.elements.device().type == DeviceType::kCuda && numel_of(kernel) > 1;
  if (has_indices && !gathers) return Maxima(positions, space);
  Maxima maxima(positions, space, read_windows(kernel, stride, padding, dilation, positions.rank));
  if (has_indices) maxima.use_indices(positions.elements);
  return maxima;
}

Tensor unpooled(const Tensor& input, const Tensor& indices, IntSpan output_size, int64_t rank) {
  FB_CHECK(indices.dtype() == DType::kInt64, "indices must be int64, got ", indices.dtype());
  FB_CHECK(input.sizes() == indices.sizes(), "indices must have the shape of input ", input.sizes(),
           ", got ", indices.sizes());
  check_image(input, rank);
  FB_CHECK(static_cast<int64_t>(output_size.size()) == rank, "output_size must have ", rank,
           " elements, got ", output_size);
  const Image image(input, rank), positions(indices, rank, image.channels_last);
  const Maxima maxima(positions, output_size);
  Tensor out = image.make(output_size);
  kernel::of(out).fill(out, 0);
  kernel::of(out).max_unpool(out.dtype(), maxima.plan, image.elements.data(), maxima.indices,
                             out.data());
  return out;
}

}  // namespace

Tensor compute::_max_pool_scatter(const Tensor& gradient, const Tensor& positions, IntSpan shape,
                                  IntSpan kernel_size, IntSpan stride, IntSpan padding,
                                  IntSpan dilation) {
  const Image at(positions, static_cast<int64_t>(kernel_size.size()));
  const Image from(gradient, at.rank, at.channels_last);
  const IntSpan space = shape.last(kernel_size.size());
  Maxima maxima = maxima_of(at, space, kernel_size, stride, padding, dilation);
  if (maxima.numbers && maxima.plan.inner > 1)
    for (int i = 0; i < 3; ++i) maxima.plan.cover[i] = kernel::cover_of(maxima.plan.axis[i]);
  Tensor out = from.make(space);
  kernel::of(out).max_pool_scatter(out.dtype(), maxima.plan, from.elements.data(), maxima.numbers,
                                   maxima.indices, out.data());
  return out;
}

Tensor compute::_max_pool_pick(const Tensor& input, const Tensor& positions, IntSpan kernel_size,
                               IntSpan stride, IntSpan padding, IntSpan dilation) {
  const Image at(positions, static_cast<int64_t>(kernel_size.size()));
  const Image from(input, at.rank, at.channels_last);
  const Maxima maxima = maxima_of(at, from.space(), kernel_size, stride, padding, dilation);
  Tensor out = from.make(at.space());
  kernel::of(out).max_pool_pick(out.dtype(), maxima.plan, from.elements.data(), maxima.numbers,
                                maxima.indices, out.data());
  return out;
}

// If two elements have the same position, the unpooled tensor and its tangent keep the last. Both
// elements get the gradient of that position, as in PyTorch, so this is not just _max_pool_pick.
Tensor compute::_max_unpool_pick(const Tensor& gradient, const Tensor& indices,
                                 IntSpan output_size) {
  const Dims one(output_size.size(), 1);
  return compute::_max_pool_pick(gradient, indices, one, one, one, one);
}

Tensor compute::_max_unpool1d(const Tensor& input, const Tensor& indices, IntSpan output_size) {
  return unpooled(input, indices, output_size, 1);
}
Tensor compute::_max_unpool2d(const Tensor& input, const Tensor& indices, IntSpan output_size) {
  return unpooled(input, indices, output_size, 2);
}
Tensor compute::_max_unpool3d(const Tensor& input, const Tensor& indices, IntSpan output_size) {
  return unpooled(input, indices, output_size, 3);
}

}  // namespace fb::ops
