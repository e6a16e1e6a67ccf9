// How Fourier transforms reach a library that this folder cannot know.
#pragma once

#include "cpu/isa.h"
#include "kernel/fft.h"

namespace fb::cpu {

using kernel::FftKind;

FB_DECLARE_SLOT(kernel::Fft, fft)

// Set once by the Python binding, to NumPy's transforms.
inline decltype(kernel::Fft::fft)::Function* fft_library = nullptr;

}  // namespace fb::cpu
