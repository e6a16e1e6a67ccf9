// Convolutions: checks of the arguments, the shape of the result, and the calls of the kernels.
#include "ops/conv.h"

#include "autograd/record.h"
#include "core/layout.h"
#include "gen/ops/conv.h"
#include "gen/ops/copy.h"
#include "gen/ops/padding.h"
#include "gen/ops/view.h"
#include "kernel/table.h"
#include "ops/image.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

using kernel::ConvShape;

// The geometry arguments, one number for each spatial dimension.
struct Steps {
  Dims stride, padding, dilation, output_padding;
  bool transposed;
  int64_t groups;
};

Steps read_steps(int64_t n, IntSpan stride, IntSpan padding, IntSpan dilation, bool transposed,
                 IntSpan output_padding, int64_t groups) {
  Steps steps{for_each_dim(stride, n, "stride"),
              for_each_dim(padding, n, "padding"),
              for_each_dim(dilation, n, "dilation"),
              for_each_dim(output_padding, n, "output_padding"),
              transposed,
              groups};
  for (int64_t d = 0; d < n; ++d) {
    FB_CHECK(steps.stride[d] > 0, "stride must be at least 1, got ", steps.stride);
    FB_CHECK(steps.dilation[d] > 0, "dilation must be at least 1, got ", steps.dilation);
    FB_CHECK(steps.padding[d] >= 0, "padding must not be negative, got ", steps.padding);
    FB_CHECK(steps.output_padding[d] >= 0, "output_padding must not be negative, got ",
             steps.output_padding);
    FB_CHECK(!transposed || steps.output_padding[d] < std::max(steps.stride[d], steps.dilation[d]),
             "output_padding ", steps.output_padding, " must be smaller than stride ", steps.stride,
             " or dilation ", steps.dilation);
  }
  FB_CHECK(groups > 0, "groups must be at least 1, got ", groups);
  return steps;
}

void check_weight(IntSpan w, const Steps& steps) {
  FB_CHECK(w[0] > 0 && w[0] % steps.groups == 0, "weight ", w, " has ", w[0],
           " kernels, which groups = ", steps.groups, " does not divide");
  for (size_t d = 2; d < w.size(); ++d) FB_CHECK(w[d] > 0, "weight ", w, " has an empty kernel");
}

void check_types(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  FB_CHECK(input.dtype() == weight.dtype(), "input is ", input.dtype(), ", weight is ",
           weight.dtype(), "; they must be the same");
  FB_CHECK(!bias.defined() || bias.dtype() == input.dtype(), "input is ", input.dtype(),
           ", bias is ", bias.dtype(), "; they must be the same");
}

int64_t out_channels(IntSpan weight, const Steps& steps) {
  if (!steps.transposed && weight[1] == 0) return 0;  // as in PyTorch: no channels in, none out
  return steps.transposed ? weight[1] * steps.groups : weight[0];
}

void check_channels(IntSpan input, IntSpan weight, const Steps& steps) {
  const int64_t expected = steps.transposed ? weight[0] : weight[1] * steps.groups;
  FB_CHECK(input[1] == expected, "weight ", weight, " with groups = ", steps.groups,
           " expects input with ", expected, " channels, got ", input, " with ", input[1]);
}

void check_bias(const Tensor& bias, IntSpan weight, const Steps& steps) {
  const int64_t out = steps.transposed ? weight[1] * steps.groups : weight[0];
  FB_CHECK(!bias.defined() || (bias.dim() == 1 && bias.numel() == out), "weight ", weight,
           " expects bias of shape (", out, ",), got ", bias.sizes());
}

// The size of a transposed convolution's result, or the number of windows that fit.
int64_t out_size(const Steps& steps, int64_t d, int64_t in, int64_t kernel) {
  const int64_t span = steps.dilation[d] * (kernel - 1) + 1, edges = 2 * steps.padding[d];
  if (steps.transposed) return (in - 1) * steps.stride[d] - edges + span + steps.output_padding[d];
  return (in + edges - span) / steps.stride[d] + 1;
}

void check_kernel_fits(IntSpan input, IntSpan weight, const Steps& steps) {
  for (size_t d = 0; d + 2 < input.size(); ++d) {
    const int64_t padded = input[d + 2] + 2 * steps.padding[d];
    const int64_t span = steps.dilation[d] * (weight[d + 2] - 1) + 1;
    FB_CHECK(padded >= span, "the kernel of weight ", weight, " spans ", span,
             " elements along dimension ", d + 2, ", padded input ", input, " has ", padded);
  }
}

