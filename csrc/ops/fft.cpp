// Fourier transforms over several dimensions, one dimension at a time.
#include "gen/ops/fft.h"

#include <algorithm>

#include "gen/ops/arith.h"
#include "kernel/table.h"
#include "ops/matrix.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

using kernel::FftKind;

Tensor transform(FftKind kind, const Tensor& input, int64_t dim, int64_t size = 0) {
  return kernel::of(input).fft(kind, input, dim, size);
}

bool larger_stride_first(const Tensor& t, int64_t a, int64_t b) {
  return t.strides()[a] > t.strides()[b];
}

// The dimensions to transform, larger strides first; the last `fixed` keep their position.
Dims transform_dims(const Tensor& input, IntSpan dim, int fixed) {
  FB_CHECK_INDEX(static_cast<int64_t>(dim.size()) <= input.dim(), "got dimensions ", dim,
                 " for shape ", input.sizes());
  FB_CHECK(input.numel() > 0, "expected at least one element, got shape ", input.sizes());
  Dims dims = wrap_dims(dim, input.dim());
  std::stable_sort(dims.begin(), dims.end() - fixed,
                   [&](int64_t a, int64_t b) { return larger_stride_first(input, a, b); });
  return dims;
}

// One dimension is transformed from or to real numbers.
void check_last(const Tensor& input, IntSpan dim) {
  FB_CHECK(!dim.empty(), "expected at least one dimension to transform, got none for shape ",
           input.sizes());
}

// The memory order of the dimensions during the transform and afterwards: those of the batch by
// decreasing stride, then the transformed ones.
Dims transform_order(const Tensor& input, const Dims& dims) {
  Dims order;
  for (int64_t i = 0; i < input.dim(); ++i) {
    if (std::find(dims.begin(), dims.end(), i) == dims.end()) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return larger_stride_first(input, a, b); });
  for (const int64_t dim : dims) order.push_back(dim);
  return order;
}

Tensor restored(const Tensor& t, const Dims& order, double scale) {
  if (scale != 1) ops::mul_(t, scale);
  Dims back(order.size());
  for (size_t i = 0; i < order.size(); ++i) back[order[i]] = static_cast<int64_t>(i);
  return reordered(t, back);
}

}  // namespace

Tensor compute::_fft_c2c(const Tensor& input, IntSpan dim, double scale, bool forward) {
  const Dims dims = transform_dims(input, dim, 0);
  const Dims order = transform_order(input, dims);
  Tensor out = reordered(input, order);
  for (size_t i = 1; i <= dims.size(); ++i)
    out = transform(forward ? FftKind::kForward : FftKind::kBackward, out,
                    input.dim() - static_cast<int64_t>(i));
  if (dims.empty()) out = copy_of(out);
  return restored(out, order, scale);
}

Tensor compute::_fft_r2c(const Tensor& input, IntSpan dim, double scale, bool onesided) {
  check_last(input, dim);
  const Dims dims = transform_dims(input, dim, onesided ? 1 : 0);
  const Dims order = transform_order(input, dims);
  Tensor out = transform(onesided ? FftKind::kFromReal : FftKind::kForward, reordered(input, order),
                         input.dim() - 1);
  for (size_t i = 2; i <= dims.size(); ++i)
    out = transform(FftKind::kForward, out, input.dim() - static_cast<int64_t>(i));
  return restored(out, order, scale);
}

Tensor compute::_fft_c2r(const Tensor& input, IntSpan dim, double scale, int64_t last_size) {
  check_last(input, dim);
  const Dims dims = transform_dims(input, dim, 1);
  const Dims order = transform_order(input, dims);
  Tensor out = reordered(input, order);
  for (size_t i = 2; i <= dims.size(); ++i)
    out = transform(FftKind::kBackward, out, input.dim() - static_cast<int64_t>(i));
  return restored(transform(FftKind::kToReal, out, input.dim() - 1, last_size), order, scale);
}

}  // namespace fb::ops
