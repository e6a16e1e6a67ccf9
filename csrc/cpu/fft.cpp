// Fourier transforms by the library that was registered.
#include "cpu/fft.h"

namespace fb::cpu {

Tensor fft(FftKind kind, const Tensor& input, int64_t dim, int64_t size) {
  FB_CHECK(fft_library, "no library for Fourier transforms was registered");
  return fft_library(kind, input, dim, size);
}

}  // namespace fb::cpu
