// How far apart vectors are.
#include "gen/ops/distance.h"

#include "gen/ops/arith.h"
#include "gen/ops/reduce.h"

namespace fb::ops {

Tensor compute::dist(const Tensor& input, const Tensor& other, const Scalar& p) {
  return norm(sub(input, other), p);
}

}  // namespace fb::ops
