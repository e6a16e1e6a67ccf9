// Steps of optimisers on the rows that a sparse gradient has.
#include "cpu/sparse.h"
#include "gen/ops/sparse.h"
#include "ops/sparse.h"

namespace fb::ops {

void compute::_sparse_adam_(const Tensor& input, const Tensor& exp_avg, const Tensor& exp_avg_sq,
                            const Tensor& grad, double beta1, double beta2, double step_size,
                            double eps, bool maximize) {
  FB_CHECK(is_sparse(grad), "expected a sparse gradient, got a strided one");
  check_dense("_sparse_adam_", input);
  const Tensor* const dense[] = {&input, &exp_avg, &exp_avg_sq};
  for (const Tensor* t : dense) {
    FB_CHECK(t->sizes() == grad.sizes() && t->dtype() == grad.dtype(),
             "expected the averages and the gradient to have the shape ", grad.sizes(),
             " and the type ", grad.dtype(), " of the parameter, got ", t->sizes(), " and ",
             t->dtype());
    check_writable(*t);
  }
  const Tensor sorted = coalesced(grad);
  const Tensor rows = contiguous(place_numbers(sorted));
  const Tensor values = contiguous(sparse_parts(sorted).values);
  if (values.numel() == 0) return;
  const Tensor whole[] = {contiguous(input), contiguous(exp_avg), contiguous(exp_avg_sq)};
  FB_KERNEL(step_adam_rows)
  ({grad.dtype(), rows.data_as<int64_t>(), rows.numel(), values.numel() / rows.numel(),
    values.data(), whole[0].data(), whole[1].data(), whole[2].data()},
   {beta1, beta2, step_size, eps, maximize});
  for (size_t i = 0; i < 3; ++i) copy_into(*dense[i], whole[i]);
  exp_avg.bump_version("_sparse_adam_");
  exp_avg_sq.bump_version("_sparse_adam_");
}

}  // namespace fb::ops
