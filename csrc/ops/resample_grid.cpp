// Images sampled at given points.
#include "ops/resample_grid.h"

#include "gen/ops/matmul.h"
#include "gen/ops/resample.h"
#include "gen/ops/view.h"
#include "kernel/table.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

using kernel::GridMode;
using kernel::GridPadding;
using kernel::GridPlan;

int64_t mode_number(const std::string& mode) {
  if (mode == "bilinear") return 0;
  if (mode == "nearest") return 1;
  FB_CHECK_VALUE(mode == "bicubic", "expected mode 'bilinear', 'nearest' or 'bicubic', got '", mode,
                 "'");
  return 2;
}

int64_t padding_number(const std::string& mode) {
  if (mode == "zeros") return 0;
  if (mode == "border") return 1;
  FB_CHECK_VALUE(mode == "reflection",
                 "expected padding_mode 'zeros', 'border' or 'reflection', got '", mode, "'");
  return 2;
}

void check_grid(const Tensor& input, const Tensor& grid) {
  FB_CHECK_INDEX(input.dim() > 0, "expected 4D or 5D input, got a single number");
  FB_CHECK(input.dim() == 4 || input.dim() == 5, "expected 4D or 5D input, got shape ",
           input.sizes());
  FB_CHECK(grid.dim() == input.dim() && grid.size(-1) == input.dim() - 2, "input ", input.sizes(),
           " needs a grid of ", input.dim(), " dimensions that ends in ", input.dim() - 2,
           " coordinates, got grid ", grid.sizes());
  FB_CHECK(grid.size(0) == input.size(0), "input ", input.sizes(), " and grid ", grid.sizes(),
           " must have the same batch size");
  FB_CHECK(grid.dtype() == input.dtype(), "input and grid must have the same dtype, got ",
           input.dtype(), " and ", grid.dtype());
  for (int64_t d = 2; d < input.dim(); ++d)
    FB_CHECK(input.sizes()[d] > 0, "expected an image that is not empty, got shape ",
             input.sizes());
}

GridPlan plan_of(const Tensor& input, const Tensor& grid, int64_t mode, int64_t padding,
                 bool align_corners) {
  check_grid(input, grid);
  FB_CHECK(mode >= 0 && mode <= 2 && padding >= 0 && padding <= 2,
           "expected interpolation_mode and padding_mode in 0, 1, 2, got ", mode, " and ", padding);
  GridPlan plan;
  plan.rank = input.dim() - 2;
  FB_CHECK(mode != 2 || plan.rank == 2, "bicubic interpolation takes 4D input, got shape ",
           input.sizes());
  plan.batch = input.size(0);
  plan.channels = input.size(1);
  for (int64_t a = 0; a < plan.rank; ++a) plan.size[a] = input.size(-1 - a);
  plan.points = 1;
  for (int64_t d = 1; d + 1 < grid.dim(); ++d) plan.points *= grid.sizes()[d];
  plan.mode = static_cast<GridMode>(mode);
  plan.padding = static_cast<GridPadding>(padding);
  plan.align_corners = align_corners;
  return plan;
}

DType computed_type(const Tensor& t) {
  return t.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
}

Tensor prepared(const Tensor& t) { return contiguous(cast(t, computed_type(t))); }

Tensor sampled(const Tensor& input, const Tensor& grid, int64_t mode, int64_t padding,
               bool align_corners) {
  const GridPlan plan = plan_of(input, grid, mode, padding, align_corners);
  Dims sizes{input.size(0), input.size(1)};
  for (int64_t d = 1; d + 1 < grid.dim(); ++d) sizes.push_back(grid.sizes()[d]);
  const Tensor image = prepared(input), points = prepared(grid);
  Tensor out = make_tensor(sizes, image.dtype(), image.device());
  kernel::of(out).grid_sample(out.dtype(), plan, image.data(), points.data(), out.data());
  return cast(out, input.dtype());
}

void check_affine(const Tensor& theta, IntSpan size, ErrorKind kind) {
  const auto rank = static_cast<int64_t>(size.size()) - 2;
  FB_CHECK_AS(kind, theta.dim() == 3 && theta.size(1) == rank && theta.size(2) == rank + 1,
              "expected matrices of shape (N, ", rank, ", ", rank + 1, ") for size ", size,
              ", got ", theta.sizes());
  for (const int64_t length : size)
    FB_CHECK_AS(kind, length > 0, "expected sizes greater than zero, got ", size);
}

}  // namespace

