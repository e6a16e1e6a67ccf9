// Steps of optimisers on the rows that a sparse gradient has.
#include "gen/ops/sparse.h"
#include "kernel/table.h"
#include "ops/sparse.h"

namespace fb::ops {
namespace {

// Calls run(rows) for a parameter and its states, which may have any strides.
template <class Run>
void step_rows(const Tensor& grad, std::initializer_list<const Tensor*> changed, const char* name,
               Run run) {
  FB_CHECK(is_sparse(grad), "expected a sparse gradient, got a strided one");
  for (const Tensor* t : changed) {
    check_dense(name, *t);
    FB_CHECK(t->sizes() == grad.sizes() && t->dtype() == grad.dtype(),
             "expected parameter and state of the shape ", grad.sizes(), " and the type ",
             grad.dtype(), " of the gradient, got ", t->sizes(), " and ", t->dtype());
    check_writable(*t);
  }
  const Tensor sorted = coalesced(grad);
  const Tensor rows = flat_positions(sorted), values = contiguous(sparse_parts(sorted).values);
  if (values.numel() == 0) return;
  std::vector<Tensor> whole;
  for (const Tensor* t : changed) whole.push_back(contiguous(*t));
  run(kernel::StepRows{grad.dtype(),
                       rows.data_as<int64_t>(),
                       rows.numel(),
                       values.numel() / rows.numel(),
                       values.data(),
                       whole[0].data(),
                       {whole[1].data(), whole.back().data()}});
  size_t i = 0;
  for (const Tensor* t : changed) {
    copy_into(*t, whole[i]);
    // The recorded operator raises the version of the parameter.
    if (i++ > 0) t->bump_version(name);
  }
}

}  // namespace

void compute::_sparse_adam_(const Tensor& input, const Tensor& exp_avg, const Tensor& exp_avg_sq,
                            const Tensor& grad, double beta1, double beta2, double step_size,
                            double eps, bool maximize) {
  step_rows(grad, {&input, &exp_avg, &exp_avg_sq}, "_sparse_adam_", [&](const auto& rows) {
    kernel::of(grad).step_adam_rows(rows, {beta1, beta2, step_size, eps, maximize});
  });
}

void compute::_sparse_adagrad_(const Tensor& input, const Tensor& sum, const Tensor& grad,
                               double rate, double eps, bool maximize) {
  step_rows(grad, {&input, &sum}, "_sparse_adagrad_", [&](const auto& rows) {
    kernel::of(grad).step_adagrad_rows(rows, {rate, eps, maximize});
  });
}

}  // namespace fb::ops
