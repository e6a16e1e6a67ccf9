// What forward and backward of attention share: a block of queries against a block of keys.
//
// Note [Attention by blocks]
// Scores are computed transposed, S^T = K Q^T: a vector register holds the scores of one key with
// neighbouring queries. Maxima, exponentials and sums over keys then need no operations across
// lanes, and K and V enter all products element by element where they are, so they are never copied
// or reordered; only a block of queries is transposed. The weights of one block exist in the cache
// and nowhere else.
#pragma once

#include <memory>
#include <new>

#include "cpu/attention.h"
#include "cpu/kernels/exp.h"
#include "cpu/kernels/gemm.h"
#include "cpu/kernels/transpose.h"
#include "cpu/threads.h"

namespace fb::cpu::FB_ISA {

inline constexpr int64_t kQueryBlock = 64;
inline constexpr int64_t kKeyBlock = 64;
// At the diagonal of a causal mask: blocks so small that many queries see no key of a block and can
// skip it.
inline constexpr int64_t kDiagonalBlock = 16;

inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

template <class T>
struct Matrix {
  T* data;
  int64_t row;
  T* at(int64_t i) const { return data + i * row; }
};

template <class T>
Matrix<T> head_of(const AttentionCall& call, const HeadMatrices& all, int64_t head) {
  int64_t offset = 0;
  for (size_t d = call.batch.size(); d-- > 0; head /= call.batch[d])
    offset += head % call.batch[d] * all.lead[d];
  return {static_cast<T*>(all.data) + offset, all.row};
}

// How many units of work, each `queries` against all keys, are worth a thread.
inline int64_t grain_of(const AttentionCall& call, int64_t queries) {
  constexpr int64_t kProducts = 1 << 19;  // multiply-adds of about 10 us
  const int64_t products = queries * call.keys * (call.features + call.value_features);
  return products < kProducts ? kProducts / (products + 1) + 1 : 1;
}

// Memory for one thread, aligned for whole vectors.
template <class T>
class Scratch {
 public:
  explicit Scratch(int64_t count)
      : memory_(::operator new(static_cast<size_t>(count) * sizeof(T), kAlignment)),
        next_(static_cast<T*>(memory_)) {}
  ~Scratch() { ::operator delete(memory_, kAlignment); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  // Counts are multiples of a vector, so all pieces are aligned.
  T* take(int64_t count) {
    next_ += count;
    return next_ - count;
  }

 private:
  static constexpr std::align_val_t kAlignment{64};
  void* memory_;
  T* next_;
};

// C = A B, or C += A B.
template <class T>
FB_FN void multiply(int64_t m, int64_t n, int64_t k, const T* a, int64_t a_row, int64_t a_col,
                    const T* b, int64_t b_row, T* c, int64_t c_row, bool accumulate) {
  gemm_block<T>({m, n, k, a, a_row, a_col, b, b_row, c, c_row, accumulate ? c : nullptr, c_row});
}

// Keys [begin, begin + count) against the queries of a block from its column `from` on, a multiple
// of a vector; earlier queries see none of these keys.
struct KeyBlock {
  int64_t begin, count, from;
};

// One head's queries [first, first + count), as the columns of matrices `width` wide: count rounded
// up to whole vectors, the rest zeros.
template <class T>
class QueryBlock {
 public:
  // The memory that a block takes from a Scratch.
  static int64_t scratch(const AttentionCall& call) {
    return kQueryBlock * (call.features + (call.mask.data ? 3 : 1) * kKeyBlock);
  }
  QueryBlock(const AttentionCall& call, Scratch<T>& memory)
      : scores(memory.take(kQueryBlock * kKeyBlock)),
        call_(call),
        transposed_(memory.take(kQueryBlock * call.features)),
        mask_rows_(memory.take(call.mask.data ? kQueryBlock * kKeyBlock : 0)),
        mask_columns_(memory.take(call.mask.data ? kQueryBlock * kKeyBlock : 0)) {}

