// Normalisation by statistics of channels, groups and rows: checks of shapes, the layout that the
// kernels run in, and updates of running statistics.
#include "gen/ops/norm.h"

#include "core/layout.h"
#include "gen/ops/create.h"
#include "kernel/table.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

using kernel::ImageNorm;
using kernel::RowNorm;

// The type to compute in.
DType number_type(const Tensor& input) {
  return input.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
}

// `count` numbers: those of t, or `otherwise` if t is undefined.
Tensor numbers_or(const Tensor& t, int64_t count, double otherwise, DType type, Device device) {
  if (t.defined()) return contiguous(cast(t, type));
  Tensor result = make_tensor({count}, type, device);
  kernel::of(result).fill(result, otherwise);
  return result;
}

void check_count(const Tensor& t, const char* name, int64_t channels) {
  FB_CHECK(!t.defined() || t.numel() == channels, name, " should contain ", channels,
           " elements, one for each channel, not ", t.defined() ? t.numel() : 0);
}

void check_vector(const Tensor& t, const char* name, int64_t channels) {
  FB_CHECK(!t.defined() || t.dim() == 1, "expected ", name, " to be a vector of ", channels,
           " elements, one for each channel, got the shape ", t.defined() ? t.sizes() : IntSpan());
}

// --- by channels

// Images in a layout that a kernel takes, and which one it is.
struct Images {
  Tensor elements;
  ImageNorm shape;

  Images(const Tensor& input, int64_t groups) {
    FB_CHECK_AS(input.dim() == 0 ? ErrorKind::kRuntime : ErrorKind::kIndex, input.dim() >= 2,
                "expected an input of at least 2 dimensions (batch and channels), got the shape ",
                input.sizes());
    const int64_t batch = input.size(0), channels = input.size(1);
    const int64_t plane = numel_of(input.sizes().last(static_cast<size_t>(input.dim() - 2)));
    // Single pixels are planes too, but a batch of them is faster by rows.
    const bool by_rows = input.dim() == 2 ? input.is_contiguous() : is_channels_last(input);
    const bool interleaved = by_rows && channels > 1 && (plane > 1 || groups == 0);
    elements = interleaved ? input : contiguous(input);
    shape = {batch, channels, plane, interleaved, groups};
    if (channels == 1 && groups == 0) {
      shape.batch = 1;
      shape.plane = batch * plane;
    }
  }

  // Another tensor of this shape and type in the same layout.
  Tensor alike(const Tensor& t) const {
    const Tensor same = cast(t, elements.dtype());
    if (same.strides() == elements.strides()) return same;
    Tensor result = make_like(elements, elements.dtype());
    kernel::copy(result, same);
    return result;
  }
};

struct Statistics {
  Tensor mean, rstd;
  Tensor variance;  // of float64; undefined where mean and rstd were given

  Statistics(const ImageNorm& shape, DType type, Device device)
      : mean(make_tensor({shape.sets()}, type, device)),
        rstd(make_tensor({shape.sets()}, type, device)),
        variance(make_tensor({shape.sets()}, DType::kFloat64, device)) {}
  Statistics(const Tensor& running_mean, const Tensor& running_var, double eps, DType type)
      : mean(copy_contiguous(cast(running_mean, type))),
        rstd(copy_contiguous(cast(running_var, type))) {
    kernel::of(rstd).norm_deviations(type, eps, rstd.numel(), rstd.data());
  }
};

Tensor normalised(const Images& images, const Tensor& weight, const Tensor& bias, double eps,
                  Statistics& statistics) {
  const ImageNorm& shape = images.shape;
  const DType type = statistics.mean.dtype();
  if (shape.groups != 0) {
    check_vector(weight, "weight", shape.channels);
    check_vector(bias, "bias", shape.channels);
  }
  check_count(weight, "weight", shape.channels);
  check_count(bias, "bias", shape.channels);
  const Tensor w = numbers_or(weight, shape.channels, 1, type, statistics.mean.device());
  const Tensor b = numbers_or(bias, shape.channels, 0, type, statistics.mean.device());
  Tensor result = make_like(images.elements, images.elements.dtype());
  if (result.numel() == 0) {
    // No elements to take statistics of.
    if (statistics.variance.defined()) {
      kernel::of(statistics.mean).fill(statistics.mean, 0);
      kernel::of(statistics.rstd).fill(statistics.rstd, 0);
    }
    return result;
  }
  double* const variance =
      statistics.variance.defined() ? statistics.variance.data_as<double>() : nullptr;
  const kernel::Table& table = kernel::of(result);
  (shape.channels_last ? table.norm_interleaved : table.norm_planar)(
      images.elements.dtype(), shape, images.elements.data(), result.data(),
      {w.data(), b.data(), statistics.mean.data(), statistics.rstd.data(), variance, eps});
  return result;
}