Dims result_sizes(IntSpan input, IntSpan weight, const Steps& steps) {
  Dims sizes{input[0], out_channels(weight, steps)};
  for (size_t d = 0; d + 2 < input.size(); ++d) {
    const int64_t size = out_size(steps, static_cast<int64_t>(d), input[d + 2], weight[d + 2]);
    FB_CHECK(size >= 0 && (size > 0 || !steps.transposed), "input ", input, " and weight ", weight,
             " give a result of ", size, " elements along dimension ", d + 2);
    sizes.push_back(size);
  }
  return sizes;
}

void check_ranks(IntSpan input, IntSpan weight) {
  FB_CHECK(weight.size() >= 3 && weight.size() <= 5,
           "expected weight of 3, 4 or 5 dimensions, got ", weight);
  FB_CHECK(input.size() == weight.size(), "expected input of ", weight.size(),
           " dimensions for weight ", weight, ", got ", input);
}

// Whether a convolution of these shapes gives one of the shape of `gradient`.
void check_gradient(const Tensor& gradient, IntSpan input, IntSpan weight, const Steps& steps) {
  for (const IntSpan sizes : {input, weight})
    for (const int64_t size : sizes) FB_CHECK(size >= 0, "a size is negative: ", sizes);
  check_weight(weight, steps);
  check_channels(input, weight, steps);
  if (!steps.transposed) check_kernel_fits(input, weight, steps);
  const Dims expected = result_sizes(input, weight, steps);
  FB_CHECK(gradient.sizes() == expected, "input ", input, " and weight ", weight,
           " give a result of shape ", expected, ", which a gradient of shape ", gradient.sizes(),
           " does not belong to");
}

// A transposed convolution uses the gradients of the convolution from its output to its input.
ConvShape shape_of(IntSpan input, IntSpan output, IntSpan weight, const Steps& steps) {
  const IntSpan in = steps.transposed ? output : input, out = steps.transposed ? input : output;
  ConvShape s{in[0],     steps.groups, in[1],     out[1], {1, 1, 1},
              {1, 1, 1}, {1, 1, 1},    {1, 1, 1}, {},     {1, 1, 1}};
  const size_t n = in.size() - 2;
  for (size_t d = 0; d < n; ++d) {
    const size_t to = 3 - n + d;
    s.in[to] = in[d + 2];
    s.out[to] = out[d + 2];
    s.kernel[to] = weight[d + 2];
    // Libraries compute with strides and dilations even if they never take such a step: past the
    // end, or within a kernel of one element. So huge ones are cut down.
    s.stride[to] = std::min(steps.stride[d], in[d + 2] + 2 * steps.padding[d]);
    s.padding[to] = steps.padding[d];
    s.dilation[to] = weight[d + 2] > 1 ? steps.dilation[d] : 1;
  }
  return s;
}

// The type that kernels compute in: 16-bit floats mostly become float32.
DType kernel_type(const ConvShape& shape, const Tensor& image) {
  const DType dtype = image.dtype();
  return kernel::of(image).conv_supports(shape, dtype) ? dtype : DType::kFloat32;
}

// PyTorch knows the layout by name for two and three spatial dimensions only.
bool is_visibly_channels_last(const Tensor& t) {
  return t.dim() > 3 && !t->deferred_layout && !t.is_contiguous() && is_channels_last(t);
}

// A new image, channels last. PyTorch's rule: users see that layout if an operand visibly has it.
Tensor make_result(IntSpan sizes, DType dtype, const Tensor& image, const Tensor& weight) {
  if (is_visibly_channels_last(image) || is_visibly_channels_last(weight))
    return make_strided(sizes, channels_last_strides(sizes), dtype, image.device());
  return make_deferred_image(sizes, dtype, image.device());
}

// Whether each channel is a plane, as in images that users make. Some kernels take them as is.
bool is_planar(const Tensor& image) { return image.is_contiguous() && !is_channels_last(image); }

bool is_empty_product(const Tensor& a, const Tensor& b) { return a.numel() == 0 || b.numel() == 0; }

void check_dims(const Tensor& input, const Tensor& weight, int64_t n) {
  FB_CHECK(input.dim() == n + 1 || input.dim() == n + 2, "expected input of ", n + 1,
           " dimensions, or ", n + 2, " with a batch, got ", input.sizes());
  FB_CHECK(weight.dim() == n + 2, "expected weight of ", n + 2, " dimensions, got ",
           weight.sizes());
}

