// What the operators on LAPACK share: checks, column-major memory, and how failure is reported.
#pragma once

#include "kernel/table.h"
#include "ops/types.h"

namespace fb::ops {

void check_matrices(const Tensor& a);
void check_square(const Tensor& a);
void check_finite(const Tensor& a, ErrorKind kind, const char* reason);

// Refuses int32 pivots that are not rows of the matrix, counted from 1: with those LAPACK would
// write out of bounds.
void check_pivots(const Tensor& pivots, int64_t count, int64_t rows);

// The distance from 1 to the next larger number of float32 or float64.
double epsilon_of(DType real);

// The dimensions before the last two, and the number of matrices.
inline IntSpan batch_of(const Tensor& t) { return t.sizes().first(t.dim() - 2); }
inline int64_t batch_count(const Tensor& t) { return numel_of(batch_of(t)); }
Dims with_sizes(IntSpan batch, std::initializer_list<int64_t> last);

// New matrices, each column-major, as LAPACK wants them.
Tensor make_column_major(IntSpan batch, int64_t rows, int64_t columns, DType dtype, Device device);
Tensor column_major_copy(const Tensor& t);

// The matrices of such a tensor, for kernels.
inline kernel::Matrices matrices_of(const Tensor& t) {
  return {t.dtype(), batch_count(t), t.size(-2), t.size(-1), t.data()};
}

// Throws LinAlgError for the first matrix whose info is not zero; the message has that number
// between the texts.
void check_info(const Tensor& info, const char* before, const char* after);

}  // namespace fb::ops
