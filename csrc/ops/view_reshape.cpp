// Views in another shape.
#include "gen/ops/copy.h"
#include "gen/ops/view.h"
#include "ops/layout.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

// `size` with its -1 replaced by what is left of `numel`.
Dims complete_size(IntSpan size, int64_t numel) {
  Dims result = size.vec();
  int64_t unknown = -1;
  int64_t known = 1;
  for (size_t i = 0; i < size.size(); ++i) {
    if (size[i] == -1) {
      FB_CHECK(unknown < 0, "only one size can be -1, got ", size);
      unknown = static_cast<int64_t>(i);
      continue;
    }
    FB_CHECK(size[i] >= 0, "invalid size ", size[i], " in shape ", size);
    if (__builtin_mul_overflow(known, size[i], &known)) known = 0;
  }
  if (unknown < 0) {
    FB_CHECK(numel_of(size) == numel, "shape ", size, " is invalid for input of size ", numel);
    return result;
  }
  FB_CHECK(known != 0 || numel != 0, "cannot infer the size -1 of shape ", size,
           " for a tensor of 0 elements: any size would do");
  FB_CHECK(known != 0 && numel % known == 0, "shape ", size, " is invalid for input of size ",
           numel);
  result[unknown] = numel / known;
  return result;
}

// The strides under which memory laid out as `sizes`, `strides` reads as `target`; false if there
// are none.
bool view_strides(IntSpan sizes, IntSpan strides, int64_t numel, IntSpan target, Dims& result) {
  result = contiguous_strides(target);
  if (numel == 0) {
    if (sizes == target) result = strides.vec();
    return true;
  }
  // Group the old dimensions, from the last on, into contiguous stretches, and let the new
  // dimensions fill each stretch exactly.
  size_t next = target.size();
  int64_t stretch = 1;  // elements of the stretch so far
  size_t last = sizes.size();
  for (size_t i = sizes.size(); i-- > 0;) {
    stretch *= sizes[i];
    const bool ends =
        i == 0 || (sizes[i - 1] != 1 && strides[i - 1] != stretch * strides[last - 1]);
    if (!ends) continue;
    int64_t filled = 1;
    while (next > 0 && (filled < stretch || target[next - 1] == 1)) {
      result[next - 1] = filled * strides[last - 1];
      filled *= target[--next];
    }
    if (filled != stretch) return false;
    last = i;
    stretch = 1;
  }
  return next == 0;
}

bool try_view(const Tensor& input, IntSpan size, Tensor& result) {
  if (input.is_contiguous()) {
    result = inner_view(input, size, contiguous_strides(size), input.offset());
    return true;
  }
  Dims strides;
  if (!view_strides(input.sizes(), input.strides(), input.numel(), size, strides)) return false;
  result = inner_view(input, size, strides, input.offset());
  return true;
}

// A view where strides allow one.
Tensor reshaped(const Tensor& input, IntSpan size) {
  settle(input);
  if (input.is_contiguous()) return ops::view(input, size);
  Dims strides;
  if (view_strides(input.sizes(), input.strides(), input.numel(), size, strides))
    return ops::_reshape_alias(input, size);
  return ops::_unsafe_view(ops::clone(input, MemoryFormat::kContiguous), size);
}

}  // namespace

Tensor compute::view(const Tensor& input, IntSpan size) {
  const Dims complete = complete_size(size, input.numel());
  Tensor result;
  FB_CHECK(try_view(input, complete, result), "shape ", complete, " is not compatible with size ",
           input.sizes(), " and strides ", input.strides(),
           " (a new dimension would span two that are not contiguous); "
           "use reshape(...) instead");
  return result;
}

Tensor compute::_reshape_alias(const Tensor& input, IntSpan size) {
  return compute::view(input, size);
}
Tensor compute::_unsafe_view(const Tensor& input, IntSpan size) {
  return compute::view(input, size);
}

Tensor compute::view_dtype(const Tensor& input, DType dtype) {
  const auto from = static_cast<int64_t>(input.element_size());
  const auto to = static_cast<int64_t>(size_of(dtype));
  Dims sizes = input.sizes().vec();
  Dims strides = input.strides().vec();
  int64_t offset = input.offset();
  if (from != to) {
    FB_CHECK(input.dim() > 0, "a 0-dimensional tensor cannot be viewed as ", dtype,
             ": the element sizes of ", input.dtype(), " and ", dtype, " differ");
    FB_CHECK(strides.back() == 1, "the last dimension must be contiguous to be viewed as ", dtype,
             ", got strides ", input.strides());
  }
  if (from > to) {
    const int64_t ratio = from / to;
    sizes.back() *= ratio;
    for (size_t i = 0; i + 1 < strides.size(); ++i) strides[i] *= ratio;
    offset *= ratio;
  } else if (from < to) {
    const int64_t ratio = to / from;
    FB_CHECK(sizes.back() % ratio == 0, "the last size ", sizes.back(), " is not divisible by ",
             ratio, ", which reading ", input.dtype(), " as ", dtype, " takes");
    FB_CHECK(offset % ratio == 0, "the storage offset ", offset, " is not divisible by ", ratio);
    for (size_t i = 0; i + 1 < strides.size(); ++i) {
      FB_CHECK(strides[i] % ratio == 0, "stride ", strides[i], " is not divisible by ", ratio);
      strides[i] /= ratio;
    }
    sizes.back() /= ratio;
    offset /= ratio;
  }
  return tensor_over(input.storage(), sizes, strides, offset, dtype, input.device());
}

