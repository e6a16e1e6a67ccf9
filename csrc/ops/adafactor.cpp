// The step of the optimiser Adafactor.
#include "gen/ops/adafactor.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "kernel/table.h"
#include "ops/host.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

double machine_epsilon(DType dtype) {
  switch (dtype) {
    case DType::kFloat64: return std::numeric_limits<double>::epsilon();
    case DType::kFloat16: return std::ldexp(1, -10);
    case DType::kBFloat16: return std::ldexp(1, -7);
    default: return static_cast<double>(std::numeric_limits<float>::epsilon());
  }
}

double count_step(const Tensor& steps) {
  FB_CHECK(steps.numel() == 1, "expected a step count of one element, got shape ", steps.sizes());
  const double count = host_number(steps).to<double>() + 1;
  kernel::of(steps).fill(steps, count);
  steps.bump_version("Adafactor");
  return count;
}

// A tensor as the kernel takes it; a copy is written back at the end.
class Taken {
 public:
  Taken(const Tensor& t, DType dtype) : given_(t), taken_(contiguous(cast(t, dtype))) {}
  void* data() const { return taken_.data(); }
  void write_back() const {
    if (!taken_.is_same(given_)) copy_into(given_, taken_);
    given_.bump_version("Adafactor");
  }

 private:
  const Tensor& given_;
  const Tensor taken_;
};

void step_with(const Tensor& param, const Tensor& grad, const Tensor& rows, const Tensor& columns,
               const kernel::AdafactorNumbers& numbers) {
  FB_CHECK(param.sizes() == grad.sizes(), "a parameter of shape ", param.sizes(),
           " has a gradient of shape ", grad.sizes());
  if (param.numel() == 0) return;
  const DType dtype = param.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  const Taken p(param, dtype), g(grad, dtype), row_var(rows, dtype), col_var(columns, dtype);
  const bool is_matrix = param.dim() > 1;
  const int64_t m = is_matrix ? param.size(-2) : 1;
  const int64_t n = is_matrix ? param.size(-1) : param.numel();
  const int64_t count = param.numel() / (m * n);
  FB_CHECK(rows.numel() == (is_matrix ? count * m : n) && columns.numel() == count * n,
           "second moments of shapes ", rows.sizes(), " and ", columns.sizes(),
           " do not fit a parameter of shape ", param.sizes());
  kernel::AdafactorTensor tensor{
      p.data(), g.data(), is_matrix ? row_var.data() : nullptr, col_var.data(), count, m, n, dtype};
  kernel::of(param).adafactor_step(tensor, numbers);
  p.write_back();
  col_var.write_back();
  if (is_matrix) row_var.write_back();
}

}  // namespace

void compute::_adafactor_step(TensorList params, TensorList grads, TensorList rows,
                              TensorList columns, TensorList steps, double lr, double beta2_decay,
                              std::optional<double> eps1, double eps2, double d,
                              double weight_decay, bool maximize) {
  const size_t count = params.size();
  FB_CHECK(grads.size() == count && rows.size() == count && columns.size() == count &&
               steps.size() == count,
           "expected as many gradients, rows, columns and steps as there are parameters, ", count,
           ", got ", grads.size(), ", ", rows.size(), ", ", columns.size(), " and ", steps.size());
  for (size_t i = 0; i < params.size(); ++i) {
    const double step = count_step(steps[i]);
    const kernel::AdafactorNumbers numbers{
        .weight = std::pow(step, beta2_decay),
        .relative = std::min(lr, 1 / std::sqrt(step)),
        .eps1 = eps1.value_or(machine_epsilon(params[i].dtype())),
        .eps2 = eps2,
        .d = d,
        .shrink = 1 - lr * weight_decay,
        .maximize = maximize,
    };
    step_with(params[i], grads[i], rows[i], columns[i], numbers);
  }
}

}  // namespace fb::ops
