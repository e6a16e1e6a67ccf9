// What the operators on LAPACK share.
#include "ops/linalg_support.h"

#include <cmath>

#include "ops/output.h"

namespace fb::ops {

void check_lapack_dtype(const Tensor& a) {
  FB_CHECK(!is_reduced_float(a.dtype()), "low precision dtypes are not supported, got ", a.dtype());
  FB_CHECK(!is_integral(a.dtype()), "expected a floating point or complex tensor, got ", a.dtype());
}

void check_matrices(const Tensor& a) {
  FB_CHECK(a.dim() >= 2, "expected matrices (at least 2-d), got shape ", a.sizes());
}

void check_square(const Tensor& a) {
  check_matrices(a);
  FB_CHECK(a.size(-1) == a.size(-2), "expected square matrices, got shape ", a.sizes());
}

void check_finite(const Tensor& a, ErrorKind kind, const char* reason) {
  const Tensor dense = contiguous(a);
  const bool finite = visit_floating_or_complex(a.dtype(), [&](auto tag) {
    using Real = RealOf<typename decltype(tag)::type>;
    const Real* values = dense.data_as<Real>();
    const int64_t n = dense.numel() * (is_complex(a.dtype()) ? 2 : 1);
    return std::all_of(values, values + n, [](Real x) { return std::isfinite(x); });
  });
  FB_CHECK_AS(kind, finite, reason);
}

void check_pivots(const Tensor& pivots, int64_t count, int64_t rows) {
  FB_CHECK(pivots.numel() == count, "expected ", count, " pivots, got shape ", pivots.sizes());
  const int32_t* values = pivots.data_as<int32_t>();
  FB_CHECK(std::all_of(values, values + count, [&](int32_t p) { return p >= 1 && p <= rows; }),
           "expected pivots from 1 to ", rows, ", as lu_factor gives them");
}

Dims with_sizes(IntSpan batch, std::initializer_list<int64_t> last) {
  Dims sizes = batch.vec();
  for (const int64_t size : last) sizes.push_back(size);
  return sizes;
}

Tensor make_column_major(IntSpan batch, int64_t rows, int64_t columns, DType dtype, Device device) {
  const Dims turned = with_sizes(batch, {columns, rows});
  Dims strides = contiguous_strides(turned);
  std::swap(strides[strides.size() - 1], strides[strides.size() - 2]);
  return make_strided(with_sizes(batch, {rows, columns}), strides, dtype, device);
}

Tensor column_major_copy(const Tensor& t) {
  Tensor out = make_column_major(batch_of(t), t.size(-2), t.size(-1), t.dtype(), t.device());
  copy_into(out, t);
  return out;
}

void check_info(const Tensor& info, const char* before, const char* after) {
  const int32_t* values = info.data_as<int32_t>();
  for (int64_t i = 0; i < info.numel(); ++i) {
    if (values[i] == 0) continue;
    if (info.dim() == 0) fail(ErrorKind::kLinAlg, before, values[i], after);
    fail(ErrorKind::kLinAlg, "(batch element ", i, ") ", before, values[i], after);
  }
}

}  // namespace fb::ops
