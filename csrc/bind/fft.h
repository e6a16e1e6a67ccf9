// Fourier transforms by NumPy.
#pragma once

namespace fb::bind {

// Makes NumPy's transforms the ones that operators use. NumPy itself is imported by the first
// transform.
void register_fft();

}  // namespace fb::bind
