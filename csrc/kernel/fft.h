// Fourier transforms along one dimension.
#pragma once

#include "core/tensor.h"
#include "kernel/slot.h"

namespace fb::kernel {

// Between complex numbers, from real ones to the half that is not redundant, and back from it.
enum class FftKind : uint8_t { kForward, kBackward, kFromReal, kToReal };

struct Fft {
  // Without scaling, into a new contiguous tensor; `size` is the length of kToReal's result.
  Slot<Tensor(FftKind kind, const Tensor& input, int64_t dim, int64_t size)> fft;
};

}  // namespace fb::kernel
