// Concatenation, repetition, rotation, triangles and diagonals.
#include "gen/ops/shape.h"

#include <limits>

#include "core/checked.h"
#include "core/layout.h"
#include "gen/ops/copy.h"
#include "gen/ops/index.h"
#include "gen/ops/view.h"
#include "kernel/table.h"
#include "ops/host.h"
#include "ops/image.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

// PyTorch's legacy exception: an empty vector can be concatenated with anything.
bool is_left_out(const Tensor& t) { return t.dim() == 1 && t.numel() == 0; }

bool are_channels_last(TensorList tensors) {
  for (const Tensor& t : tensors)
    if (t.is_contiguous() || !is_channels_last(t)) return false;
  return true;
}

// A channels_last image in its memory order: channels in the last dimension.
Tensor as_pixels(const Tensor& image) {
  const auto channels_to_end = [](IntSpan of) {
    Dims moved = of.vec();
    moved.erase(1);
    moved.push_back(of[1]);
    return moved;
  };
  return inner_view(image, channels_to_end(image.sizes()), channels_to_end(image.strides()),
                    image.offset());
}

Tensor joined(TensorList parts, DType dtype, int64_t dim, IntSpan shape) {
  if (!are_channels_last(parts)) {
    Tensor out = make_tensor(shape, dtype, parts[0].device());
    kernel::of(out).concatenate(out, parts, dim);
    return out;
  }
  std::vector<Tensor> pixels;
  for (const Tensor& t : parts) pixels.push_back(as_pixels(t));
  Tensor out = make_image(shape, dtype, parts[0]);
  const int64_t last = out.dim() - 1;
  kernel::of(out).concatenate(as_pixels(out), pixels, dim == 0 ? 0 : dim == 1 ? last : dim - 1);
  return out;
}

}  // namespace

Tensor compute::cat(TensorList tensors, int64_t dim) {
  FB_CHECK_VALUE(!tensors.empty(), "expected a non-empty list of tensors");
  DType dtype = tensors[0].dtype();
  const Tensor* first = nullptr;
  for (const Tensor& t : tensors) {
    FB_CHECK(t.dim() > 0,
             "0-dimensional tensors cannot be concatenated; use stack(), which adds a dimension");
    dtype = promote(dtype, t.dtype());
    if (!first && !is_left_out(t)) first = &t;
  }
  if (!first) return make_tensor({0}, dtype, tensors[0].device());
  const int64_t d = wrap_dim(dim, first->dim());
  Dims shape = first->sizes().vec();
  shape[d] = 0;
  std::vector<Tensor> parts;
  parts.reserve(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& t = tensors[i];
    if (is_left_out(t)) continue;
    bool fits = t.dim() == first->dim();
    for (int64_t k = 0; fits && k < t.dim(); ++k) fits = k == d || t.sizes()[k] == shape[k];
    FB_CHECK(fits, "sizes must match except in dimension ", d, ": expected ", first->sizes(),
             ", got ", t.sizes(), " for tensor number ", i);
    shape[d] = checked_add(shape[d], t.sizes()[d]);
    parts.push_back(cast(t, dtype));
  }
  return joined(parts, dtype, d, shape);
}

Tensor compute::stack(TensorList tensors, int64_t dim) {
  FB_CHECK(!tensors.empty(), "expected a non-empty list of tensors");
  const int64_t d = wrap_dim(dim, tensors[0].dim() + 1);
  std::vector<Tensor> parts;
  parts.reserve(tensors.size());
  DType dtype = tensors[0].dtype();
  for (const Tensor& t : tensors) dtype = promote(dtype, t.dtype());
  for (size_t i = 0; i < tensors.size(); ++i) {
    FB_CHECK(tensors[i].sizes() == tensors[0].sizes(), "expected tensors of equal size, got ",
             tensors[0].sizes(), " and ", tensors[i].sizes(), " for tensor number ", i);
    parts.push_back(compute::unsqueeze(cast(tensors[i], dtype), d));
  }
  Dims shape = parts[0].sizes().vec();
  shape[d] = static_cast<int64_t>(parts.size());
  Tensor out = make_tensor(shape, dtype, parts[0].device());
  kernel::of(out).concatenate(out, parts, d);
  return out;
}

