// Derivatives of samples with respect to their parameters.
#include "cpu/random.h"
#include "cpu/threads.h"
#include "scalar/sample_gradients.h"

namespace fb::cpu {
namespace {

constexpr int64_t kSamples = 256;  // worth a thread

}  // namespace

void gamma_gradient(DType dtype, void* out, int64_t n, const void* shape, const void* sample) {
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_for(n, kSamples, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        static_cast<T*>(out)[i] = static_cast<T>(
            scalar::gamma_slope(static_cast<const T*>(shape)[i], static_cast<const T*>(sample)[i],
                                scalar::kSlopeTolerance<T>));
    });
  });
}

void dirichlet_gradient(DType dtype, void* out, int64_t n, const void* sample,
                        const void* concentration, const void* total) {
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_for(n, kSamples, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const double a = static_cast<const T*>(concentration)[i];
        const double b = static_cast<const T*>(total)[i] - a;
        static_cast<T*>(out)[i] = static_cast<T>(
            scalar::beta_slope(a, b, static_cast<const T*>(sample)[i], scalar::kSlopeTolerance<T>));
      }
    });
  });
}

}  // namespace fb::cpu
