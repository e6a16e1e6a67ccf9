// Kernels on the rows of tables that a sparse tensor has values for.
#include "cpu/sparse.h"

#include <cmath>

#include "cpu/kernels/float_loops.h"
#include "cpu/threads.h"

namespace fb::cpu::FB_ISA {
namespace {

template <class T>
struct AdamRow {
  T *parameter, *average, *squares;
  const T* gradient;
};

template <class T>
FB_FN void step_row(const AdamRow<T>& row, int64_t width, const AdamNumbers& numbers) {
  using A = AccOf<T>;
  const A keep1 = static_cast<A>(1 - numbers.beta1), keep2 = static_cast<A>(1 - numbers.beta2);
  const A step = static_cast<A>(-numbers.step_size), eps = static_cast<A>(numbers.eps);
  const A sign = numbers.maximize ? A(-1) : A(1);
#pragma omp simd
  for (int64_t i = 0; i < width; ++i) {
    const A g = convert<A>(row.gradient[i]) * sign;
    const A m = convert<A>(row.average[i]), v = convert<A>(row.squares[i]);
    const A next_m = m + (g - m) * keep1, next_v = v + (g * g - v) * keep2;
    row.average[i] = convert<T>(next_m);
    row.squares[i] = convert<T>(next_v);
    const A change = next_m / (std::sqrt(next_v) + eps) * step;
    row.parameter[i] = convert<T>(convert<A>(row.parameter[i]) + change);
  }
}

}  // namespace

void step_adam_rows(const AdamRows& on, const AdamNumbers& numbers) {
  with_floating(on.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_for(on.count, kGrain / (on.width * 8 + 1) + 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t at = on.rows[i] * on.width;
        step_row<T>({static_cast<T*>(on.parameter) + at, static_cast<T*>(on.average) + at,
                     static_cast<T*>(on.average_of_squares) + at,
                     static_cast<const T*>(on.gradients) + i * on.width},
                    on.width, numbers);
      }
    });
  });
}

}  // namespace fb::cpu::FB_ISA
