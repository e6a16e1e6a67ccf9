// Resizing of images.
#include "gen/ops/resample.h"

#include <cmath>

#include "gen/ops/pool.h"
#include "ops/pixels.h"
#include "ops/resample_maps.h"
#include "ops/separable.h"

namespace fb::ops {
namespace {

using Factors = std::optional<std::vector<double>>;

Separable maps_of(const std::string& kind, IntSpan space, IntSpan out, const Factors& factors,
                  bool align_corners, DType dtype) {
  Separable maps;
  for (size_t i = 0; i < space.size(); ++i) {
    const auto factor = factors ? std::optional<double>((*factors)[i]) : std::nullopt;
    const bool in_double = dtype == DType::kFloat64 || dtype == DType::kUInt8;
    maps.push_back(resampling_map({kind, space[i], out[i], factor, align_corners, in_double}));
  }
  return maps;
}

void check_sizes(const Tensor& input, IntSpan out) {
  const auto rank = static_cast<int64_t>(out.size());
  FB_CHECK(input.dim() == rank + 2, "expected a ", rank + 2, "D tensor, got shape ", input.sizes());
  bool full = input.sizes()[1] > 0;
  for (const int64_t size : input.sizes().last(out.size())) full &= size > 0;
  for (const int64_t size : out) full &= size > 0;
  FB_CHECK(full, "sizes of input and output must be greater than zero, got input ", input.sizes(),
           " and output ", out);
}

Tensor resampled(const Tensor& input, const std::string& kind, IntSpan out, const Factors& factors,
                 bool align_corners) {
  check_sizes(input, out);
  // An empty batch needs no maps, however large the result.
  if (input.numel() == 0) return Image(input, static_cast<int64_t>(out.size())).make(out);
  const auto maps = [&](IntSpan space) {
    return maps_of(kind, space, out, factors, align_corners, input.dtype());
  };
  if (input.dtype() == DType::kUInt8 && out.size() == 2) {
    check_memory({input.sizes()[0], input.sizes()[1], out[0], out[1]}, DType::kUInt8,
                 input.device());
    return resize_bytes(input, maps(input.sizes().last(2)));
  }
  const Image image(input, static_cast<int64_t>(out.size()));
  check_memory(image.sizes_with(out), input.dtype(), input.device());
  const auto run = input.dtype() == DType::kUInt8 ? run_rounding : run_separable;
  return run(image, maps(image.space()));
}

// --- the modes of interpolate

using Upsample = Tensor (*)(const Tensor&, IntSpan, const Factors&, bool);

// A mode of the user, with the operator for each rank that it exists for.
struct Mode {
  const char* name;
  Upsample by_rank[3];
  Upsample smooth;  // with antialias=True
};
constexpr Mode kModes[] = {
    {"nearest", {ops::_upsample_nearest1d, ops::_upsample_nearest2d, ops::_upsample_nearest3d}, {}},
    {"nearest-exact",
     {ops::_upsample_nearest_exact1d, ops::_upsample_nearest_exact2d,
      ops::_upsample_nearest_exact3d},
     {}},
    {"linear", {ops::_upsample_linear1d, nullptr, nullptr}, {}},
    {"bilinear", {nullptr, ops::_upsample_bilinear2d, nullptr}, ops::_upsample_bilinear2d_aa},
    {"bicubic", {nullptr, ops::_upsample_bicubic2d, nullptr}, ops::_upsample_bicubic2d_aa},
    {"trilinear", {nullptr, nullptr, ops::_upsample_trilinear3d}, {}},
    {"lanczos", {nullptr, nullptr, nullptr}, ops::_upsample_lanczos2d_aa},
};

Upsample find_mode(const std::string& name, const Tensor& input, bool antialias) {
  const int64_t rank = input.dim() - 2;
  for (const Mode& mode : kModes) {
    if (name != mode.name) continue;
    if (antialias && mode.smooth && rank == 2) return mode.smooth;
    FB_CHECK_VALUE(name != "lanczos", "mode 'lanczos' requires antialias=True");
    if (rank >= 1 && rank <= 3 && mode.by_rank[rank - 1]) return mode.by_rank[rank - 1];
  }
  fail(ErrorKind::kNotImplemented, "mode '", name, "' does not exist for input of shape ",
       input.sizes(),
       ": nearest, nearest-exact and area take 3D to 5D input, linear 3D, bilinear and bicubic 4D, "
       "trilinear 5D");
}

Dims scaled_space(IntSpan space, const std::vector<double>& factors) {
  Dims out;
  for (size_t i = 0; i < space.size(); ++i) {
    const double size = std::floor(static_cast<double>(space[i]) * factors[i]);
    FB_CHECK(std::abs(size) <= std::numeric_limits<int32_t>::max(), "scale_factor ", factors[i],
             " gives a size of ", size, " for ", space[i]);
    out.push_back(static_cast<int64_t>(size));
  }
  return out;
}

Tensor area(const Tensor& input, IntSpan out) {
  constexpr decltype(&ops::nn_functional_adaptive_avg_pool1d) kOperators[] = {
      ops::nn_functional_adaptive_avg_pool1d, ops::nn_functional_adaptive_avg_pool2d,
      ops::nn_functional_adaptive_avg_pool3d};
  return kOperators[out.size() - 1](input, out);
}

void check_options(const Tensor& input, std::optional<IntSpan> size, const Factors& factors,
                   const std::string& mode, std::optional<bool> align_corners,
                   std::optional<bool> recompute, bool antialias) {
  const bool picks = mode == "nearest" || mode == "area" || mode == "nearest-exact";
  FB_CHECK_VALUE(!picks || !align_corners,
                 "align_corners is only valid for the modes linear, bilinear, "
                 "bicubic and trilinear, not to '",
                 mode, "'");
  FB_CHECK_VALUE(size || factors, "either size or scale_factor should be defined");
  FB_CHECK_VALUE(!size || !factors, "only one of size or scale_factor should be defined");
  const bool smooths = mode == "bilinear" || mode == "bicubic" || mode == "lanczos";
  FB_CHECK_VALUE(
      !antialias || (smooths && input.dim() == 4),
      "antialias is only valid for the modes bilinear, bicubic and lanczos and 4D input, got "
      "mode '",
      mode, "' and shape ", input.sizes());
  FB_CHECK_VALUE(!size || !recompute.value_or(false),
                 "recompute_scale_factor is not meaningful with an explicit size");
  const auto rank = static_cast<size_t>(std::max<int64_t>(input.dim() - 2, 0));
  FB_CHECK_VALUE(!size || size->size() == 1 || size->size() == rank, "input of shape ",
                 input.sizes(), " has ", rank, " spatial dimensions, but size ", *size, " has ",
                 size->size());
  FB_CHECK_VALUE(!factors || factors->size() == 1 || factors->size() == rank, "input of shape ",
                 input.sizes(), " has ", rank, " spatial dimensions, but scale_factor has ",
                 factors->size());
  FB_CHECK_AS(ErrorKind::kNotImplemented, rank >= 1 && rank <= 3,
              "expected 3D, 4D or 5D input, got shape ", input.sizes(), " for mode '", mode, "'");
}

}  // namespace

Tensor nn_functional_interpolate(const Tensor& input, std::optional<IntSpan> size,
                                 const Factors& scale_factor, const std::string& mode,
                                 std::optional<bool> align_corners, std::optional<bool> recompute,
                                 bool antialias) {
  check_options(input, size, scale_factor, mode, align_corners, recompute, antialias);
  const auto rank = static_cast<size_t>(input.dim() - 2);
  const IntSpan space = input.sizes().last(rank);
  Dims out;
  Factors factors;
  if (size) {
    out = for_each_dim(*size, static_cast<int64_t>(rank), "size");
  } else {
    factors = *scale_factor;
    if (factors->size() < rank) factors->resize(rank, factors->front());
    out = scaled_space(space, *factors);
    // The factor itself, or the one that follows from the rounded sizes.
    if (recompute.value_or(false)) factors.reset();
  }
  if (mode == "area") return area(input, out);
  return find_mode(mode, input, antialias)(input, out, factors, align_corners.value_or(false));
}

// One operator for each, as in PyTorch, whose graph names them.
#define FB_UPSAMPLE(name, kind)                                                  \
  Tensor compute::_upsample_##name(const Tensor& input, IntSpan output_size,     \
                                   const Factors& factors, bool align_corners) { \
    return resampled(input, kind, output_size, factors, align_corners);          \
  }
