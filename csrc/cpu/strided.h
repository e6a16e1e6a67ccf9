// Walking through the rows of a loop nest: see kernel/strided.h.
#pragma once

#include "kernel/strided.h"

namespace fb::cpu {

using kernel::StridedLoop;

// Walks the rows of a loop nest (all dimensions but the last) and keeps the operands' byte offsets.
template <int Operands>
class RowCursor {
 public:
  RowCursor(const StridedLoop<Operands>& loop, int operands, int64_t row)
      : loop_(loop), operands_(operands), index_(loop.ndim) {
    for (int d = loop.ndim - 2; d >= 0; --d) {
      index_[d] = row % loop.sizes[d];
      row /= loop.sizes[d];
      for (int k = 0; k < operands; ++k) offset[k] += index_[d] * loop.strides[k][d];
    }
  }
  void next() {
    for (int d = loop_.ndim - 2; d >= 0; --d) {
      for (int k = 0; k < operands_; ++k) offset[k] += loop_.strides[k][d];
      if (++index_[d] < loop_.sizes[d]) return;
      for (int k = 0; k < operands_; ++k) offset[k] -= loop_.sizes[d] * loop_.strides[k][d];
      index_[d] = 0;
    }
  }

  int64_t offset[Operands] = {};

 private:
  const StridedLoop<Operands>& loop_;
  int operands_;
  Dims index_;
};

}  // namespace fb::cpu
