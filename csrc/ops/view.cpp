// Views: dimensions permuted and parts taken.
#include "gen/ops/view.h"

#include "core/checked.h"
#include "ops/layout.h"
#include "ops/output.h"

namespace fb::ops {

// --- orders of dimensions

Tensor compute::transpose(const Tensor& input, int64_t dim0, int64_t dim1) {
  const int64_t a = wrap_dim(dim0, input.dim());
  const int64_t b = wrap_dim(dim1, input.dim());
  if (input.dim() == 0) return inner_view(input, {}, {}, input.offset());
  Dims sizes = input.sizes().vec();
  Dims strides = input.strides().vec();
  std::swap(sizes[a], sizes[b]);
  std::swap(strides[a], strides[b]);
  return inner_view(input, sizes, strides, input.offset());
}

Tensor swapaxes(const Tensor& input, int64_t axis0, int64_t axis1) {
  return ops::transpose(input, axis0, axis1);
}

Tensor compute::t(const Tensor& input) {
  FB_CHECK(input.dim() <= 2, "expected a tensor with at most 2 dimensions, got shape ",
           input.sizes());
  return input.dim() < 2 ? inner_view(input, input.sizes(), input.strides(), input.offset())
                         : compute::transpose(input, 0, 1);
}

Tensor compute::permute(const Tensor& input, IntSpan dims) {
  FB_CHECK(static_cast<int64_t>(dims.size()) == input.dim(), "dims ", dims,
           " does not name every dimension of a tensor of shape ", input.sizes());
  Dims sizes, strides;
  for (const int64_t dim : wrap_dims(dims, input.dim())) {
    sizes.push_back(input.sizes()[dim]);
    strides.push_back(input.strides()[dim]);
  }
  return inner_view(input, sizes, strides, input.offset());
}

Tensor movedim(const Tensor& input, IntSpan source, IntSpan destination) {
  FB_CHECK(source.size() == destination.size(), "source ", source, " and destination ", destination,
           " do not have the same number of dimensions");
  const Dims from = wrap_dims(source, input.dim());
  const Dims to = wrap_dims(destination, input.dim());
  Dims order(input.dim(), -1);
  for (size_t i = 0; i < from.size(); ++i) order[to[i]] = from[i];
  size_t slot = 0;
  for (int64_t dim = 0; dim < input.dim(); ++dim) {
    if (std::find(from.begin(), from.end(), dim) != from.end()) continue;
    while (order[slot] >= 0) ++slot;
    order[slot] = dim;
  }
  return ops::permute(input, order);
}

// --- parts

Tensor narrow(const Tensor& input, int64_t dim, int64_t start, int64_t length) {
  FB_CHECK(input.dim() > 0, "a 0-dimensional tensor cannot be narrowed");
  const int64_t d = wrap_dim(dim, input.dim());
  const int64_t size = input.sizes()[d];
  FB_CHECK(length >= 0, "length must be non-negative, got ", length);
  FB_CHECK_INDEX(start >= -size && start <= size, "start ", start,
                 " is out of range for dimension ", dim, " of size ", size);
  const int64_t first = start < 0 ? start + size : start;
  FB_CHECK(length <= size - first, "start ", first, " and length ", length,
           " reach beyond dimension ", dim, " of size ", size);
  return ops::_slice(input, d, first, first + length, 1);
}

Tensor compute::_alias(const Tensor& input) {
  return inner_view(input, input.sizes(), input.strides(), input.offset());
}

Tensor compute::_slice(const Tensor& input, int64_t dim, int64_t start, int64_t end, int64_t step) {
  FB_CHECK_INDEX(input.dim() > 0, "a 0-dimensional tensor cannot be sliced");
  FB_CHECK(step > 0, "step must be positive, got ", step);
  const int64_t d = wrap_dim(dim, input.dim());
  const int64_t size = input.sizes()[d];
  const auto bounded = [size](int64_t i) {
    return std::clamp<int64_t>(i < 0 ? i + size : i, 0, size);
  };
  const int64_t first = bounded(start);
  const int64_t length = std::max<int64_t>(bounded(end) - first, 0);
  Dims sizes = input.sizes().vec();
  Dims strides = input.strides().vec();
  const int64_t offset = input.offset() + (length > 0 ? first * strides[d] : 0);
  sizes[d] = length / step + (length % step != 0);
  // A single position needs no step, so the step may be too large for a stride.
  int64_t stride = 0;
  if (!__builtin_mul_overflow(strides[d], step, &stride)) strides[d] = stride;
  return inner_view(input, sizes, strides, offset);
}

Tensor compute::select(const Tensor& input, int64_t dim, int64_t index) {
  FB_CHECK_INDEX(input.dim() > 0, "a 0-dimensional tensor has nothing to select");
  const int64_t d = wrap_dim(dim, input.dim());
  const int64_t size = input.sizes()[d];
  FB_CHECK_INDEX(index >= -size && index < size, "index ", index,
                 " is out of bounds for dimension ", dim, " with size ", size);
  Dims sizes = input.sizes().vec();
  Dims strides = input.strides().vec();
  const int64_t offset = input.offset() + (index < 0 ? index + size : index) * strides[d];
  sizes.erase(d);
  strides.erase(d);
  return inner_view(input, sizes, strides, offset);
}

Tensor compute::diagonal(const Tensor& input, int64_t offset, int64_t dim1, int64_t dim2) {
  const int64_t a = wrap_dim(dim1, input.dim());
  const int64_t b = wrap_dim(dim2, input.dim());
  FB_CHECK(a != b, "dim1 and dim2 must be different, got ", dim1, " and ", dim2);
  const int64_t rows = input.sizes()[a];
  const int64_t columns = input.sizes()[b];
  const int64_t length = std::max<int64_t>(
      0, offset >= 0 ? std::min(rows, columns - offset) : std::min(rows + offset, columns));
  int64_t first = input.offset();
  if (length > 0) first += offset >= 0 ? offset * input.strides()[b] : -offset * input.strides()[a];
  Dims sizes = input.sizes().vec();
  Dims strides = input.strides().vec();
  const int64_t step = strides[a] + strides[b];
  for (const int64_t dim : {std::max(a, b), std::min(a, b)}) {
    sizes.erase(dim);
    strides.erase(dim);
  }
  sizes.push_back(length);
  strides.push_back(step);
  return inner_view(input, sizes, strides, first);
}

Tensor compute::unfold(const Tensor& input, int64_t dimension, int64_t size, int64_t step) {
  const int64_t d = wrap_dim(dimension, input.dim());
  // A 0-dimensional tensor counts as a dimension of size 1 here.
  const int64_t length = input.dim() == 0 ? 1 : input.sizes()[d];
  FB_CHECK(size >= 0, "size must be non-negative, got ", size);
  FB_CHECK(size <= length, "size ", size, " is larger than dimension ", dimension, " of size ",
           length);
  FB_CHECK(step > 0, "step must be positive, got ", step);
  Dims sizes = input.sizes().vec();
  Dims strides = input.strides().vec();
  const int64_t stride = input.dim() == 0 ? 1 : strides[d];
  if (input.dim() > 0) {
    sizes[d] = (length - size) / step + 1;
    strides[d] = checked_mul(step, stride);
  }
  sizes.push_back(size);
  strides.push_back(stride);
  return inner_view(input, sizes, strides, input.offset());
}

Tensor compute::as_strided(const Tensor& input, IntSpan size, IntSpan stride,
                           std::optional<int64_t> storage_offset) {
  return as_view(input, size, stride, storage_offset.value_or(input.offset()));
}

// --- several parts

namespace {

int64_t length_along(const Tensor& input, int64_t dim) {
  FB_CHECK(input.dim() > 0, "expected at least one dimension to split");
  return input.size(dim);
}

}  // namespace

std::vector<Tensor> compute::unbind(const Tensor& input, int64_t dim) {
  FB_CHECK_INDEX(input.dim() > 0, "a 0-dimensional tensor cannot be taken apart");
  std::vector<Tensor> parts;
  const int64_t n = input.size(dim);
  parts.reserve(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) parts.push_back(compute::select(input, dim, i));
  return parts;
}

std::vector<Tensor> compute::split_with_sizes(const Tensor& input, IntSpan split_sizes,
                                              int64_t dim) {
  const int64_t length = length_along(input, dim);
  int64_t sum = 0;
  for (const int64_t size : split_sizes) {
    FB_CHECK(size >= 0, "sizes of parts must be non-negative, got ", split_sizes);
    sum = checked_add(sum, size);
  }
  FB_CHECK(sum == length, "the parts ", split_sizes, " sum to ", sum, ", dimension ", dim,
           " has size ", length);
  std::vector<Tensor> parts;
  parts.reserve(split_sizes.size());
  int64_t start = 0;
  for (const int64_t size : split_sizes) {
    parts.push_back(ops::narrow(input, dim, start, size));
    start += size;
  }
  return parts;
}

std::vector<Tensor> compute::split(const Tensor& input, int64_t split_size, int64_t dim) {
  const int64_t length = length_along(input, dim);
  FB_CHECK(split_size >= 0, "the size of parts must be non-negative, got ", split_size);
  FB_CHECK(split_size > 0 || length == 0, "parts of size 0 do not cover dimension ", dim,
           " of size ", length);
  const int64_t count =
      split_size == 0 ? 1 : std::max<int64_t>(length / split_size + (length % split_size != 0), 1);
  std::vector<Tensor> parts;
  parts.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    parts.push_back(
        ops::narrow(input, dim, i * split_size, std::min(split_size, length - i * split_size)));
  return parts;
}

namespace {

// The size of the parts; 0 for an empty dimension, which gives as many parts as asked for.
int64_t size_of_chunks(const Tensor& input, int64_t chunks, int64_t dim) {
  const int64_t length = length_along(input, dim);
  FB_CHECK(chunks > 0, "the number of chunks must be positive, got ", chunks);
  return length / chunks + (length % chunks != 0);
}

}  // namespace

std::vector<Tensor> chunk(const Tensor& input, int64_t chunks, int64_t dim) {
  if (const int64_t size = size_of_chunks(input, chunks, dim)) return ops::split(input, size, dim);
  return ops::split_with_sizes(input, std::vector<int64_t>(static_cast<size_t>(chunks)), dim);
}

std::vector<Tensor> unsafe_chunk(const Tensor& input, int64_t chunks, int64_t dim) {
  if (const int64_t size = size_of_chunks(input, chunks, dim))
    return ops::unsafe_split(input, size, dim);
  return ops::unsafe_split_with_sizes(input, std::vector<int64_t>(static_cast<size_t>(chunks)),
                                      dim);
}

std::vector<Tensor> compute::unsafe_split(const Tensor& input, int64_t split_size, int64_t dim) {
  return compute::split(input, split_size, dim);
}

std::vector<Tensor> compute::unsafe_split_with_sizes(const Tensor& input, IntSpan split_sizes,
                                                     int64_t dim) {
  return compute::split_with_sizes(input, split_sizes, dim);
}

// --- other readings of the elements

Tensor compute::view_as_real(const Tensor& input) {
  Dims sizes = input.sizes().vec();
  Dims strides = input.strides().vec();
  for (int64_t& stride : strides) stride *= 2;
  sizes.push_back(2);
  strides.push_back(1);
  return tensor_over(input.storage(), sizes, strides, 2 * input.offset(), real_type(input.dtype()),
                     input.device());
}

Tensor compute::view_as_complex(const Tensor& input) {
  FB_CHECK(input.dim() > 0 && input.sizes().back() == 2,
           "the last dimension must have size 2, got shape ", input.sizes());
  FB_CHECK(input.strides().back() == 1,
           "the two parts of a complex number must lie side by side, got strides ",
           input.strides());
  Dims sizes = input.sizes().vec();
  Dims strides = input.strides().vec();
  sizes.pop_back();
  strides.pop_back();
  for (int64_t& stride : strides) {
    FB_CHECK(stride % 2 == 0, "strides must be even, got ", input.strides());
    stride /= 2;
  }
  FB_CHECK(input.offset() % 2 == 0, "the storage offset must be even, got ", input.offset());
  return tensor_over(input.storage(), sizes, strides, input.offset() / 2,
                     complex_type(input.dtype()), input.device());
}

Tensor real(const Tensor& input) {
  return is_complex(input.dtype()) ? ops::select(ops::view_as_real(input), -1, 0) : input;
}

Tensor imag(const Tensor& input) {
  FB_CHECK(is_complex(input.dtype()), "only complex tensors have imaginary parts, got ",
           input.dtype());
  return ops::select(ops::view_as_real(input), -1, 1);
}

// --- other sizes and strides for the same tensor object

void compute::resize_(const Tensor& input, IntSpan size,
                      std::optional<MemoryFormat> memory_format) {
  FB_CHECK(!(input->flags & kRequiresGrad), "cannot resize variables that require grad");
  settle(input);
  const Dims wanted = size.vec();
  const Dims strides = strides_for(wanted, memory_format.value_or(MemoryFormat::kContiguous));
  reserve_elements(input, wanted);
  if (input.sizes() == wanted && !memory_format) return;
  input->set_geometry(wanted, strides);
}

void compute::resize_as_(const Tensor& input, const Tensor& the_template,
                         std::optional<MemoryFormat> memory_format) {
  compute::resize_(input, the_template.sizes(), memory_format);
}

}  // namespace fb::ops
