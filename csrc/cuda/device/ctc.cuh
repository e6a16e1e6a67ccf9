// The forward-backward algorithm of connectionist temporal classification, in logarithms.
// Elements are float or double. A block takes a sequence through its steps, its threads the states
// of a step.
#pragma once

#include "cuda/device/ctc_args.h"
#include "cuda/device/lanes.cuh"

namespace fb::device {

// log(exp(a) + exp(b) + exp(c)); -inf if all three are.
template <class T>
__device__ inline T log_sum(T a, T b, T c) {
  const T larger = a > b ? a : b, top = larger > c ? larger : c;
  const T shift = top == -math::infinity<T>() ? T(0) : top;
  return shift + math::log(math::exp(a - shift) + math::exp(b - shift) + math::exp(c - shift));
}

template <class T>
struct CtcSequence {
  const CtcArguments& args;
  const long long number, steps, labels, states;
  const long long* targets;
  const T* log_probs;

  __device__ CtcSequence(const CtcArguments& args, int local)
      : args(args),
        number(args.first + local),
        steps(args.input_lengths[local]),
        labels(args.target_lengths[local]),
        states(2 * labels + 1),
        targets(args.targets + args.starts[local]),
        log_probs(static_cast<const T*>(args.log_probs) + number * args.classes) {}

  // The class of a state; a label that is no class is taken for the blank.
  __device__ long long label(long long state) const {
    if (state % 2 == 0) return args.blank;
    const long long label = targets[state / 2];
    return label >= 0 && label < args.classes ? label : args.blank;
  }
  // Whether the blank before a label may be left out.
  __device__ bool jumps(long long state) const {
    return state % 2 == 1 && state >= 3 && targets[state / 2] != targets[state / 2 - 1];
  }
  __device__ const T* step(long long t) const { return log_probs + t * args.batch * args.classes; }
  __device__ T* row(void* of, long long t) const {
    return static_cast<T*>(of) + (number * args.steps + t) * args.states;
  }
};

template <class T>
__device__ inline void ctc_alpha(const CtcArguments& args) {
  const CtcSequence<T> sequence(args, static_cast<int>(blockIdx.x));
  const T never = -math::infinity<T>();
  auto* losses = static_cast<T*>(args.losses);
  for (long long i = threadIdx.x; i < sequence.labels; i += blockDim.x) {
    const long long label = sequence.targets[i];
    if (label < 0 || label >= args.classes) note_bad_index(args.error, label, args.classes, 2);
  }
  if (sequence.steps == 0) {
    if (threadIdx.x == 0)
      losses[sequence.number] = sequence.labels == 0 ? T(0) : math::infinity<T>();
    return;
  }
  for (long long t = 0; t < sequence.steps; ++t) {
    const T* const step = sequence.step(t);
    const T* const before = t ? sequence.row(args.log_alpha, t - 1) : nullptr;
    T* const alpha = sequence.row(args.log_alpha, t);
    for (long long s = threadIdx.x; s < sequence.states; s += blockDim.x) {
      const T emitted = step[sequence.label(s)];
      alpha[s] = t == 0 ? (s < 2 ? emitted : never)
                        : emitted + log_sum(before[s], s >= 1 ? before[s - 1] : never,
                                            sequence.jumps(s) ? before[s - 2] : never);
    }
    __syncthreads();
  }
  if (threadIdx.x != 0) return;
  const T* const last = sequence.row(args.log_alpha, sequence.steps - 1);
  losses[sequence.number] =
      -log_sum(last[sequence.states - 1],
               sequence.states > 1 ? last[sequence.states - 2] : never, never);
}

// The log probability of the alignments from a state on; and for each label where the next equal
// one is (-1: nowhere), and whether it is the first.
template <class T>
__device__ inline void ctc_beta(const CtcArguments& args) {
  const CtcSequence<T> sequence(args, static_cast<int>(blockIdx.x));
  const T never = -math::infinity<T>();
  int* const links = args.links + sequence.number * (args.states - 1);
  for (long long i = threadIdx.x; i < sequence.labels; i += blockDim.x) {
    const long long label = sequence.label(2 * i + 1);
    long long next = i + 1, before = i - 1;
    while (next < sequence.labels && sequence.label(2 * next + 1) != label) ++next;
    while (before >= 0 && sequence.label(2 * before + 1) != label) --before;
    links[2 * i] = next < sequence.labels ? static_cast<int>(next) : -1;
    links[2 * i + 1] = before < 0;
  }
  for (long long t = sequence.steps - 1; t >= 0; --t) {
    const T* const step = sequence.step(t);
    const bool is_last = t == sequence.steps - 1;
    const T* const after = is_last ? nullptr : sequence.row(args.log_beta, t + 1);
    T* const beta = sequence.row(args.log_beta, t);
    const long long states = sequence.states;
    for (long long s = threadIdx.x; s < states; s += blockDim.x) {
      const T emitted = step[sequence.label(s)];
      beta[s] = is_last ? (s >= states - 2 ? emitted : never)
                        : emitted + log_sum(after[s], s + 1 < states ? after[s + 1] : never,
                                            s + 2 < states && sequence.jumps(s + 2) ? after[s + 2]
                                                                                    : never);
    }
    __syncthreads();
  }
}

// A block for each step of each sequence: the share of alignments that emit a class is summed over
// its states in their order.
template <class T>
__device__ inline void ctc_gradient(const CtcArguments& args) {
  const long long t = blockIdx.x / args.count;
  const CtcSequence<T> sequence(args, static_cast<int>(blockIdx.x - t * args.count));
  const T loss = static_cast<const T*>(args.losses)[sequence.number];
  T* const out = static_cast<T*>(args.out) + (t * args.batch + sequence.number) * args.classes;
  if (t >= sequence.steps || (args.zero_infinity && loss == math::infinity<T>())) {
    for (long long c = threadIdx.x; c < args.classes; c += kThreads) out[c] = T(0);
    return;
  }
  const T scale = static_cast<const T*>(args.gradients)[sequence.number];
  const T* const step = sequence.step(t);
  const T* const alpha = sequence.row(args.log_alpha, t);
  T* const shares = sequence.row(args.log_beta, t);
  for (long long c = threadIdx.x; c < args.classes; c += kThreads)
    out[c] = scale * math::exp(step[c]);
  T blanks = T(0);
  for (long long s = threadIdx.x; s < sequence.states; s += kThreads) {
    const T emitted = step[sequence.label(s)];
    const T share = emitted == -math::infinity<T>()
                        ? T(0)
                        : math::exp((alpha[s] + shares[s]) + (loss - emitted));
    shares[s] = share;
    if (s % 2 == 0) blanks += share;
  }
  blanks = join_lanes(LanePlace(kThreads, false), blanks, Sum<T>());
  if (threadIdx.x == 0) out[args.blank] -= scale * blanks;
  __syncthreads();  // a label may be the blank's class
  const int* const links = args.links + sequence.number * (args.states - 1);
  for (long long i = threadIdx.x; i < sequence.labels; i += kThreads) {
    if (!links[2 * i + 1]) continue;
    T sum = T(0);
    for (long long at = i; at >= 0; at = links[2 * at]) sum += shares[2 * at + 1];
    out[sequence.label(2 * i + 1)] -= scale * sum;
  }
}

}  // namespace fb::device
