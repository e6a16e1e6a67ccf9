// Norms and clipping of the gradients of many parameters, seen as one vector.
#include "gen/ops/clip.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/error.h"
#include "core/observe.h"
#include "gen/ops/arith.h"
#include "gen/ops/reduce.h"
#include "gen/ops/shape.h"
#include "kernel/table.h"
#include "ops/host.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

// Accumulates the norm of a vector from the norms of its parts.
class NormOfNorms {
 public:
  explicit NormOfNorms(double order) : order_(order) {}

  void add(double norm) {
    if (std::isinf(order_))
      total_ = is_first_ || beyond(norm) ? norm : total_;
    else if (order_ == 0)
      total_ += norm != 0;
    else
      total_ += order_ == 2 ? norm * norm : std::pow(norm, order_);
    is_first_ = false;
  }
  double value() const {
    if (std::isinf(order_) || order_ == 0 || is_first_) return total_;
    return order_ == 2 ? std::sqrt(total_) : std::pow(total_, 1 / order_);
  }

 private:
  // A NaN stays, as in any maximum.
  bool beyond(double norm) const {
    return std::isnan(norm) || (order_ > 0 ? norm > total_ : norm < total_);
  }

  double order_;
  double total_ = 0;
  bool is_first_ = true;
};

void check_single(const Tensor& total_norm) {
  FB_CHECK(total_norm.numel() == 1, "total_norm must have one element, got shape ",
           total_norm.sizes());
}

Scalar number_in(const Tensor& total_norm) {
  check_single(total_norm);
  return host_number(total_norm);
}

// Numbers on another device stay there, so that the host does not wait for them.
Tensor norm_of_norms(TensorList norms, DType type, double order) {
  std::vector<Tensor> alike;
  for (const Tensor& norm : norms) alike.push_back(cast(norm, type));
  const Tensor wide = cast(ops::stack(alike, 0), DType::kFloat64);
  return cast(compute::norm(wide, Scalar(order)), type);
}

// The tensors as a GPU's kernels for lists of them take them, or nothing if they do not.
std::vector<kernel::OptimTensor> listed(TensorList tensors) {
  std::vector<kernel::OptimTensor> list;
  for (const Tensor& t : tensors) {
    if (t.device() != tensors[0].device() || t.device().type != DeviceType::kCuda ||
        !is_floating(t.dtype()) || !is_dense(t.sizes(), t.strides()))
      return {};
    list.push_back({t.data(), nullptr, {}, t.numel(), t.dtype(), nullptr});
  }
  return list;
}

}  // namespace

Tensor compute::_total_norm(TensorList tensors, double norm_type) {
  if (norm_type == 2) {
    if (const auto list = listed(tensors); !list.empty()) {
      DType type = tensors[0].dtype();
      for (const Tensor& t : tensors) type = promote(type, t.dtype());
      const Tensor norm = make_tensor({}, DType::kFloat64, tensors[0].device());
      kernel::of(norm).norm_of_all(list, norm.data_as<double>());
      return cast(norm, type);
    }
  }
  std::vector<Tensor> norms;
  DType type = tensors.empty() ? default_dtype() : real_type(tensors[0].dtype());
  const Device device = tensors.empty() ? kHost : tensors[0].device();
  for (const Tensor& t : tensors) {
    norms.push_back(compute::norm(t, Scalar(norm_type)));
    type = promote(type, norms.back().dtype());
  }
  if (device != kHost) return norm_of_norms(norms, type, norm_type);
  NormOfNorms total(norm_type);
  for (const Tensor& norm : norms) total.add(host_number(norm).to<double>());
  const Tensor result = make_tensor({}, type, device);
  kernel::of(result).fill(result, total.value());
  return result;
}

namespace {

// Whether none is listed twice: in one launch, two blocks would write it at once.
bool are_apart(TensorList tensors) {
  std::vector<const void*> places;
  for (const Tensor& t : tensors) places.push_back(t.data());
  std::sort(places.begin(), places.end());
  return std::adjacent_find(places.begin(), places.end()) == places.end();
}

}  // namespace

void composed::_shrink_to_norm(TensorList tensors, double max_norm, const Operand& total_norm) {
  // As in PyTorch, so that a norm of 0 does not lead to a division by 0.
  constexpr double kLeast = 1e-6;
  if (total_norm.is_tensor() && total_norm.tensor().device() != kHost) {
    check_single(total_norm.tensor());
    // In double, as on the host: the gradients are the same on every device.
    const Tensor total = cast(total_norm.tensor(), DType::kFloat64);
    const Tensor factor =
        ops::mul(ops::reciprocal(ops::add(total, Scalar(kLeast))), Scalar(max_norm));
    const Tensor shrinking = ops::clamp_max(factor, Scalar(1.0));
    // Derivatives and recordings know of ops::mul_ alone.
    const bool is_plain = !observe::any() && are_apart(tensors) &&
                          std::all_of(tensors.begin(), tensors.end(), [](const Tensor& t) {
                            return t->flags == 0 && !t->grad_fn && !t->autograd;
                          });
    if (const auto list = is_plain ? listed(tensors) : std::vector<kernel::OptimTensor>();
        !list.empty() && tensors[0].device() == shrinking.device()) {
      kernel::of(shrinking).scale_all(list, shrinking.data_as<double>());
      for (const Tensor& t : tensors) t.bump_version("_shrink_to_norm");
      return;
    }
    // A number is rounded to the type that is computed in; a tensor of no dimensions would widen
    // another one.
    const Tensor rounded = cast(shrinking, DType::kFloat32);
    for (const Tensor& t : tensors)
      ops::mul_(t, real_type(t.dtype()) == DType::kFloat64 ? shrinking : rounded);
    return;
  }
  const Scalar total =
      total_norm.is_tensor() ? number_in(total_norm.tensor()) : total_norm.scalar();
  const double factor = max_norm / (total.to<double>() + kLeast);
  if (factor >= 1) return;
  for (const Tensor& t : tensors) ops::mul_(t, Scalar(factor));
}

void composed::_clamp_all(TensorList tensors, double low, double high) {
  for (const Tensor& t : tensors) ops::clamp_(t, Scalar(low), Scalar(high));
}

}  // namespace fb::ops
