// What the operators on LAPACK share.
#include "ops/linalg_support.h"

#include <limits>

#include "ops/host.h"
#include "ops/output.h"

namespace fb::ops {

void check_matrices(const Tensor& a) {
  FB_CHECK(a.dim() >= 2, "expected matrices (at least 2-d), got shape ", a.sizes());
}

void check_square(const Tensor& a) {
  check_matrices(a);
  FB_CHECK(a.size(-1) == a.size(-2), "expected square matrices, got shape ", a.sizes());
}

void check_finite(const Tensor& a, ErrorKind kind, const char* reason) {
  const Tensor dense = contiguous(a);
  FB_CHECK_AS(kind, kernel::of(dense).all_finite(dense.dtype(), dense.data(), dense.numel()),
              reason);
}

void check_pivots(const Tensor& pivots, int64_t count, int64_t rows) {
  FB_CHECK(pivots.numel() == count, "expected ", count, " pivots, got shape ", pivots.sizes());
  FB_CHECK(!first_outside(cast(pivots, DType::kInt64), 1, rows), "expected pivots from 1 to ", rows,
           ", as lu_factor gives them");
}

double epsilon_of(DType real) {
  return real == DType::kFloat32 ? std::numeric_limits<float>::epsilon()
                                 : std::numeric_limits<double>::epsilon();
}

Dims with_sizes(IntSpan batch, std::initializer_list<int64_t> last) {
  Dims sizes = batch.vec();
  for (const int64_t size : last) sizes.push_back(size);
  return sizes;
}

Tensor make_column_major(IntSpan batch, int64_t rows, int64_t columns, DType dtype, Device device) {
  const Dims transposed = with_sizes(batch, {columns, rows});
  Dims strides = contiguous_strides(transposed);
  std::swap(strides[strides.size() - 1], strides[strides.size() - 2]);
  return make_strided(with_sizes(batch, {rows, columns}), strides, dtype, device);
}

Tensor column_major_copy(const Tensor& t) {
  Tensor out = make_column_major(batch_of(t), t.size(-2), t.size(-1), t.dtype(), t.device());
  copy_into(out, t);
  return out;
}

void check_info(const Tensor& info, const char* before, const char* after) {
  if (info.dim() == 0) {
    const auto code = host_number(info).to<int64_t>();
    FB_CHECK_AS(ErrorKind::kLinAlg, code == 0, before, code, after);
    return;
  }
  const std::vector<int64_t> codes = host_integers(info);
  for (size_t i = 0; i < codes.size(); ++i)
    FB_CHECK_AS(ErrorKind::kLinAlg, codes[i] == 0, "(batch element ", i, ") ", before, codes[i],
                after);
}

}  // namespace fb::ops
