// Euclidean distances between pairs of rows, without their differences in memory.
#include "cpu/pair_distance.h"

#include "cpu/kernels/fold.h"
#include "cpu/kernels/loops.h"
#include "scalar/math.h"

namespace fb::cpu::FB_ISA {
namespace {

// f(row, first, second) for every pair of rows.
template <class T, class F>
void for_pairs(const PairCall& call, F&& f) {
  const T* const first = static_cast<const T*>(call.first);
  const T* const second = static_cast<const T*>(call.second);
  parallel_for(call.rows, ceil_div(kGrain / 2, call.columns + 1), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) f(r, first + r * call.columns, second + r * call.columns);
  });
}

template <class T>
void distances(const PairCall& call, T* out) {
  const T eps = static_cast<T>(call.eps);
  for_pairs<T>(call, [&](int64_t r, const T* x, const T* y) {
    double total = 0;
    for (int64_t first = 0; first < call.columns; first += kBlock) {
      const int64_t last = min64(call.columns, first + kBlock);
      T sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int64_t c = first; c < last; ++c) {
        const T d = (x[c] - y[c]) + eps;
        sum += d * d;
      }
      total += static_cast<double>(sum);
    }
    out[r] = static_cast<T>(math::sqrt(total));
  });
}

template <class T>
void gradient(const PairCall& call, const T* gradients, const T* distances, T* out) {
  const T eps = static_cast<T>(call.eps);
  for_pairs<T>(call, [&](int64_t r, const T* x, const T* y) {
    const T scale = distances[r] == T(0) ? T(0) : gradients[r] / distances[r];
    T* const __restrict to = out + r * call.columns;
    FB_IVDEP
    for (int64_t c = 0; c < call.columns; ++c) to[c] = scale * ((x[c] - y[c]) + eps);
  });
}

}  // namespace

void pair_distances(const PairCall& call, void* out) {
  if (call.dtype == DType::kFloat32) return distances(call, static_cast<float*>(out));
  distances(call, static_cast<double*>(out));
}

void pair_gradient(const PairCall& call, const void* gradients, const void* distances, void* out) {
  if (call.dtype == DType::kFloat32)
    return gradient(call, static_cast<const float*>(gradients),
                    static_cast<const float*>(distances), static_cast<float*>(out));
  gradient(call, static_cast<const double*>(gradients), static_cast<const double*>(distances),
           static_cast<double*>(out));
}

}  // namespace fb::cpu::FB_ISA
