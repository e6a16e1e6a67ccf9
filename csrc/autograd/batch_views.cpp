// Views of batches, and a few others.
#include "autograd/batch_rules.h"
#include "gen/ops/copy.h"
#include "gen/ops/create.h"
#include "gen/ops/reduce.h"
#include "gen/ops/shape.h"
#include "gen/ops/view.h"

namespace fb::autograd::batch_rule {
namespace {

// A format that counts dimensions means those of a sample.
std::optional<MemoryFormat> format_of_all(std::optional<MemoryFormat> of_sample) {
  const bool is_contiguous = of_sample && *of_sample == MemoryFormat::kContiguous;
  return is_contiguous ? of_sample : std::nullopt;
}

}  // namespace
Tensor expand(const Batch& b, const Tensor& input, IntSpan size, bool implicit) {
  const Tensor samples = b.aligned(input, static_cast<int64_t>(size.size()));
  return b.wrap(ops::expand(samples, b.sized(size), implicit));
}

Tensor repeat(const Batch& b, const Tensor& input, IntSpan repeats) {
  Dims counts{1};
  for (const int64_t each : repeats) counts.push_back(each);
  return b.wrap(ops::repeat(b.aligned(input, static_cast<int64_t>(repeats.size())), counts));
}

Tensor permute(const Batch& b, const Tensor& input, IntSpan dims) {
  Dims order{0};
  for (const int64_t dim : b.shifted(dims)) order.push_back(dim);
  return b.wrap(ops::permute(b.all(input), order));
}

Tensor squeeze(const Batch& b, const Tensor& input) {
  Dims sizes;
  for (const int64_t size : input.sizes())
    if (size != 1) sizes.push_back(size);
  return b.wrap(ops::view(b.all(input), b.sized(sizes)));
}

Tensor unsqueeze(const Batch& b, const Tensor& input, int64_t dim) {
  return b.wrap(ops::unsqueeze(b.all(input), wrap_dim(dim, input.dim() + 1) + 1));
}

Tensor stack(const Batch& b, TensorList tensors, int64_t dim) {
  return b.wrap(ops::stack(b.all(tensors), wrap_dim(dim, b.rank() + 1) + 1));
}

Tensor as_strided(const Batch& b, const Tensor& input, IntSpan size, IntSpan stride,
                  std::optional<int64_t> storage_offset) {
  const Tensor samples = b.all(input);
  Dims strides{samples.stride(0)};
  for (const int64_t each : stride) strides.push_back(each);
  return b.wrap(ops::as_strided(samples, b.sized(size), strides, storage_offset));
}

Tensor clone(const Batch& b, const Tensor& input, std::optional<MemoryFormat> memory_format) {
  return b.wrap(ops::clone(b.all(input), format_of_all(memory_format)));
}

Tensor to_copy(const Batch& b, const Tensor& input, DType dtype, std::optional<Device> device,
               std::optional<MemoryFormat> memory_format) {
  return b.wrap(ops::to_copy(b.all(input), dtype, device, format_of_all(memory_format)));
}

Tensor t(const Batch& b, const Tensor& input) {
  FB_CHECK(input.dim() <= 2, "t() expects a tensor with <= 2 dimensions, but self is ", input.dim(),
           "D");
  const Tensor samples = b.all(input);
  return b.wrap(input.dim() == 2 ? ops::transpose(samples, 1, 2) : samples);
}

Tensor diag_embed(const Batch& b, const Tensor& input, int64_t offset, int64_t dim1, int64_t dim2) {
  const size_t rank = static_cast<size_t>(input.dim()) + 1;
  return b.wrap(
      ops::diag_embed(b.all(input), offset, b.shifted(dim1, rank), b.shifted(dim2, rank)));
}

Tensor new_empty_strided(const Batch& b, const Tensor& input, IntSpan size, IntSpan stride,
                         std::optional<DType> dtype, std::optional<Device> device) {
  int64_t span = 1;
  for (size_t i = 0; i < size.size(); ++i) span += std::max<int64_t>(size[i] - 1, 0) * stride[i];
  Dims strides{span};
  for (const int64_t each : stride) strides.push_back(each);
  return b.wrap(ops::new_empty_strided(b.all(input), b.sized(size), strides, dtype, device));
}

Tensor sum_all(const Batch& b, const Tensor& input, std::optional<DType> dtype) {
  return b.wrap(
      ops::sum(ops::reshape(b.all(input), {b.size(), input.numel()}), Dims{1}, false, dtype));
}

Tensor mean_all(const Batch& b, const Tensor& input, std::optional<DType> dtype) {
  return b.wrap(
      ops::mean(ops::reshape(b.all(input), {b.size(), input.numel()}), Dims{1}, false, dtype));
}

void fill_(const Batch& b, const Tensor& input, const Operand& value) {
  b.check_target(input);
  if (value.is_tensor() && b.is_batched(value.tensor()))
    ops::copy_(b.all(input), b.aligned(value.tensor(), input.dim()));
  else
    ops::fill_(b.all(input), value);
}

}  // namespace fb::autograd::batch_rule
