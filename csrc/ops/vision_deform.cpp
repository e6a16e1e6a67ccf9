// Deformable convolutions: every tap is moved by an offset (https://arxiv.org/abs/1703.06211) and
// scaled by a mask (https://arxiv.org/abs/1811.11168).
#include "gen/ops/vision.h"
#include "kernel/table.h"
#include "ops/vision_regions.h"

namespace fb::ops {
namespace {

int64_t extent(IntSpan values, size_t i, const char* name, int64_t least) {
  FB_CHECK(values.size() == 2, name, " must have two elements, got ", values);
  FB_CHECK(values[i] >= least && values[i] <= (int64_t{1} << 31), name, " must be at least ", least,
           ", got ", values);
  return values[i];
}

kernel::DeformSide side_of(int64_t size, int64_t kernel, size_t i, IntSpan strides,
                           IntSpan paddings, IntSpan dilations) {
  const int64_t stride = extent(strides, i, "stride", 1);
  const int64_t padding = extent(paddings, i, "padding", 0);
  const int64_t dilation = extent(dilations, i, "dilation", 1);
  FB_CHECK(kernel > 0 && kernel < (int64_t{1} << 28), "weight must not be empty, got a side of ",
           kernel);
  const int64_t rest = size + 2 * padding - (dilation * (kernel - 1) + 1);
  const int64_t result = rest < 0 ? 0 : rest / stride + 1;
  FB_CHECK(result > 0, "a kernel of ", kernel, " with dilation ", dilation,
           " does not fit into an input of ", size, " with padding ", padding);
  return {kernel, stride, padding, dilation, result};
}

// How the tensors of a convolution fit together.
struct Deform : kernel::DeformPlan {
  int64_t filters, groups = 0;

  Deform(const Tensor& images, const Tensor& offset, const Tensor& mask, const Tensor& weight,
         IntSpan stride, IntSpan padding, IntSpan dilation) {
    input = images_of(images.sizes());
    down = side_of(input.height, kernel_side(weight, 2), 0, stride, padding, dilation);
    across = side_of(input.width, kernel_side(weight, 3), 1, stride, padding, dilation);
    filters = weight.size(0);
    check_weight(weight);
    check_offset(offset);
    if (mask.defined()) check_planes(mask, "mask", offset_groups * taps());
    for (const Tensor* each : {&offset, &mask, &weight})
      FB_CHECK(!each->defined() || each->dtype() == images.dtype(),
               "input, offset, mask and weight must have the same dtype, got ", images.dtype(),
               " and ", each->dtype());
  }

  int64_t rows() const { return input.channels * taps(); }

 private:
  static int64_t kernel_side(const Tensor& weight, int64_t dim) {
    FB_CHECK(weight.dim() == 4, "weight must have shape (filters, channels, height, width), got ",
             weight.sizes());
    return weight.size(dim);
  }

  void check_weight(const Tensor& weight) {
    const int64_t channels = weight.size(1);
    FB_CHECK(channels > 0 && input.channels > 0 && input.channels % channels == 0,
             "input must have a multiple of the ", channels, " channels of weight, got ",
             input.channels);
    groups = input.channels / channels;
    FB_CHECK(filters % groups == 0, "weight must have a multiple of ", groups,
             " filters, as many for each group of channels, got ", filters);
  }

  void check_offset(const Tensor& offset) {
    FB_CHECK(offset.dim() == 4, "offset must have shape (batch, planes, height, width), got ",
             offset.sizes());
    const int64_t planes = offset.size(1);
    FB_CHECK(planes > 0 && planes % (2 * taps()) == 0, "offset must have a multiple of 2 * ",
             down.kernel, " * ", across.kernel, " planes, two for each element of the kernel, got ",
             planes);
    offset_groups = planes / (2 * taps());
    FB_CHECK(input.channels % offset_groups == 0, "the ", input.channels,
             " channels of input cannot be shared by ", offset_groups, " groups of offsets");
    check_planes(offset, "offset", planes);
  }

  void check_planes(const Tensor& given, const char* name, int64_t planes) const {
    const int64_t sizes[] = {input.batch, planes, down.result, across.result};
    const IntSpan expected(sizes, 4);
    FB_CHECK(given.sizes() == expected, name, " must have shape ", expected, ", got ",
             given.sizes());
  }
};

// Where the part of a contiguous tensor starts that belongs to image i.
void* part(const Tensor& t, int64_t i) {
  return static_cast<char*>(t.data()) + i * t.stride(0) * static_cast<int64_t>(t.element_size());
}

// The tensors of a call in the type that is computed in, and the images in them.
struct Operands {
  DType dtype;
  Tensor input, offset, mask, weight;

  Operands(const Tensor& input, const Tensor& offset, const Tensor& mask, const Tensor& weight)
      : dtype(working_type(input.dtype())),
        input(ready(input)),
        offset(ready(offset)),
        mask(mask.defined() ? ready(mask) : mask),
        weight(ready(weight)) {}

  Tensor ready(const Tensor& t) const { return contiguous(cast(t, dtype)); }