Tensor nn_functional_grid_sample(const Tensor& input, const Tensor& grid, const std::string& mode,
                                 const std::string& padding_mode,
                                 std::optional<bool> align_corners) {
  return ops::grid_sampler(input, grid, mode_number(mode), padding_number(padding_mode),
                           align_corners.value_or(false));
}

Tensor composed::grid_sampler(const Tensor& input, const Tensor& grid, int64_t mode,
                              int64_t padding, bool align_corners) {
  check_grid(input, grid);
  const auto sampler = input.dim() == 4 ? ops::grid_sampler_2d : ops::grid_sampler_3d;
  return sampler(input, grid, mode, padding, align_corners);
}

Tensor compute::grid_sampler_2d(const Tensor& input, const Tensor& grid, int64_t mode,
                                int64_t padding, bool align_corners) {
  return sampled(input, grid, mode, padding, align_corners);
}

Tensor compute::grid_sampler_3d(const Tensor& input, const Tensor& grid, int64_t mode,
                                int64_t padding, bool align_corners) {
  return sampled(input, grid, mode, padding, align_corners);
}

std::tuple<Tensor, Tensor> compute::_grid_sampler_backward(const Tensor& gradient,
                                                           const Tensor& input, const Tensor& grid,
                                                           int64_t mode, int64_t padding,
                                                           bool align_corners, bool for_input,
                                                           bool for_grid) {
  const GridPlan plan = plan_of(input, grid, mode, padding, align_corners);
  const Tensor g = contiguous(cast(gradient, computed_type(input)));
  const Tensor points = prepared(grid);
  Tensor of_input = make_tensor(for_input ? input.sizes() : IntSpan({0}), g.dtype(), g.device());
  Tensor of_grid = make_tensor(for_grid ? grid.sizes() : IntSpan({0}), g.dtype(), g.device());
  if (for_input) {
    kernel::of(of_input).fill(of_input, 0);
    kernel::of(g).grid_sample_image_gradient(g.dtype(), plan, g.data(), points.data(),
                                             of_input.data());
  }
  if (for_grid) {
    const Tensor image = prepared(input);
    kernel::of(g).grid_sample_grid_gradient(g.dtype(), plan, g.data(), image.data(), points.data(),
                                            of_grid.data());
  }
  return {cast(of_input, input.dtype()), cast(of_grid, grid.dtype())};
}

// --- affine maps

Tensor pixel_grid(IntSpan size, bool align_corners, DType dtype, Device device) {
  GridPlan plan;
  plan.rank = static_cast<int64_t>(size.size()) - 2;
  plan.align_corners = align_corners;
  for (int64_t a = 0; a < plan.rank; ++a)
    plan.size[a] = size[size.size() - 1 - static_cast<size_t>(a)];
  const int64_t pixels = numel_of(size.last(static_cast<size_t>(plan.rank)));
  const Tensor one = make_tensor({1, pixels, plan.rank + 1}, DType::kFloat64, device);
  kernel::of(one).pixel_points(plan, one.data_as<double>());
  return ops::expand(cast(one, dtype), {size[0], pixels, plan.rank + 1});
}

Tensor compute::affine_grid_generator(const Tensor& theta, IntSpan size, bool align_corners) {
  FB_CHECK(size.size() == 4 || size.size() == 5, "expected a size of 4 or 5 dimensions, got ",
           size);
  check_affine(theta, size, theta.dim() < 3 ? ErrorKind::kIndex : ErrorKind::kRuntime);
  const Tensor grid = pixel_grid(size, align_corners, theta.dtype(), theta.device());
  const Tensor points = ops::bmm(grid, ops::transpose(theta, 1, 2));
  Dims sizes{size[0]};
  for (size_t d = 2; d < size.size(); ++d) sizes.push_back(size[d]);
  sizes.push_back(static_cast<int64_t>(size.size()) - 2);
  return ops::reshape(points, sizes);
}

Tensor nn_functional_affine_grid(const Tensor& theta, IntSpan size,
                                 std::optional<bool> align_corners) {
  FB_CHECK_VALUE(is_floating(theta.dtype()), "expected theta to have a floating point type, got ",
                 theta.dtype());
  const auto rank = static_cast<int64_t>(size.size()) - 2;
  FB_CHECK_AS(
      ErrorKind::kNotImplemented, rank == 2 || rank == 3,
      "expected a size of 4 or 5 dimensions, for affine maps of the plane or of space, got ", size);
  check_affine(theta, size, ErrorKind::kValue);
  return ops::affine_grid_generator(theta, size, align_corners.value_or(false));
}

}  // namespace fb::ops
