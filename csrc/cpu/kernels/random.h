// The vectorised steps of random.cpp. Two words make a 53-bit number, the first its upper half.
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "cpu/isa.h"

namespace fb::cpu {

// Words to uniform numbers on [from, to) of a floating type: two words each for float64, one for
// the others.
FB_DECLARE_KERNEL(void, words_to_uniform, DType dtype, const uint32_t* words, void* out, int64_t n,
                  double from, double to)
// 1.0 where the number made of two words is below the threshold, 0.0 elsewhere.
FB_DECLARE_KERNEL(void, words_below, const uint32_t* words, double* out, int64_t n,
                  int64_t threshold)
// The same as truth values.
FB_DECLARE_KERNEL(void, words_below_flags, const uint32_t* words, uint8_t* out, int64_t n,
                  int64_t threshold)
// base + word % range, for a range below 2^28 or a power of two.
FB_DECLARE_KERNEL(void, words_modulo, const uint32_t* words, int64_t* out, int64_t n,
                  uint32_t range, int64_t base)
// scale * log(1 - u) for u in [0, 1), in place.
FB_DECLARE_KERNEL(void, scaled_log1m, double* data, int64_t n, double scale)
// Turns blocks of 16 uniform numbers on [0, 1) into normal ones, in place.
FB_DECLARE_KERNEL(void, box_muller, float* data, int64_t blocks, float mean, float std)

}  // namespace fb::cpu
