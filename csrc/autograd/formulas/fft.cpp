// Gradients of Fourier transforms that leave out half of a spectrum.
//
// Note [Half spectra]: the transform of real points is Hermitian, so half of it is enough: the
// frequencies 0 ... n/2. Those strictly between the ends stand for two, themselves and their
// mirror images. _fft_c2r counts them twice; _fft_r2c gives them once, so that its adjoint counts
// them once.
#include "autograd/formulas/fft.h"

#include "autograd/formula.h"
#include "gen/ops/create.h"
#include "gen/ops/fft.h"
#include "gen/ops/view.h"

namespace fb::autograd::formula {
namespace {

// Multiplies the frequencies between the ends of half a spectrum of `size` points.
Tensor inner_frequencies_times(double factor, const Tensor& half, int64_t dim, int64_t size) {
  const int64_t count = half.size(dim);
  const Tensor weights = ops::full({count}, factor, real_type(half.dtype()), half.device());
  ops::fill_(ops::select(weights, 0, 0), 1);
  if (size % 2 == 0) ops::fill_(ops::select(weights, 0, count - 1), 1);
  Dims sizes(half.dim(), 1);
  sizes[wrap_dim(dim, half.dim())] = count;
  return half * ops::view(weights, sizes);
}

}  // namespace

Tensor fft_real_input_backward(const Tensor& grad, IntSpan dim, double scale, bool onesided,
                               IntSpan sizes) {
  if (!onesided) return ops::real(ops::_fft_c2c(grad, dim, scale, false));
  const int64_t last = dim[dim.size() - 1];
  const int64_t size = sizes[wrap_dim(last, grad.dim())];
  const Tensor once = inner_frequencies_times(0.5, grad, last, size);
  return ops::_fft_c2r(once, dim, scale, size);
}

Tensor fft_half_spectrum_backward(const Tensor& grad, IntSpan dim, double scale) {
  const int64_t last = dim[dim.size() - 1];
  const Tensor half = ops::_fft_r2c(grad, dim, scale, true);
  return inner_frequencies_times(2, half, last, grad.size(last));
}

}  // namespace fb::autograd::formula
