// The forward-backward algorithm of connectionist temporal classification, in logarithms. All
// states of a step are computed side by side.
#include "cpu/ctc.h"

#include <utility>
#include <vector>

#include "cpu/kernels/exp.h"
#include "cpu/kernels/fold.h"
#include "cpu/kernels/loops.h"
#include "scalar/math.h"

namespace fb::cpu::FB_ISA {
namespace {

template <class T>
FB_FN T larger(T a, T b) {
  return a > b ? a : b;
}

// log(exp(a) + exp(b) + exp(c)); -inf if all three are.
template <class T>
FB_FN T log_sum(T a, T b, T c) {
  const T top = larger(larger(a, b), c);
  const T shift = top == lowest<T>() ? T(0) : top;
  const T sum =
      exp_nonpositive(a - shift) + exp_nonpositive(b - shift) + exp_nonpositive(c - shift);
  // From 1 to 3, where a logarithm needs no care. It is also finite for the sum 0 of three -inf.
  const math::LogParts<T> parts = math::log_parts_normal(sum);
  const T low = math::log_tail(parts.f, T(1), parts.k * math::kLn2Lo<T>);
  const T log = parts.k * math::kLn2Hi<T> + (parts.f + low);
  return sum < T(4) ? top + log : sum;  // NaN passes
}

// One sequence and its target: labels with blanks before, between and after them. Arrays of states
// are filled up to whole vectors with impossible ones.
template <class T>
class Sequence {
 public:
  Sequence(const CtcCall& call, int64_t index)
      : log_probs_(static_cast<const T*>(call.log_probs) + index * call.classes),
        stride_(call.batch * call.classes),
        steps_(call.input_lengths[index]),
        labels_(call.target_lengths[index]),
        target_(call.targets + call.target_starts[index]),
        blank_(call.blank),
        vectors_((states() + kLanes<T> - 1) / kLanes<T>),
        jump_(room(kAhead), lowest<T>()),
        emitted_(room(0), lowest<T>()) {
    // A blank between two labels may be left out, unless they are equal.
    for (int64_t i = 1; i < labels_; ++i)
      if (target_[i] != target_[i - 1]) jump_[at(2 * i + 1)] = 0;
  }

  int64_t steps() const { return steps_; }

  // Fills `alpha`, rows of which are `row` apart, and returns -log of the probability.
  T forward(T* alpha, int64_t row) {
    if (steps_ == 0) return labels_ == 0 ? T(0) : highest<T>();
    // Two impossible states precede the first.
    std::vector<T> one(room(kAhead), lowest<T>()), other = one;
    T* before = one.data() + kAhead;
    T* now = other.data() + kAhead;
    emit(0);
    for (int64_t s = 0; s < 2 && s < states(); ++s) now[s] = emitted_[at(s)];
    copy(alpha, now);
    for (int64_t t = 1; t < steps_; ++t) {
      std::swap(before, now);
      emit(t);
      advance(before, now);
      copy(alpha + t * row, now);
    }
    const T last_label = labels_ > 0 ? now[states() - 2] : lowest<T>();
    return -log_sum(now[states() - 1], last_label, lowest<T>());
  }

  // out[t][c] = scale * (exp(log_probs) - the share of alignments that emit c at step t).
  void backward(const T* alpha, int64_t row, T loss, T scale, T* out, int64_t classes) {
    std::vector<T> one(room(kAhead), lowest<T>()), other = one, reached(room(0), lowest<T>());
    T* after = one.data();
    T* beta = other.data();
    for (int64_t t = steps_ - 1; t >= 0; --t) {
      emit(t);
      if (t == steps_ - 1) {
        for (int64_t s = labels_ > 0 ? states() - 2 : 0; s < states(); ++s)
          beta[s] = emitted_[at(s)];
      } else {
        std::swap(after, beta);
        retreat(after, beta);
      }
      copy(reached.data(), alpha + t * row);
      take_shares(beta, loss, reached.data());
      write_gradient(t, reached.data(), scale, out + t * stride_, classes);
    }
  }

 private:
  static constexpr int64_t kAhead = 2;  // states from which a step leads to one, besides itself

  static size_t at(int64_t s) { return static_cast<size_t>(s); }

  int64_t states() const { return 2 * labels_ + 1; }
  size_t room(int64_t more) const { return at(vectors_ * kLanes<T> + more); }

  void copy(T* to, const T* from) const { __builtin_memcpy(to, from, at(states()) * sizeof(T)); }

  // The log probability of each state's label at a step.
  void emit(int64_t t) {
    const T* const step = log_probs_ + t * stride_;
    const T blank = step[blank_];
    T* const emitted = emitted_.data();
    for (int64_t i = 0; i < labels_; ++i) {
      emitted[2 * i] = blank;
      emitted[2 * i + 1] = step[target_[i]];
    }
    emitted[2 * labels_] = blank;
  }