// Fills `to` with the convolution of `from`, or with the transposed convolution, which gives the
// gradient of the input.
void run(const ConvShape& shape, bool transposed, bool planar, const Tensor& from,
         const Tensor& weight, const Tensor& bias, const Tensor& to) {
  const DType type = to.dtype();
  const kernel::Table& table = kernel::of(to);
  if (is_empty_product(from, weight)) {
    table.fill_pixels(to, bias);
  } else if (planar) {
    const auto& product = transposed ? table.conv_planes_data : table.conv_planes;
    product(shape, cast(from, type), contiguous(cast(weight, type)), bias, to);
  } else if (to.numel() > 0) {
    const auto& convolve = transposed ? table.conv_backward_data : table.conv_forward;
    convolve(shape, with_channels_last(cast(from, type)), cast(weight, type), bias, to);
  }
}

// conv1d, conv2d and conv3d: one image or a batch of them.
Tensor convolve(int64_t n, const Tensor& input, const Tensor& weight, const Tensor& bias,
                IntSpan stride, IntSpan padding, IntSpan dilation, bool transposed,
                IntSpan output_padding, int64_t groups) {
  check_dims(input, weight, n);
  if (input.dim() == n + 2) {
    return ops::convolution(input, weight, bias, stride, padding, dilation, transposed,
                            output_padding, groups);
  }
  return ops::squeeze(ops::convolution(ops::unsqueeze(input, 0), weight, bias, stride, padding,
                                       dilation, transposed, output_padding, groups),
                      0);
}

constexpr int64_t kNoOutputPadding[] = {0};

Tensor convolve(int64_t n, const Tensor& input, const Tensor& weight, const Tensor& bias,
                IntSpan stride, IntSpan padding, IntSpan dilation, int64_t groups) {
  return convolve(n, input, weight, bias, stride, padding, dilation, false, {kNoOutputPadding, 1},
                  groups);
}

// Padding by name. If 'same' needs one more element at the end, the input is padded first.
Tensor convolve(int64_t n, const Tensor& input, const Tensor& weight, const Tensor& bias,
                IntSpan stride, const std::string& padding, IntSpan dilation, int64_t groups) {
  FB_CHECK(padding == "same" || padding == "valid", "padding must be 'same' or 'valid', got '",
           padding, "'");
  Dims before(n);
  if (padding == "valid") return convolve(n, input, weight, bias, stride, before, dilation, groups);
  check_dims(input, weight, n);
  for (const int64_t step : stride)
    FB_CHECK(step == 1, "padding='same' needs stride 1, got ", stride);
  const Dims steps = for_each_dim(dilation, n, "dilation");
  Dims after(2 * n);  // of the last dimension first, as constant_pad_nd wants it
  bool uneven = false;
  for (int64_t d = 0; d < n; ++d) {
    const int64_t total = steps[d] * (weight.sizes()[d + 2] - 1);
    before[d] = total / 2;
    after[2 * (n - 1 - d) + 1] = total % 2;
    uneven |= total % 2 != 0;
  }
  const Tensor extended = uneven ? ops::constant_pad_nd(input, after, 0) : input;
  return convolve(n, extended, weight, bias, stride, before, dilation, groups);
}

}  // namespace

Tensor ordered_gradient(const Tensor& gradient, const Tensor& input, const Tensor& weight,
                        IntSpan stride, IntSpan padding, IntSpan dilation, bool transposed,
                        IntSpan output_padding, int64_t groups) {
  if (autograd::flags_of(gradient) & (kBatched | kDual)) return gradient;
  if (is_planar(gradient) && is_planar(input)) {
    const Steps steps =
        read_steps(weight.dim() - 2, stride, padding, dilation, transposed, output_padding, groups);
    const ConvShape shape = shape_of(input.sizes(), gradient.sizes(), weight.sizes(), steps);
    const DType type = kernel_type(shape, gradient);
    if (shape.takes_planes(type)) return gradient;
  }
  return with_channels_last(gradient);
}

Tensor compute::convolution(const Tensor& input, const Tensor& weight, const Tensor& bias,
                            IntSpan stride, IntSpan padding, IntSpan dilation, bool transposed,
                            IntSpan output_padding, int64_t groups) {
  check_ranks(input.sizes(), weight.sizes());
  const Steps steps =
      read_steps(weight.dim() - 2, stride, padding, dilation, transposed, output_padding, groups);
  check_weight(weight.sizes(), steps);
  check_channels(input.sizes(), weight.sizes(), steps);
  check_bias(bias, weight.sizes(), steps);
  check_types(input, weight, bias);
  if (!transposed) check_kernel_fits(input.sizes(), weight.sizes(), steps);
  const Dims sizes = result_sizes(input.sizes(), weight.sizes(), steps);

  const ConvShape shape = shape_of(input.sizes(), sizes, weight.sizes(), steps);
  const DType type = kernel_type(shape, input);
  // In planes a product starts from the bias, which takes one pass over the result more.
  const bool planar = is_planar(input) && shape.takes_planes(type) &&
                      (!shape.is_pointwise() || !bias.defined() || sizes[1] <= input.sizes()[1]);
  const Tensor result =
      planar ? make_tensor(sizes, type, input.device()) : make_result(sizes, type, input, weight);
  const Tensor added = bias.defined() ? contiguous(cast(bias, type)) : bias;
  run(shape, transposed, planar, input, weight, added, result);
  return cast(result, input.dtype());
}

