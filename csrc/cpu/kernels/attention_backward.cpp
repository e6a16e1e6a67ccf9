// Attention backward: weights are recomputed from the log-sum-exp of their queries. See Note
// [Attention by blocks] in attention_block.h.
#include "cpu/attention.h"
#include "cpu/kernels/attention_block.h"

namespace fb::cpu::FB_ISA {
namespace {

template <class T>
class Backward {
 public:
  Backward(const AttentionCall& call, const AttentionGradients& gradients)
      : call_(call),
        gradients_(gradients),
        memory_(QueryBlock<T>::scratch(call) +
                kQueryBlock * (call.value_features + call.features + kKeyBlock + 2)),
        block_(call, memory_),
        coming_(memory_.take(kQueryBlock * call.value_features)),
        query_gradient_(memory_.take(kQueryBlock * call.features)),
        slopes_(memory_.take(kQueryBlock * kKeyBlock)),
        logsumexp_(memory_.take(kQueryBlock)),
        mean_(memory_.take(kQueryBlock)) {}

  // Adds what the queries from `first` on contribute to `key` and `value`, the gradients of a
  // head's keys and values, and fills in the gradient of those queries.
  void run(int64_t head, int64_t first, const Matrix<T>& key, const Matrix<T>& value) {
    block_.begin(head, first);
    const int64_t width = block_.width, count = block_.count;
    const Matrix<T> coming = head_of<T>(call_, gradients_.output, head);
    const Matrix<T> query = head_of<T>(call_, call_.query, head);
    const Matrix<T> values = head_of<T>(call_, call_.value, head);
    block_.pack(coming.at(first), coming.row, call_.value_features, coming_);
    prepare(head, coming);
    for (int64_t i = 0; i < call_.features * width; ++i) query_gradient_[i] = 0;
    for_key_blocks(call_, block_, [&](const KeyBlock& keys) {
      const auto [begin, n, from] = keys;
      T* const weights = block_.scores + from;
      T* const slopes = slopes_ + from;
      block_.score(keys);
      // The gradients of the weights.
      multiply<T>(n, width - from, call_.value_features, values.at(begin), values.row, 1,
                  coming_ + from, width, slopes, width, false);
      through_softmax(keys);
      multiply<T>(n, call_.value_features, count - from, weights, width, 1, coming.at(first + from),
                  coming.row, value.at(begin), value.row, true);
      multiply<T>(n, call_.features, count - from, slopes, width, 1, query.at(first + from),
                  query.row, key.at(begin), key.row, true);
      multiply<T>(call_.features, width - from, n, block_.key.at(begin), 1, block_.key.row, slopes,
                  width, query_gradient_ + from, width, true);
    });
    const Matrix<T> target = head_of<T>(call_, gradients_.query, head);
    transpose(query_gradient_, width, call_.features, count, target.at(first), target.row);
  }

 private:
  // What through_softmax needs of each query: the log-sum-exp, and the mean of the weights'
  // gradients, which is the gradient's product with the output.
  void prepare(int64_t head, const Matrix<T>& coming) {
    const Matrix<T> output = head_of<T>(call_, call_.output, head);
    const T* const logsumexp =
        static_cast<const T*>(call_.logsumexp) + head * call_.queries + block_.first;
    for (int64_t c = 0; c < block_.width; ++c) {
      mean_[c] = 0;
      // The query sees no keys: every weight is exp(-inf).
      logsumexp_[c] = -QueryBlock<T>::kHidden;
    }
    for (int64_t c = 0; c < block_.count; ++c) {
      const T* const g = coming.at(block_.first + c);
      const T* const o = output.at(block_.first + c);
      T sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int64_t e = 0; e < call_.value_features; ++e) sum += g[e] * o[e];
      mean_[c] = sum;
      if (logsumexp[c] != QueryBlock<T>::kHidden) logsumexp_[c] = logsumexp[c];
    }
  }

  // Turns scores into weights and the weights' gradients into those of the unscaled scores.
  void through_softmax(const KeyBlock& keys) {
    const int64_t width = block_.width;
    const T scale = static_cast<T>(call_.scale);
    for (int64_t r = 0; r < keys.count; ++r) {
      T* const weights = block_.scores + r * width;
      T* const slopes = slopes_ + r * width;
#pragma omp simd
      for (int64_t c = keys.from; c < width; ++c) {
        weights[c] = exp_nonpositive(weights[c] - logsumexp_[c]);
        slopes[c] = weights[c] * (slopes[c] - mean_[c]) * scale;
      }
    }
  }

  const AttentionCall& call_;
  const AttentionGradients& gradients_;
  Scratch<T> memory_;
  QueryBlock<T> block_;
  T* const coming_;          // the output's gradient: value_features x width
  T* const query_gradient_;  // features x width
  T* const slopes_;          // of the scores: one row a key
  T* const logsumexp_;
  T* const mean_;
};

// Parts of one head, each with its own sums for keys and values. By the sizes alone: the result
// must not depend on the number of threads.
int64_t parts_of(const AttentionCall& call, int64_t blocks) {
  constexpr int64_t kManyHeads = 8;
  if (call.heads == 0 || blocks <= 1) return 1;
  return smaller((kManyHeads + call.heads - 1) / call.heads, blocks);
}

template <class T>
void clear(const Matrix<T>& matrix, int64_t rows, int64_t columns) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) matrix.at(i)[j] = 0;
}

template <class T>
void add(const Matrix<T>& to, const T* from, int64_t rows, int64_t columns) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) to.at(i)[j] += from[i * columns + j];
}

template <class T>
void run(const AttentionCall& call, const AttentionGradients& gradients) {
  const int64_t blocks = (call.queries + kQueryBlock - 1) / kQueryBlock;
  const int64_t parts = parts_of(call, blocks);
  const int64_t features = call.features, value_features = call.value_features;
  // The first part of a head adds to the gradients themselves.
  const int64_t part_size = call.keys * (features + value_features);
  const std::unique_ptr<T[]> others(new T[call.heads * (parts - 1) * part_size]);
  const auto sums_of = [&](int64_t head, int64_t part) {
    return others.get() + (head * (parts - 1) + part - 1) * part_size;
  };
  parallel_for(call.heads * parts, grain_of(call, call.queries / parts),
               [&](int64_t begin, int64_t end) {
                 Backward<T> backward(call, gradients);
                 for (int64_t unit = begin; unit < end; ++unit) {
                   const int64_t head = unit / parts, part = unit % parts;
                   Matrix<T> key = head_of<T>(call, gradients.key, head);
                   Matrix<T> value = head_of<T>(call, gradients.value, head);
                   if (part > 0) {
                     key = {sums_of(head, part), features};
                     value = {key.at(call.keys), value_features};
                   }
                   clear(key, call.keys, features);
                   clear(value, call.keys, value_features);
                   for (int64_t block = part; block < blocks; block += parts)
                     backward.run(head, block * kQueryBlock, key, value);
                 }
               });
  for (int64_t head = 0; head < call.heads; ++head)
    for (int64_t part = 1; part < parts; ++part) {
      const T* const sums = sums_of(head, part);
      add(head_of<T>(call, gradients.key, head), sums, call.keys, features);
      add(head_of<T>(call, gradients.value, head), sums + call.keys * features, call.keys,
          value_features);
    }
}

}  // namespace

void attention_backward(const AttentionCall& call, const AttentionGradients& gradients) {
  if (call.dtype == DType::kFloat64)
    run<double>(call, gradients);
  else
    run<float>(call, gradients);
}

}  // namespace fb::cpu::FB_ISA
