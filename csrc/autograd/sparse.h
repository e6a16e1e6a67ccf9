// Sparse tensors in coordinate form (COO).
//
// Note [Sparse tensors]: a sparse tensor has the sizes and the type of what it stands for, and the
// flag kSparse. Its storage is a single zero that all its positions share, so that whoever should
// read its elements by mistake reads zeros within bounds, and whoever should write to them is
// refused. What it consists of are its parts, which lie beside its history: the positions of blocks
// of elements that are not zero, and the blocks. Operators that know nothing of sparse tensors
// refuse them: the recorded ones where they look closer at the flags of their inputs, the others at
// their Python entry points. The table says which operators take them: see opgen/emit/sparse.py.
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

// Parts that are known to fit the sizes. At most one block is always coalesced.
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