// --- repeated

Tensor compute::repeat(const Tensor& input, IntSpan repeats) {
  FB_CHECK(static_cast<int64_t>(repeats.size()) >= input.dim(), "repeats ", repeats,
           " must have at least as many entries as a tensor of shape ", input.sizes(),
           " has dimensions");
  const size_t lead = repeats.size() - input.sizes().size();
  // Every dimension becomes two: the repetition, and the position in it.
  Dims shape, sizes, strides;
  for (size_t i = 0; i < repeats.size(); ++i) {
    FB_CHECK(repeats[i] >= 0, "repeats must not be negative, got ", repeats);
    const int64_t size = i < lead ? 1 : input.sizes()[i - lead];
    shape.push_back(checked_mul(repeats[i], size));
    sizes.push_back(repeats[i]), strides.push_back(0);
    sizes.push_back(size), strides.push_back(i < lead ? 0 : input.strides()[i - lead]);
  }
  Tensor out = make_tensor(shape, input.dtype(), input.device());
  const auto size = static_cast<int64_t>(input.element_size());
  for (int64_t& stride : strides) stride *= size;
  Dims target = contiguous_strides(sizes);
  for (int64_t& stride : target) stride *= size;
  if (out.numel() == 0) return out;
  kernel::of(out).copy_strided(sizes, {out.dtype(), static_cast<char*>(out.data()), target},
                               {input.dtype(), static_cast<const char*>(input.data()), strides});
  return out;
}

Tensor tile(const Tensor& input, IntSpan dims) {
  Dims repeats = dims.vec();
  while (static_cast<int64_t>(repeats.size()) < input.dim()) repeats.insert(0, 1);
  return ops::repeat(input, repeats);
}

Tensor compute::repeated_positions(const Tensor& repeats, std::optional<int64_t> output_size) {
  FB_CHECK(repeats.dim() == 1, "repeats must be a vector, got shape ", repeats.sizes());
  FB_CHECK(repeats.dtype() == DType::kInt64 || repeats.dtype() == DType::kInt32,
           "repeats must be of type int64 or int32, got ", repeats.dtype());
  // A private copy: the sum below must match what the kernel writes.
  const Tensor counts = copy_contiguous(cast(repeats, DType::kInt64));
  const std::optional<int64_t> negative =
      first_outside(counts, 0, std::numeric_limits<int64_t>::max());
  FB_CHECK(!negative, "repeats must not be negative, got ", *negative);
  const int64_t total = kernel::of(counts).total_count(counts.data_as<int64_t>(), counts.numel());
  FB_CHECK(!output_size || *output_size == total, "output_size ", output_size.value_or(0),
           " does not match the sum of repeats, ", total);
  const Tensor out = make_tensor({total}, DType::kInt64, repeats.device());
  kernel::of(counts).repeat_positions(counts.data_as<int64_t>(), counts.numel(),
                                      out.data_as<int64_t>());
  return cast(out, repeats.dtype());
}

Tensor repeat_interleave(const Tensor& input, int64_t repeats, std::optional<int64_t> dim,
                         std::optional<int64_t> output_size) {
  FB_CHECK(repeats >= 0, "repeats must not be negative, got ", repeats);
  const Tensor source = dim && input.dim() > 0 ? input : ops::ravel(input);
  const int64_t d = wrap_dim(dim.value_or(0), source.dim());
  const int64_t repeated = checked_mul(repeats, source.sizes()[d]);
  FB_CHECK(!output_size || *output_size == repeated, "output_size ", output_size.value_or(0),
           " does not match the repeated size ", repeated);
  Dims shape = source.sizes().vec();
  shape.insert(d + 1, repeats);
  const Tensor spread = ops::clone(ops::expand(ops::unsqueeze(source, d + 1), shape, false),
                                   MemoryFormat::kContiguous);
  return ops::flatten(spread, d, d + 1);
}

