// Sequences of numbers.
#include "cuda/create.h"

#include <algorithm>

#include "cuda/device/create_args.h"
#include "cuda/launch.h"
#include "cuda/loop.h"
#include "cuda/typed_kernel.h"

namespace fb::cuda {
namespace {

TypedKernel arange_kernel("create.cuh", "arange_element", "SequenceArguments");
TypedKernel linspace_kernel("create.cuh", "linspace_element", "SequenceArguments");
TypedKernel triangle_kernel("create.cuh", "clear_element", "TriangleArguments");

}  // namespace

void arange(const Tensor& out, const Scalar& start, const Scalar& step) {
  if (out.numel() == 0) return;
  const int device = place_of(out);
  use(device);
  device::SequenceArguments args{};
  args.out = out.data();
  args.n = out.numel();
  if (is_integral(out.dtype())) {
    args.first_integer = start.to<int64_t>();
    args.step_integer = step.to<int64_t>();
  } else {
    args.first = start.to<double>();
    args.step = step.to<double>();
  }
  launch(device, arange_kernel.on(device, out.dtype()), {blocks_for(args.n, 256)}, 256, args);
}

void linspace(const Tensor& out, const Scalar& start, const Scalar& end) {
  if (out.numel() == 0) return;
  const int device = place_of(out);
  use(device);
  device::SequenceArguments args{};
  args.out = out.data();
  args.n = out.numel();
  // The ends are rounded to the result's type first, as integers would be.
  const auto rounded = [&](const Scalar& value) {
    alignas(16) char element[16];
    value.store(out.dtype(), element);
    return Scalar::load(out.dtype(), element).to<Complex<double>>();
  };
  const Complex<double> from = rounded(start), to = rounded(end);
  const auto gaps = static_cast<double>(std::max<int64_t>(args.n - 1, 1));
  args.first = from.re, args.first_imag = from.im;
  args.last = to.re, args.last_imag = to.im;
  args.step = (to.re - from.re) / gaps;
  args.step_imag = (to.im - from.im) / gaps;
  // As on the CPU, where this gives PyTorch's results to the last bit.
  if (out.dtype() == DType::kFloat32)
    args.step = static_cast<float>(to.re - from.re) / static_cast<float>(gaps);
  launch(device, linspace_kernel.on(device, out.dtype()), {blocks_for(args.n, 256)}, 256, args);
}

void clear_triangle(const Tensor& t, int64_t diagonal, bool lower) {
  if (t.numel() == 0) return;
  const int device = place_of(t);
  use(device);
  const int64_t rows = t.size(-2), columns = t.size(-1);
  const device::TriangleArguments args{
      t.data(), t.numel(), rows, columns, std::clamp(diagonal, -rows, columns), lower};
  launch(device, triangle_kernel.on(device, t.dtype()), {blocks_for(args.n, 256)}, 256, args);
}

}  // namespace fb::cuda
