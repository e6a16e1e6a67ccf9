// Least squares by LAPACK's four drivers.
#include <limits>

#include "cpu/copy.h"
#include "gen/ops/linalg.h"
#include "gen/ops/view.h"
#include "ops/linalg_support.h"
#include "ops/matrix.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

namespace lapack = cpu::lapack;

// Columns of |.|^2 sums over the rows [n, m) of a column-major matrix: what the fit leaves over.
template <class T>
void sum_squares(const T* x, int64_t ld, int64_t n, int64_t m, int64_t columns, RealOf<T>* out) {
  for (int64_t j = 0; j < columns; ++j) {
    RealOf<T> sum = 0;
    for (int64_t i = n; i < m; ++i) {
      const T value = x[j * ld + i];
      if constexpr (kIsComplex<T>)
        sum += value.re * value.re + value.im * value.im;
      else
        sum += value * value;
    }
    out[j] = sum;
  }
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor, Tensor> compute::linalg_lstsq(
    const Tensor& input, const Tensor& b, std::optional<double> rcond,
    std::optional<std::string> driver) {
  check_matrices(input);
  check_lapack_dtype(input);
  check_same_dtype(input, b);
  const std::string method = driver.value_or("gelsy");
  FB_CHECK(method == "gels" || method == "gelsy" || method == "gelsd" || method == "gelss",
           "expected driver 'gels', 'gelsy', 'gelsd' or 'gelss', got '", method, "'");
  const bool vector =
      b.dim() == input.dim() - 1 && b.sizes() == input.sizes().first(input.dim() - 1);
  const Tensor given = vector ? unsqueeze(b, -1) : b;
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
  const Tensor a = column_major_copy(expand(input, with_sizes(batch, {m, n})));
  // LAPACK wants room for the larger of right-hand side and solution.
  const Tensor x = make_column_major(batch, rows, nrhs, input.dtype(), device);
  if (m < n) cpu::fill(x, 0);
  copy_into(as_view(x, with_sizes(batch, {m, nrhs}), x.strides()), given);
  const bool has_rank = method != "gels";
  const bool has_values = method == "gelsd" || method == "gelss";
  const Tensor rank = make_tensor(has_rank ? batch : Dims{0}, DType::kInt64, device);
  const Tensor values =
      make_tensor(has_values ? with_sizes(batch, {std::min(m, n)}) : Dims{0}, real, device);
  const Tensor info = make_tensor(batch, DType::kInt32, device);
  const int64_t count = numel_of(batch);
  Tensor residuals = make_tensor({0}, real, device);
  visit_floating_or_complex(input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using Real = RealOf<T>;
    const Real limit = static_cast<Real>(
        rcond.value_or(static_cast<double>(std::numeric_limits<Real>::epsilon()) * rows));
    lapack::for_each_matrix(count, m * n * std::min(m, n), [&](int64_t i) {
      T* a_i = a.data_as<T>() + i * m * n;
      T* x_i = x.data_as<T>() + i * rows * nrhs;
      int64_t* rank_i = has_rank ? rank.data_as<int64_t>() + i : nullptr;
      Real* s = has_values ? values.data_as<Real>() + i * std::min(m, n) : nullptr;
      int64_t failed = 0;
      if (m == 0 || n == 0) {
        if (has_rank) *rank_i = 0;
      } else if (method == "gels")
        failed = lapack::gels(m, n, nrhs, a_i, leading(m), x_i, leading(rows));
      else if (method == "gelsy")
        failed = lapack::gelsy(m, n, nrhs, a_i, leading(m), x_i, leading(rows), limit, rank_i);
      else if (method == "gelsd")
        failed = lapack::gelsd(m, n, nrhs, a_i, leading(m), x_i, leading(rows), s, limit, rank_i);
      else
        failed = lapack::gelss(m, n, nrhs, a_i, leading(m), x_i, leading(rows), s, limit, rank_i);
      info.data_as<int32_t>()[i] = static_cast<int32_t>(failed);
    });
    check_info(info, "least squares failed: the matrix does not have full rank (code ", ")");
    // Rows below the solution hold the rest of the fit, where it is overdetermined and determined.
    const bool full_rank =
        !has_rank || std::all_of(rank.data_as<int64_t>(), rank.data_as<int64_t>() + rank.numel(),
                                 [&](int64_t r) { return r == n; });
    if (method != "gelsy" && m > n && full_rank) {
      residuals = make_tensor(with_sizes(batch, {nrhs}), real, device);
      for (int64_t i = 0; i < count; ++i) {
        sum_squares(x.data_as<T>() + i * rows * nrhs, rows, n, m, nrhs,
                    residuals.data_as<Real>() + i * nrhs);
      }
    }
  });
  Dims sizes = with_sizes(batch, {n, nrhs});
  Dims strides = x.strides().vec();
  if (vector) {
    sizes.pop_back();
    strides.pop_back();
  }
  return {as_view(x, sizes, strides), residuals, rank, values};
}

}  // namespace fb::ops