  kernel::DeformImage image(int64_t i) const {
    return {part(input, i), part(offset, i), mask.defined() ? part(mask, i) : nullptr};
  }
};

Tensor zeroed(IntSpan sizes, DType dtype, Device device) {
  const Tensor result = make_tensor(sizes, dtype, device);
  kernel::of(result).fill(result, 0);
  return result;
}

}  // namespace

Tensor compute::_deform_conv2d(const Tensor& input, const Tensor& offset, const Tensor& mask,
                               const Tensor& weight, const Tensor& bias, IntSpan stride,
                               IntSpan padding, IntSpan dilation) {
  const Deform shape(input, offset, mask, weight, stride, padding, dilation);
  FB_CHECK(!bias.defined() || (bias.dim() == 1 && bias.size(0) == shape.filters),
           "bias must have an element for each of the ", shape.filters, " filters, got shape ",
           bias.sizes());
  const Operands given(input, offset, mask, weight);
  const Tensor columns = make_tensor({shape.rows(), shape.pixels()}, given.dtype, input.device());
  const Tensor out =
      make_tensor({shape.input.batch, shape.filters, shape.down.result, shape.across.result},
                  given.dtype, input.device());
  if (bias.defined())
    kernel::copy(out, as_view(cast(bias, given.dtype), out.sizes(), Dims{0, bias.stride(0), 0, 0}));
  const int64_t m = shape.filters / shape.groups, n = shape.pixels(),
                k = shape.rows() / shape.groups;
  const kernel::Table& table = kernel::of(out);
  for (int64_t i = 0; i < shape.input.batch; ++i) {
    table.deform_columns(given.dtype, shape, given.image(i), columns.data());
    table.gemm({.dtype = given.dtype,
                .batch = shape.groups,
                .m = m,
                .n = n,
                .k = k,
                .a = {.data = given.weight.data(), .ld = k, .batch_stride = m * k},
                .b = {.data = columns.data(), .ld = n, .batch_stride = k * n},
                .c = {.data = part(out, i), .ld = n, .batch_stride = m * n},
                .accumulate = bias.defined()});
  }
  return cast(out, input.dtype());
}

std::tuple<Tensor, Tensor, Tensor, Tensor> compute::_deform_conv2d_backward(
    const Tensor& gradient, const Tensor& input, const Tensor& offset, const Tensor& mask,
    const Tensor& weight, IntSpan stride, IntSpan padding, IntSpan dilation) {
  const Deform shape(input, offset, mask, weight, stride, padding, dilation);
  const int64_t sizes[] = {shape.input.batch, shape.filters, shape.down.result,
                           shape.across.result};
  const IntSpan expected(sizes, 4);
  FB_CHECK(gradient.sizes() == expected, "gradient must have shape ", expected, ", got ",
           gradient.sizes());
  const Operands given(input, offset, mask, weight);
  const DType dtype = given.dtype;
  const Device device = input.device();
  const Tensor result = given.ready(gradient);
  const Tensor columns = make_tensor({shape.rows(), shape.pixels()}, dtype, device);
  const Tensor to_input = zeroed(input.sizes(), dtype, device),
               to_offset = zeroed(offset.sizes(), dtype, device);
  const Tensor to_mask =
      mask.defined() ? zeroed(mask.sizes(), dtype, device) : make_tensor({0}, dtype, device);
  const Tensor to_weight = zeroed(weight.sizes(), dtype, device);
  const int64_t m = shape.filters / shape.groups, n = shape.pixels(),
                k = shape.rows() / shape.groups;
  const kernel::Table& table = kernel::of(columns);
  for (int64_t i = 0; i < shape.input.batch; ++i) {
    const kernel::DeformImage image = given.image(i);
    const void* above = part(result, i);
    table.deform_columns(dtype, shape, image, columns.data());
    table.gemm({.dtype = dtype,
                .batch = shape.groups,
                .m = m,
                .n = k,
                .k = n,
                .a = {.data = above, .ld = n, .batch_stride = m * n},
                .b = {.data = columns.data(), .ld = n, .transposed = true, .batch_stride = k * n},
                .c = {.data = to_weight.data(), .ld = k, .batch_stride = m * k},
                .accumulate = true});
    table.gemm(
        {.dtype = dtype,
         .batch = shape.groups,
         .m = k,
         .n = n,
         .k = m,
         .a = {.data = given.weight.data(), .ld = k, .transposed = true, .batch_stride = m * k},
         .b = {.data = above, .ld = n, .batch_stride = m * n},
         .c = {.data = columns.data(), .ld = n, .batch_stride = k * n}});
    table.deform_columns_backward(
        dtype, shape, image, columns.data(),
        {part(to_input, i), part(to_offset, i), mask.defined() ? part(to_mask, i) : nullptr});
  }
  const auto back = [&](const Tensor& t) { return cast(t, input.dtype()); };
  return {back(to_input), back(to_offset), back(to_mask), back(to_weight)};
}

}  // namespace fb::ops
