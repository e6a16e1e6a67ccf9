// Linear algebra that needs no LAPACK.
#include "gen/ops/linalg.h"

#include "gen/ops/arith.h"
#include "gen/ops/reduce.h"
#include "gen/ops/view.h"
#include "ops/matrix.h"

namespace fb::ops {

Tensor linalg_vector_norm(const Tensor& x, const Scalar& ord, std::optional<IntSpan> dim,
                          bool keepdim, std::optional<DType> dtype) {
  return ops::norm(x, ord, dim, keepdim, dtype);
}

Tensor compute::linalg_cross(const Tensor& input, const Tensor& other, int64_t dim) {
  check_same_dtype(input, other);
  FB_CHECK_INDEX(input.dim() > 0, "input has no dimensions");
  FB_CHECK(input.dim() == other.dim(),
           "inputs must have the same number of dimensions, got shapes ", input.sizes(), " and ",
           other.sizes());
  FB_CHECK(input.size(dim) == 3 && other.size(dim) == 3, "expected dimension ", dim,
           " to be of size 3, got shapes ", input.sizes(), " and ", other.sizes());
  const Dims sizes = broadcast_shapes(input.sizes(), other.sizes());
  const int64_t along = wrap_dim(dim, input.dim());
  const Tensor a = compute::expand(input, sizes);
  const Tensor b = compute::expand(other, sizes);
  const Tensor out = make_tensor(sizes, input.dtype(), input.device());
  for (int64_t i = 0; i < 3; ++i) {
    const int64_t j = (i + 1) % 3;
    const int64_t k = (i + 2) % 3;
    const Tensor plus = compute::mul(compute::select(a, along, j), compute::select(b, along, k));
    const Tensor minus = compute::mul(compute::select(a, along, k), compute::select(b, along, j));
    add_out(compute::select(out, along, i), plus, minus, -1);
  }
  return out;
}

}  // namespace fb::ops