// Moves a running statistic towards the current one. `size`: the number of elements of a set, to
// make variances unbiased; 0 for means.
void move_towards(const Tensor& running, const Tensor& now, double momentum, int64_t samples,
                  double size) {
  if (!running.defined()) return;
  check_writable(running);
  const Tensor numbers = contiguous(cast(running, DType::kFloat64));
  kernel::of(numbers).norm_running(
      {numbers.data_as<double>(), now.data_as<double>(), samples, numbers.numel(), momentum, size});
  if (!numbers.is_same(running)) kernel::copy(running, numbers);
  running.bump_version("batch_norm");
}

// The unbiased statistics of the whole batch from those of its sets. Instances have equal weights.
void update_running(const Tensor& running_mean, const Tensor& running_var, double momentum,
                    const ImageNorm& shape, const Statistics& statistics) {
  if (shape.batch * shape.plane == 0) return;
  const int64_t samples = shape.groups ? shape.batch : 1;
  move_towards(running_mean, cast(statistics.mean, DType::kFloat64), momentum, samples, 0);
  move_towards(running_var, statistics.variance, momentum, samples,
               static_cast<double>(shape.set_size()));
}

void check_running(const Tensor& running_mean, const Tensor& running_var, int64_t channels,
                   bool needed) {
  FB_CHECK(!needed || (running_mean.defined() && running_var.defined()),
           "expected running_mean and running_var to be given in evaluation, where they take the "
           "place of the batch's statistics");
  check_count(running_mean, "running_mean", channels);
  check_count(running_var, "running_var", channels);
}

// --- by rows

// The last dimensions of `input`, which must equal normalized_shape, as rows.
RowNorm rows_of(const Tensor& input, IntSpan normalized_shape, const Tensor& weight,
                const Tensor& bias, bool centred) {
  FB_CHECK(!normalized_shape.empty(),
           "expected normalized_shape to have at least 1 dimension, got ", normalized_shape);
  FB_CHECK(!weight.defined() || weight.sizes() == normalized_shape,
           "expected weight to be of the same shape as normalized_shape, ", normalized_shape,
           ", got ", weight.defined() ? weight.sizes() : IntSpan());
  FB_CHECK(!bias.defined() || bias.sizes() == normalized_shape,
           "expected bias to be of the same shape as normalized_shape, ", normalized_shape,
           ", got ", bias.defined() ? bias.sizes() : IntSpan());
  const size_t last = normalized_shape.size();
  FB_CHECK_VALUE(centred || input.sizes().size() >= last, "expected an input of at least ", last,
                 " dimensions, got the shape ", input.sizes());
  FB_CHECK(input.sizes().size() >= last && input.sizes().last(last) == normalized_shape,
           "given normalized_shape=", normalized_shape,
           ", expected an input whose last dimensions these are, got the shape ", input.sizes());
  const int64_t n = numel_of(normalized_shape);
  return {n == 0 ? 0 : input.numel() / n, n, centred};
}

