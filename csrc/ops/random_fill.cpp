// The order in which a tensor is filled.
#include "ops/random_fill.h"

#include <limits>

namespace fb::ops {

// PyTorch's sort is stable from the last dim to the first and leaves a dim of stride 0 alone.
Dims memory_order(const Tensor& t) {
  const IntSpan sizes = t.sizes();
  const IntSpan strides = t.strides();
  const auto slower = [&](int64_t a, int64_t b) {
    if (strides[a] == 0 || strides[b] == 0) return 0;
    if (strides[a] != strides[b]) return strides[a] < strides[b] ? -1 : 1;
    return sizes[a] > sizes[b] ? 1 : 0;
  };
  Dims order;  // fastest first
  for (int64_t i = t.dim() - 1; i >= 0; --i) order.push_back(i);
  for (size_t i = 1; i < order.size(); ++i) {
    size_t at = i;
    for (size_t before = i; before-- > 0;) {
      const int verdict = slower(order[before], order[at]);
      if (verdict < 0) break;
      if (verdict == 0) continue;
      std::swap(order[before], order[at]);
      at = before;
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

Tensor permuted(const Tensor& t, const Dims& order) {
  Dims sizes;
  Dims strides;
  for (const int64_t dim : order) {
    sizes.push_back(t.sizes()[dim]);
    strides.push_back(t.strides()[dim]);
  }
  return as_view(t, sizes, strides);
}

std::pair<double, double> limits_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat16: return {-65504.0, 65504.0};
    case DType::kBFloat16: return {-0x1.fep127, 0x1.fep127};
    case DType::kFloat32:
      return {std::numeric_limits<float>::lowest(), std::numeric_limits<float>::max()};
    default: return {std::numeric_limits<double>::lowest(), std::numeric_limits<double>::max()};
  }
}

void check_implemented(bool condition, const Tensor& t) {
  FB_CHECK_AS(ErrorKind::kNotImplemented, condition, "not implemented for '",
              legacy_name_of(t.dtype()), "'");
}

}  // namespace fb::ops
