// The forward-backward algorithm of connectionist temporal classification, in logarithms. All
// states of a step are computed side by side.
#include "cpu/ctc.h"

#include <vector>

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
  return shift + math::log(math::exp(a - shift) + math::exp(b - shift) + math::exp(c - shift));
}

// One sequence and its target: labels with blanks before, between and after them.
template <class T>
class Sequence {
 public:
  Sequence(const CtcCall& call, int64_t index)
      : log_probs_(static_cast<const T*>(call.log_probs) + index * call.classes),
        stride_(call.batch * call.classes),
        steps_(call.input_lengths[index]),
        states_(2 * call.target_lengths[index] + 1),
        labels_(static_cast<size_t>(states_), call.blank),
        jump_(static_cast<size_t>(states_) + 2, lowest<T>()),
        emitted_(static_cast<size_t>(states_)) {
    const int64_t* const target = call.targets + call.target_starts[index];
    for (int64_t s = 1; s < states_; s += 2) labels_[static_cast<size_t>(s)] = target[s / 2];
    // A blank between two labels may be left out, unless they are equal.
    for (int64_t s = 3; s < states_; s += 2)
      if (target[s / 2] != target[s / 2 - 1]) jump_[static_cast<size_t>(s)] = 0;
  }

  int64_t steps() const { return steps_; }

  // Fills `alpha`, rows of which are `row` apart, and returns -log of the probability.
  T forward(T* alpha, int64_t row) {
    if (steps_ == 0) return states_ == 1 ? T(0) : highest<T>();
    // Two impossible states precede the first.
    std::vector<T> padded(static_cast<size_t>(states_) + 2, lowest<T>());
    T* const before = padded.data() + 2;
    emit(0);
    for (int64_t s = 0; s < states_; ++s) alpha[s] = s < 2 ? emitted_[at(s)] : lowest<T>();
    for (int64_t t = 1; t < steps_; ++t) {
      for (int64_t s = 0; s < states_; ++s) before[s] = alpha[s];
      alpha += row;
      emit(t);
      const T* const emitted = emitted_.data();
      const T* const jump = jump_.data();
      FB_IVDEP
      for (int64_t s = 0; s < states_; ++s)
        alpha[s] = emitted[s] + log_sum(before[s], before[s - 1], before[s - 2] + jump[s]);
    }
    const T last_label = states_ > 1 ? alpha[states_ - 2] : lowest<T>();
    return -log_sum(alpha[states_ - 1], last_label, lowest<T>());
  }

  // out[t][c] = scale * (exp(log_probs) - the share of alignments that emit c at step t).
  void backward(const T* alpha, int64_t row, T loss, T scale, T* out, int64_t classes) {
    std::vector<T> padded(static_cast<size_t>(states_) + 2, lowest<T>());
    std::vector<T> later(static_cast<size_t>(states_) + 2, lowest<T>());
    std::vector<T> shares(static_cast<size_t>(states_));
    T* const beta = padded.data();
    for (int64_t t = steps_ - 1; t >= 0; --t) {
      emit(t);
      const T* const emitted = emitted_.data();
      if (t == steps_ - 1) {
        for (int64_t s = 0; s < states_; ++s) beta[s] = s >= states_ - 2 ? emitted[s] : lowest<T>();
      } else {
        later = padded;
        const T* const after = later.data();
        const T* const jump = jump_.data();
        FB_IVDEP
        for (int64_t s = 0; s < states_; ++s)
          beta[s] = emitted[s] + log_sum(after[s], after[s + 1], after[s + 2] + jump[s + 2]);
      }
      const T* const reached = alpha + t * row;
      T* const share = shares.data();
      FB_IVDEP
      for (int64_t s = 0; s < states_; ++s)
        share[s] = math::exp((reached[s] + beta[s]) + (loss - emitted[s]));
      write_gradient(t, share, scale, out + t * stride_, classes);
    }
  }

 private:
  static size_t at(int64_t s) { return static_cast<size_t>(s); }

  // The log probability of each state's label at a step.
  void emit(int64_t t) {
    const T* const step = log_probs_ + t * stride_;
    for (int64_t s = 0; s < states_; ++s) emitted_[at(s)] = step[labels_[at(s)]];
  }

  void write_gradient(int64_t t, const T* share, T scale, T* out, int64_t classes) const {
    const T* const step = log_probs_ + t * stride_;
    FB_IVDEP
    for (int64_t c = 0; c < classes; ++c) out[c] = math::exp(step[c]);
    for (int64_t s = 0; s < states_; ++s)
      if (emitted_[at(s)] != lowest<T>()) out[labels_[at(s)]] -= share[s];
    for (int64_t c = 0; c < classes; ++c) out[c] *= scale;
  }

  const T* const log_probs_;
  const int64_t stride_;
  const int64_t steps_;
  const int64_t states_;
  std::vector<int64_t> labels_;
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
