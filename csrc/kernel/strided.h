// A loop nest over several strided operands of one shape, simplified: dimensions that are
// contiguous in every operand are merged, those of size 1 dropped, and the fastest in memory comes
// last.
#pragma once

#include <cstdint>

#include "core/dims.h"

namespace fb::kernel {

template <int Operands>
struct StridedLoop {
  int ndim = 0;
  Dims sizes;  // slowest first; never empty: a single element is one dimension of size 1
  Dims strides[Operands];  // in bytes

  // `order` lists the dimensions from slowest to fastest; operand_strides are in bytes.
  StridedLoop(IntSpan shape, const IntSpan (&operand_strides)[Operands], int operands,
              IntSpan order) {
    for (const int64_t d : order) {
      if (shape[d] == 1) continue;
      bool merges = ndim > 0;
      for (int k = 0; k < operands && merges; ++k)
        merges = strides[k].back() == operand_strides[k][d] * shape[d];
      if (merges) {
        sizes.back() *= shape[d];
        for (int k = 0; k < operands; ++k) strides[k].back() = operand_strides[k][d];
      } else {
        sizes.push_back(shape[d]);
        for (int k = 0; k < operands; ++k) strides[k].push_back(operand_strides[k][d]);
        ++ndim;
      }
    }
    if (ndim == 0) {
      sizes.push_back(1);
      for (int k = 0; k < operands; ++k) strides[k].push_back(0);
      ndim = 1;
    }
  }

  int64_t inner() const { return sizes.back(); }
  int64_t rows() const {
    int64_t n = 1;
    for (int d = 0; d + 1 < ndim; ++d) n *= sizes[d];
    return n;
  }
};

}  // namespace fb::kernel