// One number for each row: the sizes of the input with the last ones 1.
Dims row_sizes(const Tensor& input, size_t last) {
  Dims sizes = input.sizes().vec();
  for (size_t i = sizes.size() - last; i < sizes.size(); ++i) sizes[i] = 1;
  return sizes;
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> compute::_batch_norm(const Tensor& input, const Tensor& weight,
                                                        const Tensor& bias,
                                                        const Tensor& running_mean,
                                                        const Tensor& running_var, bool training,
                                                        double momentum, double eps) {
  const DType type = number_type(input);
  const Images images(input, 0);
  check_running(running_mean, running_var, images.shape.channels, !training);
  Statistics statistics = training ? Statistics(images.shape, type, input.device())
                                   : Statistics(running_mean, running_var, eps, type);
  Tensor result = normalised(images, weight, bias, eps, statistics);
  if (training) update_running(running_mean, running_var, momentum, images.shape, statistics);
  return {std::move(result), std::move(statistics.mean), std::move(statistics.rstd)};
}

std::tuple<Tensor, Tensor, Tensor> compute::_instance_norm(const Tensor& input,
                                                           const Tensor& weight, const Tensor& bias,
                                                           const Tensor& running_mean,
                                                           const Tensor& running_var,
                                                           double momentum, double eps) {
  const DType type = number_type(input);
  const Images images(input, input.dim() < 2 ? 1 : input.size(1));
  check_running(running_mean, running_var, images.shape.channels, false);
  Statistics statistics(images.shape, type, input.device());
  Tensor result = normalised(images, weight, bias, eps, statistics);
  // Users expect a contiguous result, whatever the memory order of the input.
  result->deferred_layout = !result.is_contiguous();
  update_running(running_mean, running_var, momentum, images.shape, statistics);
  return {std::move(result), std::move(statistics.mean), std::move(statistics.rstd)};
}

std::tuple<Tensor, Tensor, Tensor> compute::native_group_norm(const Tensor& input,
                                                              const Tensor& weight,
                                                              const Tensor& bias, int64_t N,
                                                              int64_t C, int64_t HxW, int64_t group,
                                                              double eps) {
  const DType type = number_type(input);
  FB_CHECK(group > 0, "expected the number of groups to be greater than 0, got ", group);
  FB_CHECK(C % group == 0,
           "expected the number of channels to be divisible by num_groups, got the "
           "input shape ",
           input.sizes(), " and num_groups=", group);
  FB_CHECK(input.dim() >= 2 && input.size(0) == N && input.size(1) == C &&
               numel_of(input.sizes().last(input.sizes().size() - 2)) == HxW,
           "expected an input of ", N, " samples of ", C, " channels of ", HxW,
           " elements, got the shape ", input.sizes());
  const Images images(input, group);
  Statistics statistics(images.shape, type, input.device());
  Tensor result = normalised(images, weight, bias, eps, statistics);
  const Dims sizes{N, group};
  return {std::move(result), as_view(statistics.mean, sizes, contiguous_strides(sizes)),
          as_view(statistics.rstd, sizes, contiguous_strides(sizes))};
}

std::tuple<Tensor, Tensor, Tensor> compute::_image_norm_backward(
    const Tensor& gradient, const Tensor& input, const Tensor& weight, const Tensor& mean,
    const Tensor& rstd, int64_t groups, bool given) {
  const Images images(input, groups);
  const ImageNorm& shape = images.shape;
  const DType type = mean.dtype();
  const Tensor g = images.alike(gradient),
               w = numbers_or(weight, shape.channels, 1, type, input.device());
  Tensor result = make_like(images.elements, input.dtype());
  Tensor weight_grad = compute::zeros({shape.channels}, type, input.device()),
         bias_grad = compute::zeros({shape.channels}, type, input.device());
  const kernel::Table& table = kernel::of(result);
  if (result.numel() != 0)
    (shape.channels_last ? table.norm_interleaved_backward : table.norm_planar_backward)(
        input.dtype(), shape, g.data(), images.elements.data(), result.data(),
        {w.data(), mean.data(), rstd.data(), given, weight_grad.data(), bias_grad.data()});
  return {std::move(result), std::move(weight_grad), std::move(bias_grad)};
}

std::tuple<Tensor, Tensor, Tensor> compute::native_layer_norm(const Tensor& input,
                                                              IntSpan normalized_shape,
                                                              const Tensor& weight,
                                                              const Tensor& bias, double eps) {
  const DType type = number_type(input);
  const RowNorm shape = rows_of(input, normalized_shape, weight, bias, true);
  const Tensor x = contiguous(input), w = numbers_or(weight, shape.n, 1, type, input.device()),
               b = numbers_or(bias, shape.n, 0, type, input.device());
  const Dims sizes = row_sizes(input, normalized_shape.size());
  Tensor mean = make_tensor(sizes, type, input.device()),
         rstd = make_tensor(sizes, type, input.device());
  Tensor result = make_tensor(input.sizes(), input.dtype(), input.device());
  kernel::of(result).norm_rows(input.dtype(), shape, x.data(), result.data(),
                               {w.data(), b.data(), mean.data(), rstd.data(), nullptr, eps});
  return {std::move(result), std::move(mean), std::move(rstd)};
}

std::tuple<Tensor, Tensor> compute::_rms_norm(const Tensor& input, IntSpan normalized_shape,
                                              const Tensor& weight, double eps) {
  const DType type = number_type(input);
  const RowNorm shape = rows_of(input, normalized_shape, weight, {}, false);
  const Tensor x = contiguous(input), w = numbers_or(weight, shape.n, 1, type, input.device());
  Tensor rstd = make_tensor(row_sizes(input, normalized_shape.size()), type, input.device());
  Tensor result = make_tensor(input.sizes(), input.dtype(), input.device());
  kernel::of(result).norm_rows(input.dtype(), shape, x.data(), result.data(),
                               {w.data(), nullptr, nullptr, rstd.data(), nullptr, eps});
  return {std::move(result), std::move(rstd)};
}

std::tuple<Tensor, Tensor, Tensor> compute::_row_norm_backward(const Tensor& gradient,
                                                               const Tensor& input,
                                                               const Tensor& weight,
                                                               const Tensor& mean,
                                                               const Tensor& rstd) {
  const DType type = rstd.dtype();
  const int64_t rows = rstd.numel(), n = rows == 0 ? 0 : input.numel() / rows;
  const Tensor g = contiguous(cast(gradient, input.dtype())), x = contiguous(input),
               w = numbers_or(weight, n, 1, type, input.device());
  Tensor result = make_tensor(input.sizes(), input.dtype(), input.device());
  const IntSpan sizes = weight.defined() ? weight.sizes() : w.sizes();
  Tensor weight_grad = compute::zeros(sizes, type, input.device()),
         bias_grad = compute::zeros(sizes, type, input.device());
  if (result.numel() != 0)
    kernel::of(result).norm_rows_backward(
        input.dtype(), {rows, n, mean.defined()}, g.data(), x.data(), result.data(),
        {w.data(), mean.defined() ? mean.data() : nullptr, rstd.data(), false, weight_grad.data(),
         bias_grad.data()});
  return {std::move(result), std::move(weight_grad), std::move(bias_grad)};
}

}  // namespace fb::ops
