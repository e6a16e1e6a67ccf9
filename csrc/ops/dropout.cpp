// Dropout. A mask is drawn for the elements or channels of the input in memory order, a byte for
// each; the product with it is one kernel, forward and backward.
#include "gen/ops/dropout.h"

#include <cmath>

#include "core/generator.h"
#include "gen/ops/arith.h"
#include "gen/ops/copy.h"
#include "gen/ops/create.h"
#include "gen/ops/random.h"
#include "gen/ops/view.h"
#include "ops/random_fill.h"

namespace fb::ops {
namespace {

// The unit that is dropped as a whole.
enum class Unit { kElement, kChannel };

// Strides in the order that the input's elements have in memory, without gaps.
Dims packed_strides(const Tensor& input) {
  const Dims order = memory_order(input);
  Dims strides(order.size());
  int64_t step = 1;
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = step;
    step *= std::max<int64_t>(input.sizes()[order[i]], 1);
  }
  return strides;
}

Tensor mask_for(const Tensor& input, double p, Unit unit) {
  return ops::_dropout_mask(input, p, unit == Unit::kChannel);
}

// 1 / (1 - p), rounded to the input's type.
double scale_for(const Tensor& input, double p) {
  switch (input.dtype()) {
    case DType::kFloat16: return static_cast<float>(Half(1 / static_cast<float>(1 - p)));
    case DType::kBFloat16: return static_cast<float>(BFloat16(1 / static_cast<float>(1 - p)));
    case DType::kFloat32: return 1 / static_cast<float>(1 - p);
    default: return 1 / (1 - p);
  }
}

void check_probability(double p, ErrorKind kind) {
  FB_CHECK_AS(kind, p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, got ", p);
}

void check_floating(const Tensor& input) {
  FB_CHECK(is_floating(input.dtype()), "expected a floating-point input, got ", input.dtype());
}

bool changes_nothing(const Tensor& input, double p, bool train) {
  return p == 0 || !train || input.numel() == 0;
}

Tensor dropped(const Tensor& input, double p, bool train, Unit unit, bool inplace) {
  if (changes_nothing(input, p, train)) return input;
  check_floating(input);
  if (p == 1) {
    if (!inplace) return ops::mul(input, ops::zeros({}, input.dtype(), input.device()));
    ops::mul_(input, ops::zeros({}, input.dtype(), input.device()));
    return input;
  }
  const Tensor mask = mask_for(input, p, unit);
  const double scale = scale_for(input, p);
  if (!inplace) return ops::masked_scale(mask, input, scale);
  ops::mul_(input, ops::mul(ops::to_dtype(mask, input.dtype()), scale));
  return input;
}

// Dropped elements become the limit of SELU; a and shift keep mean 0 and variance 1.
Tensor alpha_dropped(const Tensor& input, double p, bool train, Unit unit, bool inplace) {
  constexpr double alpha = 1.7580993408473766;
  if (changes_nothing(input, p, train)) return input;
  if (p == 1) return dropped(input, p, train, unit, inplace);
  check_floating(input);
  const double a = 1 / std::sqrt((alpha * alpha * p + 1) * (1 - p));
  const Tensor kept = ops::to_dtype(mask_for(input, p, unit), input.dtype());
  const Tensor shift = ops::add(ops::mul(ops::sub(kept, 1), alpha * a), alpha * a * p);
  if (!inplace) return ops::add(ops::mul(input, ops::mul(kept, a)), shift);
  ops::mul_(input, ops::mul(kept, a));
  ops::add_(input, shift);
  return input;
}

// In a single image, channels come first.
template <class Drop>
Tensor as_batch(const Tensor& input, int64_t batched_dims, Drop drop) {
  if (input.dim() == batched_dims) return drop(input);
  return ops::squeeze(drop(ops::unsqueeze(input, 0)), 0);
}

Tensor checked_channels(const Tensor& input, double p, bool training, bool inplace) {
  check_probability(p, ErrorKind::kValue);
  return dropped(input, p, training, Unit::kChannel, inplace);
}

}  // namespace

Tensor compute::_dropout_mask(const Tensor& input, double p, bool channels, Generator* generator) {
  Tensor mask;
  if (channels) {
    FB_CHECK(input.dim() >= 2,
             "expected an input of at least 2 dimensions (batch and channels), got the shape ",
             input.sizes());
    Dims sizes(static_cast<size_t>(input.dim()), 1);
    sizes[0] = input.size(0);
    sizes[1] = input.size(1);
    mask = make_tensor(sizes, DType::kBool, input.device());
  } else if (input->deferred_layout) {
    // The numbers are drawn in the order of the dimensions, which is what users see.
    mask = make_tensor(input.sizes(), DType::kBool, input.device());
  } else {
    mask = make_strided(input.sizes(), packed_strides(input), DType::kBool, input.device());
  }
  if (channels)
    compute::bernoulli_(mask, 1 - p, generator);
  else if (mask.numel() != 0)
    kernel::of(mask).fill_mask(generator_for(mask, generator), mask.data(), mask.numel(), 1 - p);
  return mask;
}

std::tuple<Tensor, Tensor> native_dropout(const Tensor& input, double p,
                                          std::optional<bool> train) {
  if (input.numel() == 0) return {input, ops::empty_like(input)};
  if (!train.value_or(true)) return {ops::clone(input), ops::ones_like(input, DType::kBool)};
  check_probability(p, ErrorKind::kRuntime);
  if (p == 1) {
    const Tensor none = ops::zeros_like(input, DType::kBool);
    return {ops::masked_scale(none, input, 0), none};
  }
  const Tensor mask = mask_for(input, p, Unit::kElement);
  return {ops::masked_scale(mask, input, scale_for(input, p)), mask};
}

Tensor dropout(const Tensor& input, double p, bool train) {
  check_probability(p, ErrorKind::kRuntime);
  return dropped(input, p, train, Unit::kElement, false);
}
void dropout_(const Tensor& input, double p, bool train) {
  check_probability(p, ErrorKind::kRuntime);
  dropped(input, p, train, Unit::kElement, true);
}
Tensor feature_dropout(const Tensor& input, double p, bool train) {
  check_probability(p, ErrorKind::kRuntime);
  return dropped(input, p, train, Unit::kChannel, false);
}
void feature_dropout_(const Tensor& input, double p, bool train) {
  check_probability(p, ErrorKind::kRuntime);
  dropped(input, p, train, Unit::kChannel, true);
}
Tensor alpha_dropout(const Tensor& input, double p, bool train) {
  check_probability(p, ErrorKind::kRuntime);
  return alpha_dropped(input, p, train, Unit::kElement, false);
}
void alpha_dropout_(const Tensor& input, double p, bool train) {
  check_probability(p, ErrorKind::kRuntime);
  alpha_dropped(input, p, train, Unit::kElement, true);
}
Tensor feature_alpha_dropout(const Tensor& input, double p, bool train) {
  check_probability(p, ErrorKind::kRuntime);
  return alpha_dropped(input, p, train, Unit::kChannel, false);
}
void feature_alpha_dropout_(const Tensor& input, double p, bool train) {
  check_probability(p, ErrorKind::kRuntime);
  alpha_dropped(input, p, train, Unit::kChannel, true);
}

Tensor nn_functional_dropout(const Tensor& input, double p, bool training, bool inplace) {
  check_probability(p, ErrorKind::kValue);
  return dropped(input, p, training, Unit::kElement, inplace);
}

Tensor nn_functional_dropout1d(const Tensor& input, double p, bool training, bool inplace) {
  check_probability(p, ErrorKind::kValue);
  FB_CHECK(input.dim() == 2 || input.dim() == 3,
           "expected an input of 2 or 3 dimensions, (C, L) or (N, C, L), got the shape ",
           input.sizes());
  return as_batch(input, 3,
                  [&](const Tensor& t) { return checked_channels(t, p, training, inplace); });
}

Tensor nn_functional_dropout2d(const Tensor& input, double p, bool training, bool inplace) {
  return checked_channels(input, p, training, inplace);
}

Tensor nn_functional_dropout3d(const Tensor& input, double p, bool training, bool inplace) {
  return as_batch(input, 5,
                  [&](const Tensor& t) { return checked_channels(t, p, training, inplace); });
}

Tensor nn_functional_alpha_dropout(const Tensor& input, double p, bool training, bool inplace) {
  check_probability(p, ErrorKind::kValue);
  return alpha_dropped(input, p, training, Unit::kElement, inplace);
}

Tensor nn_functional_feature_alpha_dropout(const Tensor& input, double p, bool training,
                                           bool inplace) {
  check_probability(p, ErrorKind::kValue);
  return alpha_dropped(input, p, training, Unit::kChannel, inplace);
}

}  // namespace fb::ops
