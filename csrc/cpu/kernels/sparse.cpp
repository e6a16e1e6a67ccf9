// Kernels on the rows of tables that a sparse tensor has values for.
#include <cmath>

#include "cpu/kernels/float_loops.h"
#include "cpu/optim.h"
#include "cpu/threads.h"

namespace fb::cpu::FB_ISA {
namespace {

template <class T>
struct Row {
  const T* gradient;
  T* parameter;
  T* states[2];
};

// Calls step(row) for the rows of each thread, with elements of the type that they have.
template <class Step>
void each_row(const StepRows& on, Step step) {
  with_floating(on.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_for(on.count, kGrain / (on.width * 8 + 1) + 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t at = on.rows[i] * on.width;
        step(Row<T>{static_cast<const T*>(on.gradients) + i * on.width,
                    static_cast<T*>(on.parameter) + at,
                    {static_cast<T*>(on.states[0]) + at, static_cast<T*>(on.states[1]) + at}});
      }
    });
  });
}

template <class T>
FB_FN void step_adam(const Row<T>& row, int64_t width, const AdamRowNumbers& numbers) {
  using A = AccOf<T>;
  const A keep1 = static_cast<A>(1 - numbers.beta1), keep2 = static_cast<A>(1 - numbers.beta2);
  const A step = static_cast<A>(-numbers.step_size), eps = static_cast<A>(numbers.eps);
  const A sign = numbers.maximize ? A(-1) : A(1);
#pragma omp simd
  for (int64_t i = 0; i < width; ++i) {
    const A g = convert<A>(row.gradient[i]) * sign;
    const A m = convert<A>(row.states[0][i]), v = convert<A>(row.states[1][i]);
    const A next_m = m + (g - m) * keep1, next_v = v + (g * g - v) * keep2;
    row.states[0][i] = convert<T>(next_m);
    row.states[1][i] = convert<T>(next_v);
    const A change = next_m / (std::sqrt(next_v) + eps) * step;
    row.parameter[i] = convert<T>(convert<A>(row.parameter[i]) + change);
  }
}

template <class T>
FB_FN void step_adagrad(const Row<T>& row, int64_t width, const AdagradRowNumbers& numbers) {
  using A = AccOf<T>;
  const A rate = static_cast<A>(numbers.maximize ? numbers.rate : -numbers.rate);
  const A eps = static_cast<A>(numbers.eps);
#pragma omp simd
  for (int64_t i = 0; i < width; ++i) {
    const A g = convert<A>(row.gradient[i]);
    const A sum = convert<A>(row.states[0][i]) + g * g;
    row.states[0][i] = convert<T>(sum);
    const A change = g / (std::sqrt(sum) + eps) * rate;
    row.parameter[i] = convert<T>(convert<A>(row.parameter[i]) + change);
  }
}

}  // namespace

void step_adam_rows(const StepRows& on, const AdamRowNumbers& numbers) {
  each_row(on, [&](const auto& row) { step_adam(row, on.width, numbers); });
}

void step_adagrad_rows(const StepRows& on, const AdagradRowNumbers& numbers) {
  each_row(on, [&](const auto& row) { step_adagrad(row, on.width, numbers); });
}

}  // namespace fb::cpu::FB_ISA
