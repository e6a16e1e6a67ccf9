// Small operators on matrices.
#include "gen/ops/matrices.h"

#include "gen/ops/reduce.h"
#include "gen/ops/view.h"

namespace fb::ops {

Tensor compute::trace(const Tensor& input) {
  FB_CHECK(input.dim() == 2, "expected a matrix, got shape ", input.sizes());
  return compute::sum(compute::diagonal(input), IntSpan{0});
}

}  // namespace fb::ops
