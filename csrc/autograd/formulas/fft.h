// Gradients of Fourier transforms that leave out half of a spectrum.
#pragma once

#include "ops/types.h"

namespace fb::autograd::formula {

// Of the real input of _fft_r2c, which had the given sizes.
Tensor fft_real_input_backward(const Tensor& grad, IntSpan dim, double scale, bool onesided,
                               IntSpan sizes);
// Of the half spectrum that _fft_c2r was given.
Tensor fft_half_spectrum_backward(const Tensor& grad, IntSpan dim, double scale);

}  // namespace fb::autograd::formula
