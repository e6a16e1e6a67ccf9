// Distances and similarities of vectors.
#include "gen/ops/distance.h"

#include "gen/ops/arith.h"
#include "gen/ops/copy.h"
#include "gen/ops/create.h"
#include "gen/ops/index.h"
#include "gen/ops/linalg.h"
#include "gen/ops/matmul.h"
#include "gen/ops/reduce.h"
#include "gen/ops/view.h"
#include "kernel/table.h"
#include "ops/output.h"
#include "ops/promotion.h"

namespace fb::ops {
namespace {

// Two tensors of one shape as rows of vectors. 16-bit floats are computed in float32.
class Pairs {
 public:
  Pairs(const Tensor& x1, const Tensor& x2, double eps)
      : first_(contiguous(cast(x1, compute_type(x1.dtype())))),
        second_(contiguous(cast(x2, compute_type(x2.dtype())))) {
    const int64_t columns = x1.sizes().back();
    call_ = {.dtype = first_.dtype(),
             .rows = numel_of(x1.sizes().first(static_cast<size_t>(x1.dim() - 1))),
             .columns = columns,
             .first = first_.data(),
             .second = second_.data(),
             .eps = eps};
  }
  const kernel::PairCall& call() const { return call_; }

 private:
  Tensor first_, second_;
  kernel::PairCall call_;
};

}  // namespace

Tensor compute::dist(const Tensor& input, const Tensor& other, const Scalar& p) {
  return compute::norm(compute::sub(input, other), p);
}

Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, int64_t dim, double eps) {
  const Operand operands[] = {x1, x2};
  const DType dtype = ops::result_type(operands);
  FB_CHECK(is_floating(dtype), "expected common dtype to be floating point, yet common dtype is ",
           legacy_name_of(dtype));
  const Dims sizes = broadcast_shapes(x1.sizes(), x2.sizes());
  // Each vector is brought to length one first: the product of two norms could overflow.
  const auto unit = [&](const Tensor& x) {
    const Tensor whole = ops::expand(ops::to_dtype(x, dtype), sizes);
    return ops::div(whole,
                    ops::clamp_min(ops::linalg_vector_norm(whole, 2, IntSpan{dim}, true), eps));
  };
  return ops::sum(ops::mul(unit(x1), unit(x2)), IntSpan{dim});
}

Tensor compute::_euclidean_pairs(const Tensor& x1, const Tensor& x2, double eps) {
  const Pairs pairs(x1, x2, eps);
  const Tensor out = make_tensor(x1.sizes().first(static_cast<size_t>(x1.dim() - 1)),
                                 pairs.call().dtype, x1.device());
  kernel::of(out).pair_distances(pairs.call(), out.data());
  return cast(out, x1.dtype());
}

Tensor compute::euclidean_pairs_gradient(const Tensor& gradient, const Tensor& x1, const Tensor& x2,
                                         double eps, const Tensor& output) {
  const Pairs pairs(x1, x2, eps);
  const DType type = pairs.call().dtype;
  const Tensor g = contiguous(cast(gradient, type));
  const Tensor distances = contiguous(cast(output, type));
  const Tensor out = make_tensor(x1.sizes(), type, x1.device());
  kernel::of(out).pair_gradient(pairs.call(), g.data(), distances.data(), out.data());
  return cast(out, x1.dtype());
}

Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p, double eps, bool keepdim) {
  if (p == 2 && x1.dim() > 0 && x1.sizes() == x2.sizes() && x1.dtype() == x2.dtype() &&
      is_floating(x1.dtype())) {
    const Tensor distances = ops::_euclidean_pairs(x1, x2, eps);
    return keepdim ? ops::unsqueeze(distances, -1) : distances;
  }
  return ops::norm(ops::add(ops::sub(x1, x2), eps), Scalar(p), IntSpan{-1}, keepdim);
}

Tensor pdist(const Tensor& input, double p) {
  FB_CHECK(input.dim() == 2, "only supports 2D tensors, got: ", input.dim(), "D");
  FB_CHECK(p >= 0, "only supports non-negative p values, got ", p);
  const int64_t rows = input.sizes()[0];
  const Tensor pairs = ops::triu_indices(rows, rows, 1, DType::kInt64, input.device());
  const Tensor above = ops::add(ops::mul(ops::select(pairs, 0, 0), rows), ops::select(pairs, 0, 1));
  return ops::index_select(ops::reshape(ops::_cdist(input, input, p), {rows * rows}), 0, above);
}

}  // namespace fb::ops
