// Sparse tensors in coordinate form (COO).
//
// Note [Sparse tensors]: a sparse tensor has the sizes and the type of what it stands for, and the
// flag kSparse. Its storage is a single zero that all its positions share, so that a mistaken read
// gives zeros within bounds, and a mistaken write is refused. Its content is in its parts, which
// are stored with its history: the positions of blocks of nonzero elements, and the blocks.
// Operators without a sparse form refuse sparse tensors: the recorded ones where they examine the
// flags of their inputs, the others at their Python entry points. The table says which operators
// take them: see opgen/emit/sparse.py.
#pragma once

#include "core/tensor.h"

namespace fb {

struct SparseParts {
  Tensor indices;             // int64 [sparse dimensions, blocks]
  Tensor values;              // [blocks, dense sizes...], without history
  bool is_coalesced = false;  // the positions are sorted and each is there once

  int64_t sparse_dim() const { return indices.size(0); }
  int64_t dense_dim() const { return values.dim() - 1; }
  int64_t count() const { return indices.size(1); }
};

inline bool is_sparse(const Tensor& t) { return t && t->flags & kSparse; }
inline Layout layout_of(const Tensor& t) {
  return is_sparse(t) ? Layout::kSparseCoo : Layout::kStrided;
}

// What is left of the sizes after the first `count`.
inline IntSpan after(IntSpan sizes, int64_t count) {
  return sizes.last(sizes.size() - static_cast<size_t>(count));
}

// From parts that are known to fit the sizes. A single block, or none, is always coalesced.
Tensor make_sparse(IntSpan sizes, SparseParts parts);
// All zeros, with the first `sparse_dim` dimensions in coordinates.
Tensor make_sparse_zeros(IntSpan sizes, int64_t sparse_dim, DType dtype, Device device);
// Of a sparse tensor; changing them changes the tensor.
SparseParts& sparse_parts(const Tensor& t);

[[noreturn]] void refuse_sparse(const char* name);
inline void check_dense(const char* name, const Tensor& t) {
  if (is_sparse(t)) [[unlikely]]
    refuse_sparse(name);
}

}  // namespace fb
