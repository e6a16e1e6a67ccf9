// Code shared by the kernels of optimisers: the pass over all tensors.
#pragma once

#include <algorithm>
#include <utility>

#include "cpu/kernels/float_loops.h"
#include "cpu/kernels/loops.h"
#include "cpu/optim.h"
#include "cpu/threads.h"
#include "scalar/optim.h"

namespace fb::cpu::FB_ISA {
namespace {

using namespace scalar::optim;

// Steps with n elements of each; operators round as E does. Called, not inlined: the compiler then
// knows that the arguments do not alias.
template <class E, class Rule, class Numbers, class A, class... S>
__attribute__((noinline)) void step_run(const Numbers& numbers, int64_t n, A* __restrict param,
                                        const A* __restrict grad, S* __restrict... state) {
  const Rule rule(numbers);
  FB_IVDEP
  for (int64_t i = 0; i < n; ++i) param[i] = rule.template step<E>(param[i], grad[i], state[i]...);
}

// n elements from `begin` on, of a type that is computed in directly.
template <class Rule, class T, class Numbers, size_t... K>
void update_run(const Numbers& numbers, const OptimTensor& t, int64_t begin, int64_t n,
                std::index_sequence<K...>) {
  step_run<Elementwise<T>, Rule>(numbers, n, static_cast<T*>(t.param) + begin,
                                 static_cast<const T*>(t.grad) + begin,
                                 (static_cast<T*>(t.state[Rule::kSlots[K]]) + begin)...);
}

// The 16-bit floats, a block at a time in floats.
template <class Rule, class T, class Numbers, size_t... K>
void update_reduced(const Numbers& numbers, const OptimTensor& t, int64_t begin, int64_t n,
                    std::index_sequence<K...>) {
  constexpr int64_t kBlock = 256;
  float param[kBlock], grad[kBlock], state[kOptimStates][kBlock];
  for (int64_t first = begin; first < begin + n; first += kBlock) {
    const int64_t count = std::min(kBlock, begin + n - first);
    const auto at = [&](void* elements) { return static_cast<T*>(elements) + first; };
    widen(at(t.param), param, count);
    widen(static_cast<const T*>(t.grad) + first, grad, count);
    (widen(at(t.state[Rule::kSlots[K]]), state[K], count), ...);
    step_run<Elementwise<T>, Rule>(numbers, count, param, grad, state[K]...);
    narrow(param, at(t.param), count);
    (narrow(state[K], at(t.state[Rule::kSlots[K]]), count), ...);
  }
}

// Rule<A> steps with elements of one tensor, whose numbers it is made of.
template <template <class> class Rule, class Numbers>
void update_part(const OptimTensor& t, int64_t begin, int64_t n) {
  const Numbers& numbers = *static_cast<const Numbers*>(t.numbers);
  with_floating(t.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using R = Rule<AccOf<T>>;
    constexpr auto states = std::make_index_sequence<R::kStates>();
    if constexpr (kIsFloat<T>)
      update_run<R, T>(numbers, t, begin, n, states);
    else
      update_reduced<R, T>(numbers, t, begin, n, states);
  });
}

// Walks through the elements of all tensors as if they were contiguous.
class Walk {
 public:
  explicit Walk(std::span<const OptimTensor> tensors) : tensors_(tensors) {}

  // Calls part(tensor, begin, n) for the elements from `begin` to `end`; never goes back.
  template <class Part>
  void visit(int64_t begin, int64_t end, Part part) {
    while (start_ + tensors_[first_].n <= begin) start_ += tensors_[first_++].n;
    int64_t start = start_;
    for (size_t i = first_; i < tensors_.size() && start < end; start += tensors_[i++].n) {
      const int64_t from = std::max(begin - start, int64_t{0});
      const int64_t to = std::min(end - start, tensors_[i].n);
      if (from < to) part(tensors_[i], from, to - from);
    }
  }

 private:
  std::span<const OptimTensor> tensors_;
  size_t first_ = 0;   // the first tensor that is not passed yet
  int64_t start_ = 0;  // and how many elements are before it
};

// Calls part(tensor, begin, n) until all elements are done, on all threads if there are many. The
// threads take alternating parts: streams close together in memory are faster than distant ones.
template <class Part>
void for_all_tensors(std::span<const OptimTensor> tensors, Part part) {
  constexpr int64_t kTurn = 1 << 16;
  int64_t total = 0;
  for (const OptimTensor& t : tensors) total += t.n;
  static_assert(kernel::kSmallStep <= kGrain, "small steps keep the lock");
  if (total <= kGrain) {
    for (const OptimTensor& t : tensors) part(t, 0, t.n);
    return;
  }
  const BlockingRegion unlocked(true);
  const int64_t threads = std::min<int64_t>(num_threads(), (total + kGrain - 1) / kGrain);
  const int64_t share = ((total + threads - 1) / threads + 63) / 64 * 64;
  const int64_t turn = std::min(kTurn, share);
  parallel_for(threads, 1, [&](int64_t first, int64_t last) {
    for (int64_t thread = first; thread < last; ++thread) {
      Walk walk(tensors);
      for (int64_t begin = thread * turn; begin < total; begin += threads * turn)
        walk.visit(begin, std::min(total, begin + turn), part);
    }
  });
}

}  // namespace
}  // namespace fb::cpu::FB_ISA
