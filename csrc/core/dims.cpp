// Arithmetic on sizes and strides.
#include "core/dims.h"

#include "core/checked.h"

namespace fb {

Text& operator<<(Text& out, IntSpan dims) {
  out << '(';
  for (size_t i = 0; i < dims.size(); ++i) out << (i ? ", " : "") << dims[i];
  return out << (dims.size() == 1 ? ",)" : ")");
}

int64_t numel_of(IntSpan sizes) {
  int64_t n = 1;
  bool overflow = false;
  bool empty = false;
  for (const int64_t size : sizes) {
    FB_CHECK(size >= 0, "negative dimension ", size, " in size ", sizes);
    if (size == 0)
      empty = true;
    else
      overflow |= __builtin_mul_overflow(n, size, &n);
  }
  if (empty) return 0;
  FB_CHECK(!overflow, "size ", sizes, " holds more elements than 2^63");
  return n;
}

Dims contiguous_strides(IntSpan sizes) {
  Dims strides(sizes.size());
  int64_t step = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = step;
    // With a dimension of size 0 the others may have any product; the first one is not needed.
    if (i > 0) step = checked_mul(step, std::max<int64_t>(sizes[i], 1));
  }
  return strides;
}

Dims broadcast_shapes(IntSpan a, IntSpan b) {
  const size_t n = std::max(a.size(), b.size());
  Dims result(n);
  for (size_t i = 1; i <= n; ++i) {
    const int64_t x = i <= a.size() ? a[a.size() - i] : 1;
    const int64_t y = i <= b.size() ? b[b.size() - i] : 1;
    FB_CHECK(x == y || x == 1 || y == 1, "shapes ", a, " and ", b, " do not broadcast");
    result[n - i] = x == 1 ? y : x;
  }
  return result;
}

Dims broadcast_strides(IntSpan sizes, IntSpan strides, IntSpan target) {
  FB_CHECK(target.size() >= sizes.size(), "shape ", sizes, " does not broadcast to ", target);
  Dims result(target.size());
  const size_t lead = target.size() - sizes.size();
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == target[lead + i]) {
      result[lead + i] = strides[i];
    } else {
      FB_CHECK(sizes[i] == 1, "shape ", sizes, " does not broadcast to ", target);
    }
  }
  return result;
}

int64_t wrap_dim(int64_t dim, int64_t ndim) {
  const int64_t range = std::max<int64_t>(ndim, 1);
  FB_CHECK_INDEX(dim >= -range && dim < range, "dim ", dim, " is out of range: expected ", -range,
                 "..", range - 1, " for a tensor of ", ndim, " dimensions");
  return dim < 0 ? dim + range : dim;
}

Dims wrap_dims(IntSpan dims, int64_t ndim) {
  Dims result;
  for (const int64_t dim : dims) {
    const int64_t wrapped = wrap_dim(dim, ndim);
    FB_CHECK(std::find(result.begin(), result.end(), wrapped) == result.end(), "dim ", dim,
             " appears twice in ", dims);
    result.push_back(wrapped);
  }
  return result;
}

}  // namespace fb
