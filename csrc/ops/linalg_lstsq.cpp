// Least squares by LAPACK's four drivers.
#include "gen/ops/linalg.h"
#include "gen/ops/view.h"
#include "kernel/table.h"
#include "ops/host.h"
#include "ops/linalg_support.h"
#include "ops/matrix.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

using Driver = kernel::LeastSquaresDriver;

Driver driver_of(const std::string& name) {
  if (name == "gels") return Driver::kGels;
  if (name == "gelsy") return Driver::kGelsy;
  if (name == "gelsd") return Driver::kGelsd;
  FB_CHECK(name == "gelss", "expected driver 'gels', 'gelsy', 'gelsd' or 'gelss', got '", name,
           "'");
  return Driver::kGelss;
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor, Tensor> compute::linalg_lstsq(
    const Tensor& input, const Tensor& b, std::optional<double> rcond,
    std::optional<std::string> driver) {
  check_matrices(input);
  check_same_dtype(input, b);
  const Driver method = driver_of(driver.value_or("gelsy"));
  const bool vector =
      b.dim() == input.dim() - 1 && b.sizes() == input.sizes().first(input.dim() - 1);
  const Tensor given = vector ? compute::unsqueeze(b, -1) : b;
  check_matrices(given);
  const int64_t m = input.size(-2);
  const int64_t n = input.size(-1);
  const int64_t nrhs = given.size(-1);
  FB_CHECK(given.size(-2) == m, "shapes ", input.sizes(), " and ", b.sizes(),
           " do not fit: expected as many rows in both");
  const Dims batch = broadcast_shapes(batch_of(input), batch_of(given));
  const int64_t rows = std::max(m, n);
  const Device device = input.device();
  const DType real = real_type(input.dtype());
  const Tensor a = column_major_copy(compute::expand(input, with_sizes(batch, {m, n})));
  // LAPACK wants room for the larger of right-hand side and solution.
  const Tensor x = make_column_major(batch, rows, nrhs, input.dtype(), device);
  if (m < n) kernel::of(x).fill(x, 0);
  copy_into(as_view(x, with_sizes(batch, {m, nrhs}), x.strides()), given);
  const bool has_rank = method != Driver::kGels;
  const bool has_values = method == Driver::kGelsd || method == Driver::kGelss;
  const Tensor rank = make_tensor(has_rank ? batch : Dims{0}, DType::kInt64, device);
  const Tensor values =
      make_tensor(has_values ? with_sizes(batch, {std::min(m, n)}) : Dims{0}, real, device);
  const Tensor info = make_tensor(batch, DType::kInt32, device);
  kernel::of(x).least_squares(
      {.driver = method,
       .a = matrices_of(a),
       .x = matrices_of(x),
       .rcond = rcond.value_or(epsilon_of(real) * static_cast<double>(rows)),
       .rank = has_rank ? rank.data_as<int64_t>() : nullptr,
       .values = has_values ? values.data() : nullptr,
       .info = info.data_as<int32_t>()});
  check_info(info, "least squares failed: the matrix does not have full rank (code ", ")");
  // Rows below the solution hold the residuals of an overdetermined system of full rank.
  Tensor residuals = make_tensor({0}, real, device);
  if (method != Driver::kGelsy && m > n && (!has_rank || !first_outside(rank, n, n))) {
    residuals = make_tensor(with_sizes(batch, {nrhs}), real, device);
    kernel::of(x).sum_squares_below(matrices_of(x), n, residuals.data());
  }
  Dims sizes = with_sizes(batch, {n, nrhs});
  Dims strides = x.strides().vec();
  if (vector) {
    sizes.pop_back();
    strides.pop_back();
  }
  return {as_view(x, sizes, strides), residuals, rank, values};
}

}  // namespace fb::ops
