// Exponentials and logarithms that are more than one element function.
#include "gen/ops/explog.h"

namespace fb::ops {

Tensor compute::logit(const Tensor& input, std::optional<double> eps) {
  return compute::logit(input, eps.value_or(-1.0));
}

}  // namespace fb::ops