Tensor view_as(const Tensor& input, const Tensor& other) { return ops::view(input, other.sizes()); }

Tensor reshape(const Tensor& input, IntSpan shape) {
  return reshaped(input, complete_size(shape, input.numel()));
}

Tensor reshape_as(const Tensor& input, const Tensor& other) {
  return ops::reshape(input, other.sizes());
}

Tensor ravel(const Tensor& input) { return ops::view(ops::to_contiguous(input), {input.numel()}); }

Tensor flatten(const Tensor& input, int64_t start_dim, int64_t end_dim) {
  const int64_t first = wrap_dim(start_dim, input.dim());
  const int64_t last = wrap_dim(end_dim, input.dim());
  FB_CHECK(first <= last, "start_dim ", start_dim, " comes after end_dim ", end_dim);
  if (input.dim() == 0) return reshaped(input, {1});
  if (first == last) return input;
  Dims sizes;
  for (int64_t i = 0; i < first; ++i) sizes.push_back(input.sizes()[i]);
  int64_t merged = 1;
  for (int64_t i = first; i <= last; ++i) merged *= input.sizes()[i];
  sizes.push_back(merged);
  for (int64_t i = last + 1; i < input.dim(); ++i) sizes.push_back(input.sizes()[i]);
  return reshaped(input, sizes);
}

Tensor unflatten(const Tensor& input, int64_t dim, IntSpan sizes) {
  const int64_t d = wrap_dim(dim, input.dim());
  FB_CHECK(!sizes.empty(), "sizes must not be empty");
  const Dims parts = complete_size(sizes, input.dim() == 0 ? 1 : input.sizes()[d]);
  Dims result;
  for (int64_t i = 0; i < d; ++i) result.push_back(input.sizes()[i]);
  for (const int64_t part : parts) result.push_back(part);
  for (int64_t i = d + 1; i < input.dim(); ++i) result.push_back(input.sizes()[i]);
  return ops::view(input, result);
}

Tensor compute::squeeze(const Tensor& input) {
  Dims sizes, strides;
  for (int64_t i = 0; i < input.dim(); ++i) {
    if (input.sizes()[i] == 1) continue;
    sizes.push_back(input.sizes()[i]);
    strides.push_back(input.strides()[i]);
  }
  return inner_view(input, sizes, strides, input.offset());
}

Tensor compute::squeeze(const Tensor& input, int64_t dim) {
  return compute::squeeze(input, IntSpan(&dim, 1));
}

Tensor compute::squeeze(const Tensor& input, IntSpan dim) {
  const Dims among = wrap_dims(dim, input.dim());
  Dims sizes, strides;
  for (int64_t i = 0; i < input.dim(); ++i) {
    if (input.sizes()[i] == 1 && std::find(among.begin(), among.end(), i) != among.end()) continue;
    sizes.push_back(input.sizes()[i]);
    strides.push_back(input.strides()[i]);
  }
  return inner_view(input, sizes, strides, input.offset());
}

Tensor compute::unsqueeze(const Tensor& input, int64_t dim) {
  const int64_t d = wrap_dim(dim, input.dim() + 1);
  Dims sizes = input.sizes().vec();
  Dims strides = input.strides().vec();
  const int64_t stride = d < input.dim() ? sizes[d] * strides[d] : 1;
  sizes.insert(d, 1);
  strides.insert(d, stride);
  return inner_view(input, sizes, strides, input.offset());
}

Tensor compute::expand(const Tensor& input, IntSpan size, bool) {
  Dims target = size.vec();
  FB_CHECK(static_cast<int64_t>(target.size()) >= input.dim(), "the number of sizes in ", size,
           " must be at least the number of dimensions of shape ", input.sizes());
  const size_t lead = target.size() - input.sizes().size();
  for (size_t i = 0; i < target.size(); ++i) {
    if (target[i] != -1) continue;
    FB_CHECK(i >= lead,
             "size -1 is not allowed in a leading dimension that does not exist yet, got ", size);
    target[i] = input.sizes()[i - lead];
  }
  numel_of(target);
  Dims strides = broadcast_strides(input.sizes(), input.strides(), target);
  // A new dimension of size 1 is not repeated and gets a stride; PyTorch gives it 0 for a 0-d
  // input.
  for (size_t i = input.dim() ? lead : 0; i-- > 0;)
    if (target[i] == 1) strides[i] = target[i + 1] * strides[i + 1];
  return as_view(input, target, strides);
}

Tensor expand_as(const Tensor& input, const Tensor& other) {
  return ops::expand(input, other.sizes(), false);
}
Tensor broadcast_to(const Tensor& input, IntSpan size) { return ops::expand(input, size, false); }

}  // namespace fb::ops
