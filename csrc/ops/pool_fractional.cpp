// Fractional max pooling: the largest elements of windows at random positions.
#include "gen/ops/pool.h"
#include "kernel/table.h"
#include "ops/output.h"
#include "ops/pool.h"

namespace fb::ops {
namespace {

std::tuple<Tensor, Tensor> fractional(const Tensor& input, IntSpan kernel_size, IntSpan output_size,
                                      const Tensor& random_samples, int64_t rank) {
  check_image(input, rank);
  const Dims kernel = for_each_dim(kernel_size, rank, "kernel_size");
  const Dims out_space = for_each_dim(output_size, rank, "output_size");
  const Image image(input, rank, false);
  const IntSpan space = image.space();
  for (size_t i = 0; i < space.size(); ++i) {
    FB_CHECK(kernel[i] > 0 && out_space[i] > 0,
             "kernel_size and output_size must be greater than zero, got ", kernel, " and ",
             out_space);
    FB_CHECK(out_space[i] + kernel[i] - 1 <= space[i], "kernel_size ", kernel, " and output_size ",
             out_space, " do not fit into the input of shape ", input.sizes());
  }
  FB_CHECK(random_samples.numel() == image.planes() * rank && random_samples.dim() == 3 &&
               random_samples.size(2) == rank,
           "_random_samples must have ", rank, " numbers for each of ", image.planes(),
           " channels of input ", input.sizes(), ", got shape ", random_samples.sizes());
  const Tensor samples = contiguous(
      cast(random_samples, input.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32));

  Tensor out = image.make(out_space), indices = image.make(out_space, DType::kInt64);
  kernel::FractionalPlan plan;
  plan.planes = image.planes();
  plan.rank = rank;
  for (size_t i = 0; i < space.size(); ++i) {
    const size_t axis = axis_of(rank, i);
    plan.in[axis] = space[i];
    plan.out[axis] = out_space[i];
    plan.kernel[axis] = kernel[i];
  }
  kernel::of(out).fractional_max_pool(input.dtype(), plan, samples.data(), image.elements.data(),
                                      out.data(), indices.data_as<int64_t>());
  return {std::move(out), std::move(indices)};
}

}  // namespace

std::tuple<Tensor, Tensor> compute::_fractional_max_pool2d(const Tensor& input, IntSpan kernel_size,
                                                           IntSpan output_size,
                                                           const Tensor& samples) {
  return fractional(input, kernel_size, output_size, samples, 2);
}
std::tuple<Tensor, Tensor> compute::_fractional_max_pool3d(const Tensor& input, IntSpan kernel_size,
                                                           IntSpan output_size,
                                                           const Tensor& samples) {
  return fractional(input, kernel_size, output_size, samples, 3);
}

}  // namespace fb::ops