FB_UPSAMPLE(nearest1d, "nearest")
FB_UPSAMPLE(nearest2d, "nearest")
FB_UPSAMPLE(nearest3d, "nearest")
FB_UPSAMPLE(nearest_exact1d, "nearest-exact")
FB_UPSAMPLE(nearest_exact2d, "nearest-exact")
FB_UPSAMPLE(nearest_exact3d, "nearest-exact")
FB_UPSAMPLE(linear1d, "linear")
FB_UPSAMPLE(bilinear2d, "linear")
FB_UPSAMPLE(trilinear3d, "linear")
FB_UPSAMPLE(bicubic2d, "cubic")
FB_UPSAMPLE(bilinear2d_aa, "smooth-linear")
FB_UPSAMPLE(bicubic2d_aa, "smooth-cubic")
FB_UPSAMPLE(lanczos2d_aa, "lanczos")
#undef FB_UPSAMPLE

Tensor compute::_resample(const Tensor& input, const std::string& kind, IntSpan output_size,
                          const Factors& factors, bool align_corners) {
  return resampled(input, kind, output_size, factors, align_corners);
}

Tensor compute::_resample_backward(const Tensor& gradient, IntSpan shape, bool channels_last,
                                   const std::string& kind, const Factors& factors,
                                   bool align_corners) {
  const auto rank = static_cast<size_t>(gradient.dim() - 2);
  const Image image(gradient, static_cast<int64_t>(rank), channels_last);
  const Separable maps =
      maps_of(kind, shape.last(rank), image.space(), factors, align_corners, gradient.dtype());
  return run_separable(image, transposed(maps));
}

}  // namespace fb::ops