Tensor repeat_interleave(const Tensor& input, const Tensor& repeats, std::optional<int64_t> dim,
                         std::optional<int64_t> output_size) {
  if (repeats.numel() == 1 && repeats.dim() <= 1) {
    const int64_t count = host_number(repeats).to<int64_t>();
    return ops::repeat_interleave(input, count, dim, output_size);
  }
  const Tensor source = dim ? input : ops::ravel(input);
  const int64_t d = wrap_dim(dim.value_or(0), source.dim());
  FB_CHECK(repeats.dim() == 1 && repeats.numel() == source.size(d), "repeats of shape ",
           repeats.sizes(), " must have one entry for each of the ", source.size(d),
           " positions along the dimension");
  return ops::index_select(source, d, ops::repeated_positions(repeats, output_size));
}

// --- moved

Tensor compute::roll(const Tensor& input, IntSpan shifts, std::optional<IntSpan> dims) {
  FB_CHECK(!shifts.empty(), "shifts is required");
  if (!dims || dims->empty()) {
    FB_CHECK(shifts.size() == 1, "shifts ", shifts, " need as many dims");
    return ops::reshape(compute::roll(ops::ravel(input), shifts, IntSpan({0})), input.sizes());
  }
  FB_CHECK(shifts.size() == dims->size(), "shifts ", shifts, " and dims ", *dims,
           " must have equal length");
  Tensor result = input;
  for (size_t i = 0; i < shifts.size(); ++i) {
    FB_CHECK_INDEX(input.dim() > 0, "a 0-dimensional tensor cannot be rolled along dim ",
                   (*dims)[i]);
    const int64_t d = wrap_dim((*dims)[i], input.dim());
    const int64_t size = input.sizes()[d];
    const int64_t shift = size == 0 ? 0 : ((shifts[i] % size) + size) % size;
    const Tensor parts[] = {ops::narrow(result, d, size - shift, shift),
                            ops::narrow(result, d, 0, size - shift)};
    const Tensor next = make_image_of(input, input.sizes());
    kernel::of(next).concatenate(next, parts, d);
    result = next;
  }
  return result;
}

Tensor compute::flip(const Tensor& input, IntSpan dims) {
  const Dims wrapped = wrap_dims(dims, input.dim());
  Tensor out = make_like(input, input.dtype());
  kernel::of(out).flip(out, input, input.dim() == 0 ? IntSpan() : IntSpan(wrapped));
  return out;
}

Tensor fliplr(const Tensor& input) {
  FB_CHECK(input.dim() >= 2, "input must have at least 2 dimensions, got shape ", input.sizes());
  return ops::flip(input, {1});
}

Tensor flipud(const Tensor& input) {
  FB_CHECK(input.dim() >= 1, "input must have at least 1 dimension");
  return ops::flip(input, {0});
}

Tensor compute::rot90(const Tensor& input, int64_t k, IntSpan dims) {
  FB_CHECK(dims.size() == 2, "expected two dims to rotate in, got ", dims);
  FB_CHECK(input.dim() >= 2, "input must have at least 2 dimensions, got shape ", input.sizes());
  FB_CHECK(dims[0] != dims[1] && std::abs(dims[0] - dims[1]) != input.dim(),
           "dims must be different, got ", dims);
  const int64_t a = wrap_dim(dims[0], input.dim());
  const int64_t b = wrap_dim(dims[1], input.dim());
  switch (((k % 4) + 4) % 4) {
    case 1: return compute::transpose(compute::flip(input, {b}), a, b);
    case 2: return compute::flip(input, {a, b});
    case 3: return compute::transpose(compute::flip(input, {a}), a, b);
    default: return copy_contiguous(input);
  }
}

// --- triangles and diagonals

