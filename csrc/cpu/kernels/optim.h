// Code shared by the kernels of optimisers: the arithmetic of one element, and the pass over all
// tensors.
//
// Note [Steps, operator by operator]: a step is written below with the operators that its composed
// form in flambeau/optim uses, each rounded as the operator rounds it. So both forms, and PyTorch,
// agree to the last bit wherever their square roots do. The files that include this are compiled
// without contraction of products and sums: where an operator has a fused one, it says so.
#pragma once

#include <algorithm>
#include <utility>

#include "cpu/kernels/float_loops.h"
#include "cpu/kernels/loops.h"
#include "cpu/optim.h"
#include "cpu/threads.h"
#include "scalar/math.h"

namespace fb::cpu::FB_ISA {
namespace {

// A choice that is the same for all elements, made by bit operations: the compiler would turn a
// condition into branches, and not vectorise loops with square roots or fused products.
template <class A>
class Choice {
  using Bits = std::conditional_t<std::is_same_v<A, double>, uint64_t, uint32_t>;
  Bits bits_;

 public:
  explicit Choice(bool yes) : bits_(yes ? ~Bits(0) : Bits(0)) {}
  FB_FN A operator()(A yes, A no) const {
    return bit_cast<A>((bit_cast<Bits>(yes) & bits_) | (bit_cast<Bits>(no) & ~bits_));
  }
  // -x or x.
  FB_FN A negated(A x) const {
    return bit_cast<A>(bit_cast<Bits>(x) ^ (bits_ & math::Format<A>::kSignBit));
  }
};

// Operators on elements of type T, computed in A.
template <class T>
struct Elementwise {
  using A = AccOf<T>;

  static FB_FN A round(A x) {
    if constexpr (std::is_same_v<T, A>)
      return x;
    else
      return static_cast<A>(T(x));
  }
  static FB_FN A fused(A a, A b, A c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    if constexpr (std::is_same_v<A, double>)
      return __builtin_fma(a, b, c);
    else
      return __builtin_fmaf(a, b, c);
#else
    return a * b + c;
#endif
  }

  static FB_FN A mul(A a, A b) { return round(a * b); }
  static FB_FN A div(A a, A b) { return round(a / b); }
  static FB_FN A add(A a, A b) { return round(a + b); }
  static FB_FN A sqrt(A a) { return round(math::sqrt(a)); }
  static FB_FN A reciprocal(A a) { return round(A(1) / a); }
  static FB_FN A add_times(A x, A a, A alpha) { return round(fused(a, round(alpha), x)); }
  static FB_FN A addcmul(A x, A a, A b, A value) { return round(fused(value * a, b, x)); }
  static FB_FN A addcdiv(A x, A a, A b, A value) { return round(x + value * a / b); }
  static FB_FN A maximum(A a, A b) { return (a > b) | (a != a) ? a : b; }
  static FB_FN A sign(A a) { return static_cast<A>((a > A(0)) - (a < A(0))); }
};

// The beginning of most steps: the direction, and weight decay.
template <class A>
struct Gradient {
  Choice<A> maximize, decays;
  A weight_decay;

  template <class N>
  explicit Gradient(const N& numbers)
      : maximize(numbers.maximize),
        decays(numbers.weight_decay != 0),
        weight_decay(static_cast<A>(numbers.weight_decay)) {}

  template <class E>
  FB_FN A of(A grad, A param) const {
    const A turned = maximize.negated(grad);
    return decays(E::add_times(turned, param, weight_decay), turned);
  }
};

// The operator lerp, which starts from the nearer end.
template <class A>
struct Average {
  Choice<A> from_old;
  A weight;

  explicit Average(double share)
      : from_old(-0.5 < share && share < 0.5),
        weight(from_old(static_cast<A>(share), static_cast<A>(share) - A(1))) {}

  template <class E>
  FB_FN A of(A old, A added) const {
    return E::round(E::fused(weight, added - old, from_old(old, added)));
  }
};

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
