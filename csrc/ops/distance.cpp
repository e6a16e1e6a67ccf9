// How far apart vectors are.
#include "gen/ops/distance.h"

#include "gen/ops/arith.h"
#include "gen/ops/copy.h"
#include "gen/ops/index.h"
#include "gen/ops/linalg.h"
#include "gen/ops/matmul.h"
#include "gen/ops/reduce.h"
#include "gen/ops/view.h"
#include "ops/promotion.h"

namespace fb::ops {

Tensor compute::dist(const Tensor& input, const Tensor& other, const Scalar& p) {
  return norm(sub(input, other), p);
}

Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, int64_t dim, double eps) {
  const Operand operands[] = {x1, x2};
  const DType dtype = result_type(operands);
  FB_CHECK(is_floating(dtype), "expected common dtype to be floating point, yet common dtype is ",
           legacy_name_of(dtype));
  const Dims sizes = broadcast_shapes(x1.sizes(), x2.sizes());
  // Each vector is brought to length one first: the product of two norms could overflow.
  const auto unit = [&](const Tensor& x) {
    const Tensor whole = expand(to_dtype(x, dtype), sizes);
    return div(whole, clamp_min(linalg_vector_norm(whole, 2, IntSpan{dim}, true), eps));
  };
  return sum(mul(unit(x1), unit(x2)), IntSpan{dim});
}

Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p, double eps, bool keepdim) {
  return norm(add(sub(x1, x2), eps), Scalar(p), IntSpan{-1}, keepdim);
}

Tensor pdist(const Tensor& input, double p) {
  FB_CHECK(input.dim() == 2, "only supports 2D tensors, got: ", input.dim(), "D");
  FB_CHECK(p >= 0, "only supports non-negative p values, got ", p);
  const int64_t rows = input.sizes()[0];
  const Tensor above = make_tensor({rows * (rows - 1) / 2}, DType::kInt64);
  int64_t* next = above.data_as<int64_t>();
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = i + 1; j < rows; ++j) *next++ = i * rows + j;
  return index_select(reshape(_cdist(input, input, p), {rows * rows}), 0, above);
}

}  // namespace fb::ops