  void advance(const T* before, T* now) const {
    const T* const emitted = emitted_.data();
    const T* const jump = jump_.data();
    for (int64_t v = 0; v < vectors_; ++v) {
      const int64_t first = v * kLanes<T>;
      FB_IVDEP
      for (int64_t s = first; s < first + kLanes<T>; ++s)
        now[s] = emitted[s] + log_sum(before[s], before[s - 1], before[s - 2] + jump[s]);
    }
  }

  void retreat(const T* after, T* beta) const {
    const T* const emitted = emitted_.data();
    const T* const jump = jump_.data();
    for (int64_t v = 0; v < vectors_; ++v) {
      const int64_t first = v * kLanes<T>;
      FB_IVDEP
      for (int64_t s = first; s < first + kLanes<T>; ++s)
        beta[s] = emitted[s] + log_sum(after[s], after[s + 1], after[s + 2] + jump[s + 2]);
    }
  }

  // The share of alignments that are in a state, in place of how likely it is reached. None if its
  // label is impossible.
  void take_shares(const T* beta, T loss, T* reached) const {
    const T* const emitted = emitted_.data();
    for (int64_t v = 0; v < vectors_; ++v) {
      const int64_t first = v * kLanes<T>;
      FB_IVDEP
      for (int64_t s = first; s < first + kLanes<T>; ++s) {
        const T share = math::exp((reached[s] + beta[s]) + (loss - emitted[s]));
        reached[s] = emitted[s] == lowest<T>() ? T(0) : share;
      }
    }
  }

  void write_gradient(int64_t t, const T* share, T scale, T* out, int64_t classes) const {
    const T* const step = log_probs_ + t * stride_;
    FB_IVDEP
    for (int64_t c = 0; c < classes; ++c) out[c] = math::exp(step[c]);
    for (int64_t i = 0; i < labels_; ++i) out[target_[i]] -= share[2 * i + 1];
    out[blank_] -= sum_of_blanks(share);
    for (int64_t c = 0; c < classes; ++c) out[c] *= scale;
  }

  // Blanks have even numbers, and so even lanes.
  T sum_of_blanks(const T* share) const {
    static_assert(kLanes<T> % 2 == 0);
    Vec<T> sums = load<T, kLanes<T>>(share);
    for (int64_t v = 1; v < vectors_; ++v) sums += load<T, kLanes<T>>(share + v * kLanes<T>);
    T total = 0;
    for (int lane = 0; lane < kLanes<T>; lane += 2) total += sums[lane];
    return total;
  }

  const T* const log_probs_;
  const int64_t stride_;
  const int64_t steps_;
  const int64_t labels_;
  const int64_t* const target_;
  const int64_t blank_;
  const int64_t vectors_;
  std::vector<T> jump_;  // 0 where a state may follow the one before the last, else -inf
  std::vector<T> emitted_;
};

// Sequences that are worth a thread. A state of a step costs as much as some dozens of elements.
int64_t grain_of(const CtcCall& call) {
  constexpr int64_t kElements = 48;
  return kGrain / (call.steps * (call.states * kElements + call.classes) + 1) + 1;
}

template <class T>
void forward(const CtcCall& call, T* log_alpha, T* losses) {
  parallel_for(call.batch, grain_of(call), [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b)
      losses[b] =
          Sequence<T>(call, b).forward(log_alpha + b * call.steps * call.states, call.states);
  });
}

template <class T>
void backward(const CtcCall& call, const T* log_alpha, const T* losses, const T* gradients,
              bool zero_infinity, T* out) {
  parallel_for(call.batch, grain_of(call), [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      Sequence<T> sequence(call, b);
      const bool lost = zero_infinity && losses[b] == highest<T>();
      T* const first = out + b * call.classes;
      if (!lost)
        sequence.backward(log_alpha + b * call.steps * call.states, call.states, losses[b],
                          gradients[b], first, call.classes);
      for (int64_t t = lost ? 0 : sequence.steps(); t < call.steps; ++t)
        for (int64_t c = 0; c < call.classes; ++c) first[t * call.batch * call.classes + c] = 0;
    }
  });
}

}  // namespace

void ctc_forward(const CtcCall& call, void* log_alpha, void* losses) {
  if (call.dtype == DType::kFloat32)
    return forward(call, static_cast<float*>(log_alpha), static_cast<float*>(losses));
  forward(call, static_cast<double*>(log_alpha), static_cast<double*>(losses));
}

void ctc_backward(const CtcCall& call, const void* log_alpha, const void* losses,
                  const void* gradients, bool zero_infinity, void* out) {
  if (call.dtype == DType::kFloat32)
    return backward(call, static_cast<const float*>(log_alpha), static_cast<const float*>(losses),
                    static_cast<const float*>(gradients), zero_infinity, static_cast<float*>(out));
  backward(call, static_cast<const double*>(log_alpha), static_cast<const double*>(losses),
           static_cast<const double*>(gradients), zero_infinity, static_cast<double*>(out));
}

}  // namespace fb::cpu::FB_ISA
