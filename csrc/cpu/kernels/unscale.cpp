// Gradients of a scaled loss: unscaled and checked for infinities in one pass. And the scale.
#include <atomic>
#include <bit>

#include "cpu/optim.h"
#include "cpu/threads.h"
#include "scalar/optim.h"

namespace fb::cpu::FB_ISA {
namespace {

// The exponent of infinities and NaNs is all ones. Testing bits keeps the loop free of branches.
bool unscale_part(float* x, int64_t n, float factor) {
  constexpr uint32_t kExponent = 0x7f800000;
  uint32_t bad = 0;
  for (int64_t i = 0; i < n; ++i) {
    bad |= (std::bit_cast<uint32_t>(x[i]) & kExponent) == kExponent;
    x[i] *= factor;
  }
  return !bad;
}
bool unscale_part(double* x, int64_t n, double factor) {
  constexpr uint64_t kExponent = 0x7ff0000000000000;
  uint64_t bad = 0;
  for (int64_t i = 0; i < n; ++i) {
    bad |= (std::bit_cast<uint64_t>(x[i]) & kExponent) == kExponent;
    x[i] *= factor;
  }
  return !bad;
}

// Returns whether all were finite.
template <class T>
bool unscale_all(T* data, int64_t n, T factor) {
  std::atomic<bool> finite = true;
  parallel_for(n, kGrain, [&](int64_t begin, int64_t end) {
    if (!unscale_part(data + begin, end - begin, factor)) finite = false;
  });
  return finite;
}

}  // namespace

void unscale(std::span<const OptimTensor> tensors, const float* factor, float* found_inf) {
  bool finite = true;
  for (const OptimTensor& t : tensors)
    finite &= t.dtype == DType::kFloat64
                  ? unscale_all(static_cast<double*>(t.param), t.n, double{*factor})
                  : unscale_all(static_cast<float*>(t.param), t.n, *factor);
  if (!finite) *found_inf = 1;
}

void update_scale(float* scale, int32_t* steps, const float* found_inf,
                  const ScaleNumbers& numbers) {
  scalar::optim::update_scale(numbers, *found_inf != 0, *scale, *steps);
}

}  // namespace fb::cpu::FB_ISA
