// How Fourier transforms reach a library that this folder cannot know.
#pragma once

#include "ops/types.h"

namespace fb::ops {

// Set once by the Python binding, to NumPy's transforms. `name` is fft, ifft, rfft or irfft; each
// works along one dimension without scaling and returns a contiguous tensor; `size` is the length
// of irfft's result.
using FftHook = Tensor (*)(const char* name, const Tensor& input, int64_t dim, int64_t size);
inline FftHook fft_hook = nullptr;

}  // namespace fb::ops
