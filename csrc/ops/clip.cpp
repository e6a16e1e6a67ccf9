// Gradients of many parameters seen as one vector.
#include "gen/ops/clip.h"

#include <algorithm>
#include <cmath>

#include "gen/ops/arith.h"
#include "gen/ops/reduce.h"
#include "kernel/table.h"
#include "ops/host.h"

namespace fb::ops {
namespace {

// Adds the norm of one more part to what stands for the norm of the others.
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

}  // namespace

Tensor compute::_total_norm(TensorList tensors, double norm_type) {
  NormOfNorms total(norm_type);
  DType type = tensors.empty() ? default_dtype() : real_type(tensors[0].dtype());
  const Device device = tensors.empty() ? kHost : tensors[0].device();
  for (const Tensor& t : tensors) {
    const Tensor norm = compute::norm(t, Scalar(norm_type));
    total.add(host_number(norm).to<double>());
    type = promote(type, norm.dtype());
  }
  const Tensor result = make_tensor({}, type, device);
  kernel::of(result).fill(result, total.value());
  return result;
}

void _shrink_to_norm(TensorList tensors, double max_norm, double total_norm) {
  // As PyTorch has it: a norm of 0 divides nothing by 0.
  const double factor = max_norm / (total_norm + 1e-6);
  if (factor >= 1) return;
  for (const Tensor& t : tensors) ops::mul_(t, Scalar(factor));
}

void _clamp_all(TensorList tensors, double low, double high) {
  for (const Tensor& t : tensors) ops::clamp_(t, Scalar(low), Scalar(high));
}

}  // namespace fb::ops
