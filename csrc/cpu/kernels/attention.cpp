// Attention forward: the softmax over keys is updated block by block. See Note [Attention by
// blocks] in attention_block.h.
#include "cpu/attention.h"

#include "cpu/kernels/attention_block.h"

namespace fb::cpu::FB_ISA {
namespace {

template <class T>
class Forward {
 public:
  explicit Forward(const AttentionCall& call)
      : call_(call),
        memory_(QueryBlock<T>::scratch(call) + kQueryBlock * (call.value_features + 3)),
        block_(call, memory_),
        sums_(memory_.take(kQueryBlock * call.value_features)),
        max_(memory_.take(kQueryBlock)),
        total_(memory_.take(kQueryBlock)),
        factor_(memory_.take(kQueryBlock)) {}

  void run(int64_t head, int64_t first) {
    block_.begin(head, first);
    const int64_t width = block_.width, features = call_.value_features;
    const Matrix<T> value = head_of<T>(call_, call_.value, head);
    for (int64_t c = 0; c < width; ++c) {
      max_[c] = QueryBlock<T>::kHidden;
      total_[c] = 0;
    }
    for (int64_t i = 0; i < features * width; ++i) sums_[i] = 0;
    for_key_blocks(call_, block_, [&](const KeyBlock& keys) {
      block_.score(keys);
      weigh(keys);
      if (keys.begin > 0) rescale(keys.from);
      multiply<T>(features, width - keys.from, keys.count, value.at(keys.begin), 1, value.row,
                  block_.scores + keys.from, width, sums_ + keys.from, width, true);
    });
    finish(head);
  }

 private:
  // Turns scores into exponentials relative to the largest score so far.
  void weigh(const KeyBlock& keys) {
    const int64_t width = block_.width;
    T* const scores = block_.scores;
    T shift[kQueryBlock];
    for (int64_t c = keys.from; c < width; ++c) shift[c] = max_[c];
    for (int64_t r = 0; r < keys.count; ++r) {
      const T* const row = scores + r * width;
#pragma omp simd
      for (int64_t c = keys.from; c < width; ++c) shift[c] = row[c] > shift[c] ? row[c] : shift[c];
    }
#pragma omp simd
    for (int64_t c = keys.from; c < width; ++c) {
      const T max = shift[c];
      // While all scores are -inf, differences from 0 make weights of 0.
      shift[c] = max == QueryBlock<T>::kHidden ? T(0) : max;
      factor_[c] = exp_nonpositive(max_[c] - shift[c]);
      max_[c] = max;
      total_[c] *= factor_[c];
    }
    for (int64_t r = 0; r < keys.count; ++r) {
      T* const row = scores + r * width;
#pragma omp simd
      for (int64_t c = keys.from; c < width; ++c) {
        row[c] = exp_nonpositive(row[c] - shift[c]);
        total_[c] += row[c];
      }
    }
  }

  void rescale(int64_t from) {
    const int64_t width = block_.width;
    bool changes = false;
    for (int64_t c = from; c < width; ++c) changes |= factor_[c] != T(1);
    if (!changes) return;
    for (int64_t e = 0; e < call_.value_features; ++e)
      for (int64_t c = from; c < width; ++c) sums_[e * width + c] *= factor_[c];
  }

  void finish(int64_t head) {
    const int64_t width = block_.width;
    for (int64_t c = 0; c < width; ++c) factor_[c] = total_[c] == T(0) ? T(0) : T(1) / total_[c];
    for (int64_t e = 0; e < call_.value_features; ++e)
      for (int64_t c = 0; c < width; ++c) sums_[e * width + c] *= factor_[c];
    const Matrix<T> output = head_of<T>(call_, call_.output, head);
    transpose(sums_, width, call_.value_features, block_.count, output.at(block_.first),
              output.row);
    T* const logsumexp = static_cast<T*>(call_.logsumexp) + head * call_.queries + block_.first;
    for (int64_t c = 0; c < block_.count; ++c) logsumexp[c] = max_[c] + math::log(total_[c]);
  }

  const AttentionCall& call_;
  Scratch<T> memory_;
  QueryBlock<T> block_;
  T* const sums_;    // weighted sums of values: value_features x width
  T* const max_;     // the largest score so far
  T* const total_;   // the sum of the exponentials relative to it
  T* const factor_;  // the factor of earlier sums
};

template <class T>
void run(const AttentionCall& call) {
  const int64_t blocks = (call.queries + kQueryBlock - 1) / kQueryBlock;
  parallel_for(call.heads * blocks, grain_of(call, kQueryBlock), [&](int64_t begin, int64_t end) {
    Forward<T> forward(call);
    for (int64_t unit = begin; unit < end; ++unit) {
      // Early queries see few keys under a causal mask: alternating blocks from both ends balances
      // the threads.
      const int64_t i = unit % blocks;
      const int64_t block = i % 2 ? blocks - 1 - i / 2 : i / 2;
      forward.run(unit / blocks, block * kQueryBlock);
    }
  });
}

}  // namespace

bool attention_supports(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64;
}

void attention(const AttentionCall& call) {
  if (call.dtype == DType::kFloat64)
    run<double>(call);
  else
    run<float>(call);
}

}  // namespace fb::cpu::FB_ISA