namespace {

void cut_triangle(const Tensor& input, int64_t diagonal, bool lower) {
  FB_CHECK(input.dim() >= 2, "input must have at least 2 dimensions, got shape ", input.sizes());
  check_writable(input);
  const Tensor flat = contiguous(input);
  // Diagonals beyond the corners are all alike; clamped ones cannot overflow.
  const int64_t shift = std::clamp<int64_t>(diagonal, -input.size(-2), input.size(-1));
  kernel::of(flat).clear_triangle(flat, shift, lower);
  if (!flat.is_same(input)) copy_into(input, flat);
}

}  // namespace

void compute::tril_(const Tensor& input, int64_t diagonal) { cut_triangle(input, diagonal, true); }
void compute::triu_(const Tensor& input, int64_t diagonal) { cut_triangle(input, diagonal, false); }

Tensor compute::tril(const Tensor& input, int64_t diagonal) {
  Tensor out = copy_contiguous(input);
  cut_triangle(out, diagonal, true);
  return out;
}

Tensor compute::triu(const Tensor& input, int64_t diagonal) {
  Tensor out = copy_contiguous(input);
  cut_triangle(out, diagonal, false);
  return out;
}

Tensor compute::diag_embed(const Tensor& input, int64_t offset, int64_t dim1, int64_t dim2) {
  const int64_t ndim = input.dim() + 1;
  const int64_t a = wrap_dim(dim1, ndim);
  const int64_t b = wrap_dim(dim2, ndim);
  FB_CHECK(a != b, "dim1 and dim2 must be different, got ", dim1, " and ", dim2);
  const int64_t side =
      checked_add(input.sizes().back(), offset < 0 ? checked_mul(offset, -1) : offset);
  Dims shape = input.sizes().first(input.sizes().size() - 1).vec();
  shape.insert(std::min(a, b), side);
  shape.insert(std::max(a, b), side);
  Tensor out = make_tensor(shape, input.dtype(), input.device());
  kernel::of(out).fill(out, 0);
  kernel::copy(compute::diagonal(out, offset, a, b), input);
  return out;
}

Tensor diag(const Tensor& input, int64_t k) {
  FB_CHECK(input.dim() == 1 || input.dim() == 2, "input must be a vector or a matrix, got shape ",
           input.sizes());
  return input.dim() == 1 ? ops::diag_embed(input, k, 0, 1)
                          : ops::clone(ops::diagonal(input, k, 0, 1), MemoryFormat::kContiguous);
}

Tensor diagflat(const Tensor& input, int64_t offset) {
  return ops::diag_embed(ops::ravel(input), offset, 0, 1);
}

// --- a part replaced in a copy

namespace {

// A copy with exactly the strides of `t`, gaps included.
Tensor copy_with_strides(const Tensor& t) {
  if (has_internal_overlap(t)) return copy_of(t);
  Tensor out = make_strided(t.sizes(), t.strides(), t.dtype(), t.device());
  kernel::copy(out, t);
  return out;
}

Tensor with_part(const Tensor& copy, const Tensor& part, const Tensor& src) {
  FB_CHECK(part.sizes() == src.sizes(), "expected src of shape ", part.sizes(), ", got ",
           src.sizes());
  copy_into(part, src);
  return copy;
}

}  // namespace

Tensor compute::select_scatter(const Tensor& input, const Tensor& src, int64_t dim, int64_t index) {
  const Tensor copy = copy_with_strides(input);
  return with_part(copy, compute::select(copy, dim, index), src);
}

Tensor compute::slice_scatter(const Tensor& input, const Tensor& src, int64_t dim,
                              std::optional<int64_t> start, std::optional<int64_t> end,
                              int64_t step) {
  const Tensor copy = copy_with_strides(input);
  constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();
  return with_part(copy, compute::_slice(copy, dim, start.value_or(0), end.value_or(kEnd), step),
                   src);
}

Tensor compute::diagonal_scatter(const Tensor& input, const Tensor& src, int64_t offset,
                                 int64_t dim1, int64_t dim2) {
  const Tensor copy = copy_with_strides(input);
  return with_part(copy, compute::diagonal(copy, offset, dim1, dim2), src);
}

}  // namespace fb::ops
