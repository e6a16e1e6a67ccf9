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

// Along one dimension; otherwise the tensors have the same shape.
struct Transform {
  FftKind kind;
  bool backward;
  int64_t size;
  double scale = 1;
  bool mirrored = false;

  void operator()(const Tensor& in, const Tensor& out, int64_t dim) const {
    kernel::FftPlan plan{.kind = kind,
                         .backward = backward,
                         .mirrored = mirrored,
                         .real_dtype = real_type(in.dtype()),
                         .size = size,
                         .scale = scale,
                         .in = in.data(),
                         .out = out.data(),
                         .in_stride = in.strides()[dim],
                         .out_stride = out.strides()[dim],
                         .batch = {},
                         .in_batch_strides = {},
                         .out_batch_strides = {}};
    for (int64_t i = 0; i < in.dim(); ++i) {
      if (i == dim) continue;
      plan.batch.push_back(in.sizes()[i]);
      plan.in_batch_strides.push_back(in.strides()[i]);
      plan.out_batch_strides.push_back(out.strides()[i]);
    }
    kernel::of(in).fft(plan);
  }
};

// Complex transforms of the dimensions from `begin` to `end`, counted from the last one; all but
// the first of them in place.
void transform_all(const Tensor& in, const Tensor& out, size_t begin, size_t end, bool backward,
                   double scale) {
  for (size_t i = begin; i < end; ++i) {
    const int64_t dim = in.dim() - 1 - static_cast<int64_t>(i);
    const Transform transform{FftKind::kComplex, backward, in.size(dim), i == begin ? scale : 1};
    transform(i == begin ? in : out, out, dim);
  }
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

Tensor restored(const Tensor& t, const Dims& order) {
  Dims back(order.size());
  for (size_t i = 0; i < order.size(); ++i) back[order[i]] = static_cast<int64_t>(i);
  return reordered(t, back);
}

}  // namespace

Tensor compute::_fft_c2c(const Tensor& input, IntSpan dim, double scale, bool forward) {
  const Dims dims = transform_dims(input, dim, 0);
  const Dims order = transform_order(input, dims);
  const Tensor in = reordered(input, order);
  if (dims.empty()) {
    const Tensor out = copy_of(in);
    if (scale != 1) ops::mul_(out, scale);
    return restored(out, order);
  }
  const Tensor out = make_tensor(in.sizes(), in.dtype(), in.device());
  transform_all(in, out, 0, dims.size(), !forward, scale);
  return restored(out, order);
}

Tensor compute::_fft_r2c(const Tensor& input, IntSpan dim, double scale, bool onesided) {
  check_last(input, dim);
  const Dims dims = transform_dims(input, dim, onesided ? 1 : 0);
  const Dims order = transform_order(input, dims);
  const Tensor in = reordered(input, order);
  const int64_t size = in.size(-1);
  Dims sizes = in.sizes().vec();
  if (onesided) sizes.back() = size / 2 + 1;
  const Tensor out = make_tensor(sizes, complex_type(in.dtype()), in.device());
  Transform{FftKind::kFromReal, false, size, scale, !onesided}(in, out, in.dim() - 1);
  transform_all(out, out, 1, dims.size(), false, 1);
  return restored(out, order);
}

Tensor compute::_fft_c2r(const Tensor& input, IntSpan dim, double scale, int64_t last_size) {
  check_last(input, dim);
  const Dims dims = transform_dims(input, dim, 1);
  const Dims order = transform_order(input, dims);
  Tensor in = reordered(input, order);
  FB_CHECK(last_size > 0 && in.size(-1) > last_size / 2, "got ", in.size(-1), " frequencies for ",
           last_size, " real points");
  if (dims.size() > 1) {
    const Tensor transformed = make_tensor(in.sizes(), in.dtype(), in.device());
    transform_all(in, transformed, 1, dims.size(), true, 1);
    in = transformed;
  }
  Dims sizes = in.sizes().vec();
  sizes.back() = last_size;
  const Tensor out = make_tensor(sizes, real_type(in.dtype()), in.device());
  Transform{FftKind::kToReal, true, last_size, scale}(in, out, in.dim() - 1);
  return restored(out, order);
}

}  // namespace fb::ops
