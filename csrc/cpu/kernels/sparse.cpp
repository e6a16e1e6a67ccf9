// Kernels on the rows of tables that a sparse tensor has values for.
#include "cpu/kernels/float_loops.h"
#include "cpu/optim.h"
#include "cpu/threads.h"
#include "scalar/optim.h"

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
  const scalar::optim::AdamRow<A> rule(numbers);
#pragma omp simd
  for (int64_t i = 0; i < width; ++i) {
    A average = convert<A>(row.states[0][i]), square = convert<A>(row.states[1][i]);
    const A moved =
        rule.step(convert<A>(row.parameter[i]), convert<A>(row.gradient[i]), average, square);
    row.states[0][i] = convert<T>(average);
    row.states[1][i] = convert<T>(square);
    row.parameter[i] = convert<T>(moved);
  }
}

template <class T>
FB_FN void step_adagrad(const Row<T>& row, int64_t width, const AdagradRowNumbers& numbers) {
  using A = AccOf<T>;
  const scalar::optim::AdagradRow<A> rule(numbers);
#pragma omp simd
  for (int64_t i = 0; i < width; ++i) {
    A sum = convert<A>(row.states[0][i]);
    const A moved = rule.step(convert<A>(row.parameter[i]), convert<A>(row.gradient[i]), sum);
    row.states[0][i] = convert<T>(sum);
    row.parameter[i] = convert<T>(moved);
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
