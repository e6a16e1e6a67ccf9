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
TypedKernel logspace_kernel("create.cuh", "logspace_element", "SequenceArguments");
TypedKernel indices_kernel("create.cuh", "triangle_index", "TriangleIndices");
TypedKernel triangle_kernel("create.cuh", "clear_element", "TriangleArguments");

// Evenly spaced elements of the result.
device::SequenceArguments between(const Tensor& out, Complex<double> from, Complex<double> to) {
  device::SequenceArguments args{};
  args.out = out.data();
  args.n = out.numel();
  const auto gaps = static_cast<double>(std::max<int64_t>(args.n - 1, 1));
  args.first = from.re, args.first_imag = from.im;
  args.last = to.re, args.last_imag = to.im;
  args.step = (to.re - from.re) / gaps;
  args.step_imag = (to.im - from.im) / gaps;
  return args;
}

void run_sequence(TypedKernel& kernel, const Tensor& out, const device::SequenceArguments& args) {
  const int device = place_of(out);
  use(device);
  launch(device, kernel.on(device, out.dtype()), {blocks_for(args.n, 256)}, 256, args);
}

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
  // The ends are rounded to the result's type first, as integers would be.
  const auto rounded = [&](const Scalar& value) {
    alignas(16) char element[16];
    value.store(out.dtype(), element);
    return Scalar::load(out.dtype(), element).to<Complex<double>>();
  };
  device::SequenceArguments args = between(out, rounded(start), rounded(end));
  // As on the CPU, where this gives PyTorch's results to the last bit.
  if (out.dtype() == DType::kFloat32)
    args.step = static_cast<float>(args.last - args.first) /
                static_cast<float>(std::max<int64_t>(args.n - 1, 1));
  run_sequence(linspace_kernel, out, args);
}

void logspace(const Tensor& out, const Scalar& start, const Scalar& end, double base) {
  if (out.numel() == 0) return;
  // Exponents for integer results are integers, as in PyTorch.
  const auto exponent = [&](const Scalar& value) {
    return is_integral(out.dtype())  ? Complex<double>(static_cast<double>(value.to<int64_t>()))
           : is_complex(out.dtype()) ? value.to<Complex<double>>()
                                     : Complex<double>(value.to<double>());
  };
  device::SequenceArguments args = between(out, exponent(start), exponent(end));
  args.base = base;
  run_sequence(logspace_kernel, out, args);
}

void triangle_indices(const kernel::Triangle& triangle, int64_t* rows, int64_t* columns) {
  device::TriangleIndices args{reinterpret_cast<long long*>(rows),
                               reinterpret_cast<long long*>(columns),
                               0,
                               triangle.first_row,
                               triangle.last_row,
                               triangle.columns,
                               triangle.diagonal,
                               triangle.lower};
  args.n = device::elements_before(args, triangle.last_row - triangle.first_row);
  if (args.n == 0) return;
  const int device = place_of(rows);
  use(device);
  launch(device, indices_kernel.on(device, DType::kInt64), {blocks_for(args.n, 256)}, 256, args);
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
