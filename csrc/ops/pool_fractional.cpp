// Fractional pooling: the largest elements of windows that lie at random places.
#include "gen/ops/pool.h"
#include "ops/output.h"
#include "ops/pool.h"

namespace fb::ops {
namespace {

// Where windows start: steps of `room / (count - 1)`, rounded down, from a random phase on; the
// last window ends with the input. Computed in the type of the samples, as PyTorch does.
template <class T>
std::vector<int64_t> window_starts(T sample, int64_t room, int64_t count) {
  FB_CHECK(sample >= 0 && sample <= 1, "_random_samples must lie in [0, 1), got ", sample);
  std::vector<int64_t> starts;
  if (count > 1) {
    const T step = static_cast<T>(room) / static_cast<T>(count - 1);
    const auto first = static_cast<int64_t>(sample * step);
    for (int64_t i = 0; i + 1 < count; ++i)
      starts.push_back(
          std::min(static_cast<int64_t>((static_cast<T>(i) + sample) * step) - first, room));
  }
  if (count > 0) starts.push_back(room);
  return starts;
}

std::vector<int64_t> window_starts(const Tensor& samples, int64_t at, int64_t room, int64_t count) {
  if (samples.dtype() == DType::kFloat64)
    return window_starts(samples.data_as<double>()[at], room, count);
  return window_starts(samples.data_as<float>()[at], room, count);
}

// Which of a plane's samples belongs to a dimension: images have that of the width first.
int64_t sample_of(size_t dim, int64_t rank) {
  const auto d = static_cast<int64_t>(dim);
  return rank == 2 ? 1 - d : d;
}

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
  const int64_t in_size = numel_of(space), out_size = numel_of(out_space);
  const auto width = static_cast<int64_t>(input.element_size());
  for (int64_t p = 0; p < image.planes(); ++p) {
    cpu::PoolPlan plan;
    plan.planes = 1;
    for (size_t i = 0; i < space.size(); ++i) {
      const int64_t at = p * rank + sample_of(i, rank);
      plan.axis[axis_of(rank, i)] = cpu::placed_axis(
          space[i], kernel[i], window_starts(samples, at, space[i] - kernel[i], out_space[i]));
    }
    plan.set_offsets();
    FB_KERNEL(max_pool)
    (input.dtype(), plan, static_cast<const char*>(image.elements.data()) + p * in_size * width,
     static_cast<char*>(out.data()) + p * out_size * width, nullptr,
     indices.data_as<int64_t>() + p * out_size);
  }
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