Tensor compute::convolution_input(const Tensor& gradient, const Tensor& weight, IntSpan sizes,
                                  IntSpan stride, IntSpan padding, IntSpan dilation,
                                  bool transposed, IntSpan output_padding, int64_t groups) {
  check_ranks(sizes, weight.sizes());
  const Steps steps =
      read_steps(weight.dim() - 2, stride, padding, dilation, transposed, output_padding, groups);
  check_gradient(gradient, sizes, weight.sizes(), steps);
  const ConvShape shape = shape_of(sizes, gradient.sizes(), weight.sizes(), steps);
  const DType type = kernel_type(shape, gradient);
  const bool planar = is_planar(gradient) && shape.takes_planes(type);
  const Tensor result = planar ? make_tensor(sizes, type, gradient.device())
                               : make_result(sizes, type, gradient, weight);
  run(shape, !transposed, planar, gradient, weight, Tensor(), result);
  return cast(result, gradient.dtype());
}

Tensor compute::convolution_weight(const Tensor& gradient, const Tensor& input, IntSpan sizes,
                                   IntSpan stride, IntSpan padding, IntSpan dilation,
                                   bool transposed, IntSpan output_padding, int64_t groups) {
  check_ranks(input.sizes(), sizes);
  const Steps steps =
      read_steps(input.dim() - 2, stride, padding, dilation, transposed, output_padding, groups);
  check_gradient(gradient, input.sizes(), sizes, steps);
  const ConvShape shape = shape_of(input.sizes(), gradient.sizes(), sizes, steps);
  const DType type = kernel_type(shape, gradient);
  const Tensor result = make_tensor(sizes, type, gradient.device());
  if (is_empty_product(gradient, input)) {
    kernel::of(result).fill(result, 0);
  } else if (result.numel() > 0) {
    const kernel::Table& table = kernel::of(result);
    const bool planar = is_planar(gradient) && is_planar(input) && shape.takes_planes(type);
    const auto ordered = [&](const Tensor& image) {
      return planar ? cast(image, type) : with_channels_last(cast(image, type));
    };
    const auto& product = planar ? table.conv_planes_weight : table.conv_backward_weight;
    const Tensor out = ordered(gradient), in = ordered(input);
    product(shape, transposed ? out : in, transposed ? in : out, result);
  }
  return cast(result, gradient.dtype());
}

#define FB_CONVOLUTION(n)                                                                          \
  Tensor composed::conv##n##d(const Tensor& input, const Tensor& weight, const Tensor& bias,       \
                              IntSpan stride, IntSpan padding, IntSpan dilation, int64_t groups) { \
    return convolve(n, input, weight, bias, stride, padding, dilation, groups);                    \
  }                                                                                                \
  Tensor composed::conv##n##d(const Tensor& input, const Tensor& weight, const Tensor& bias,       \
                              IntSpan stride, const std::string& padding, IntSpan dilation,        \
                              int64_t groups) {                                                    \
    return convolve(n, input, weight, bias, stride, padding, dilation, groups);                    \
  }                                                                                                \
  Tensor composed::conv_transpose##n##d(                                                           \
      const Tensor& input, const Tensor& weight, const Tensor& bias, IntSpan stride,               \
      IntSpan padding, IntSpan output_padding, int64_t groups, IntSpan dilation) {                 \
    return convolve(n, input, weight, bias, stride, padding, dilation, true, output_padding,       \
                    groups);                                                                       \
  }
FB_CONVOLUTION(1)
FB_CONVOLUTION(2)
FB_CONVOLUTION(3)
#undef FB_CONVOLUTION

Tensor composed::conv_tbc(const Tensor& input, const Tensor& weight, const Tensor& bias,
                          int64_t pad) {
  FB_CHECK(input.dim() == 3 && weight.dim() == 3 && bias.dim() == 1,
           "expected input and weight of 3 dimensions and bias of 1, got ", input.sizes(), ", ",
           weight.sizes(), " and ", bias.sizes());
  const Dims one{1}, padding{pad};
  const Tensor result =
      composed::conv1d(ops::permute(input, {1, 2, 0}), ops::permute(weight, {2, 1, 0}), bias, one,
                       IntSpan(padding), one, 1);
  return ops::clone(ops::permute(result, {2, 0, 1}), MemoryFormat::kContiguous);
}

}  // namespace fb::ops