  void begin(int64_t head, int64_t first_query) {
    first = first_query;
    count = smaller(kQueryBlock, call_.queries - first);
    width = (count + kLanes<T> - 1) / kLanes<T> * kLanes<T>;
    key_end = call_.is_causal ? smaller(call_.keys, first + count) : call_.keys;
    key = head_of<T>(call_, call_.key, head);
    if (call_.mask.data && call_.mask_is_bool)
      bool_mask_ = head_of<const bool>(call_, call_.mask, head).at(first);
    else if (call_.mask.data)
      mask_ = head_of<const T>(call_, call_.mask, head).at(first);
    const Matrix<T> query = head_of<T>(call_, call_.query, head);
    pack(query.at(first), query.row, call_.features, transposed_);
    const T scale = static_cast<T>(call_.scale);
    for (int64_t i = 0; i < call_.features * width; ++i) transposed_[i] *= scale;
  }

  // Rows of the block's queries as columns.
  void pack(const T* rows, int64_t row, int64_t columns, T* to) const {
    if (count < width)
      for (int64_t i = 0; i < columns * width; ++i) to[i] = 0;
    transpose(rows, row, count, columns, to, width);
  }

  // Fills `scores` with those of `keys`, masked.
  void score(const KeyBlock& keys) const {
    multiply<T>(keys.count, width - keys.from, call_.features, key.at(keys.begin), key.row, 1,
                transposed_ + keys.from, width, scores + keys.from, width, false);
    if (mask_) add_mask(mask_, keys);
    if (bool_mask_) add_mask(bool_mask_, keys);
    if (!call_.is_causal) return;
    // Key j is hidden from the queries before it.
    for (int64_t r = 0; r < keys.count; ++r)
      for (int64_t c = keys.from; c < smaller(width, keys.begin + r - first); ++c)
        scores[r * width + c] = kHidden;
  }

  static constexpr T kHidden = -__builtin_inff();

  int64_t first = 0, count = 0, width = 0;
  int64_t key_end = 0;  // keys from here on are hidden from all queries of the block
  Matrix<T> key{};
  T* const scores;  // one row a key

 private:
  static FB_FN T added_by(T element) { return element; }
  static FB_FN T added_by(bool seen) { return seen ? T(0) : kHidden; }

  template <class M>
  void add_mask(const M* mask, const KeyBlock& keys) const {
    const auto [begin, n, from] = keys;
    const int64_t row = call_.mask.row, column = call_.mask.column;
    if (row == 0) {  // the same for all queries, as for keys that are padding
      for (int64_t r = 0; r < n; ++r) {
        const T added = added_by(element_at(mask + (begin + r) * column));
        for (int64_t c = from; c < width; ++c) scores[r * width + c] += added;
      }
      return;
    }
    if constexpr (__is_same(M, bool)) {
      for (int64_t c = 0; c < count; ++c)
        for (int64_t r = 0; r < n; ++r)
          mask_rows_[c * kKeyBlock + r] = added_by(element_at(mask + c * row + begin + r));
      transpose(mask_rows_, kKeyBlock, count, n, mask_columns_, width);
    } else {
      transpose(mask + begin, row, count, n, mask_columns_, width);
    }
    for (int64_t r = 0; r < n; ++r)
      for (int64_t c = from; c < count; ++c) scores[r * width + c] += mask_columns_[r * width + c];
  }

  const AttentionCall& call_;
  T* const transposed_;  // the queries times scale: features x width
  // What a block of the mask adds, with one row per query, and with one row per key.
  T* const mask_rows_;
  T* const mask_columns_;
  // Row `first` of the mask, if it is of that kind.
  const T* mask_ = nullptr;
  const bool* bool_mask_ = nullptr;
};

// Calls f for blocks of the keys that the queries see.
template <class T, class F>
FB_FN void for_key_blocks(const AttentionCall& call, const QueryBlock<T>& block, F&& f) {
  int64_t begin = 0;
  while (begin < block.key_end) {
    const bool at_diagonal = call.is_causal && begin >= block.first;
    const int64_t size = at_diagonal ? kDiagonalBlock : kKeyBlock;
    const int64_t from = at_diagonal ? (begin - block.first) / kLanes<T> * kLanes<T> : 0;
    f(KeyBlock{begin, smaller(size, block.key_end - begin), from});
    begin += size;
  }
}

}  // namespace fb::cpu::FB_ISA
