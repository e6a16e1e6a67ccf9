// Factorisations of batches of matrices, and solutions by them.
//
// Each kernel computes a whole batch. One with `info` writes a number for each matrix: 0, or
// LAPACK's positive one, which says what failed. Arguments that LAPACK would refuse are refused
// before.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/dtype.h"
#include "kernel/slot.h"

namespace fb::kernel {

// Matrices of float32, float64 or complex elements, each column-major, one after the other.
struct Matrices {
  DType dtype;
  int64_t batch;
  int64_t rows;
  int64_t columns;
  void* data;

  // The distance between columns, as LAPACK wants it: at least 1 even where there are no rows.
  int64_t leading() const { return std::max<int64_t>(rows, 1); }
  int64_t smaller() const { return std::min(rows, columns); }
};

// A triangular matrix and its side in A X = B (left) or X A = B.
struct TriangularSystem {
  bool left;
  bool upper;
  bool unit;  // its diagonal is all ones, and is not read
};

enum class SvdVectors { kNone, kReduced, kAll };

enum class LeastSquaresDriver { kGels, kGelsy, kGelsd, kGelss };

struct LeastSquares {
  LeastSquaresDriver driver;
  Matrices a;  // destroyed
  Matrices x;  // max(a.rows, a.columns) rows: the right-hand sides, then the solutions
  double rcond;
  int64_t* rank;  // one for each matrix; null for kGels
  void* values;   // a.smaller() singular values each; null for kGels and kGelsy
  int32_t* info;  // for kGels i: the factor's diagonal element i is zero
};

struct Linalg {
  // A = P L U in place. `pivots` has smaller() rows for each matrix, counted from 1, to exchange
  // with one after the other. info = i: U(i, i) is zero.
  Slot<void(const Matrices& a, int32_t* pivots, int32_t* info)> lu_factor;
  // The same, and A X = B in place of B where no diagonal element is zero.
  Slot<void(const Matrices& a, int32_t* pivots, const Matrices& x, int32_t* info)> lu_factor_solve;
  // Solves A X = B or A^H X = B in place of B, from lu_factor's results.
  Slot<void(const Matrices& lu, const int32_t* pivots, const Matrices& x, bool adjoint)> lu_solve;
  // The inverse in place. info = i: U(i, i) is zero.
  Slot<void(const Matrices& a, int32_t* info)> invert;
  // L and U from packed factors. All three are of any type and stored by rows: (m, n), (m, k) and
  // (k, n) for k = min(m, n).
  Slot<void(DType dtype, int64_t batch, int64_t m, int64_t n, const void* lu, void* l, void* u)>
      lu_unpack;
  // P (m, m), of any type, from k pivots.
  Slot<void(DType dtype, int64_t batch, int64_t m, int64_t k, const int32_t* pivots, void* p)>
      pivots_to_permutation;
  // From lu_factor's results: the determinant, or its sign (or phase) and the logarithm of its
  // size.
  Slot<void(const Matrices& lu, const int32_t* pivots, void* out)> determinant;
  Slot<void(const Matrices& lu, const int32_t* pivots, void* sign, void* log)> log_determinant;

  // A = L L^H or U^H U in place; the other triangle becomes zero. info = i: the leading minor of
  // order i is not positive.
  Slot<void(const Matrices& a, bool upper, int32_t* info)> cholesky_factor;
  Slot<void(const Matrices& factor, bool upper, const Matrices& x)> cholesky_solve;
  // The inverse in place of the factor. info = i: the factor's (i, i) is zero.
  Slot<void(const Matrices& factor, bool upper, int32_t* info)> cholesky_invert;

  // In place of `x`. A zero on the diagonal gives infinities.
  Slot<void(const Matrices& a, const Matrices& x, const TriangularSystem& system)> solve_triangular;

  // A = Q R: R in the upper triangle, Q as smaller() reflectors below it and in tau.
  Slot<void(const Matrices& a, void* tau)> qr_factor;
  // Q's first columns from k reflectors for each matrix.
  Slot<void(const Matrices& packed, const void* tau, int64_t k, const Matrices& q)> qr_columns;
  // R's first rows from the packed factors.
  Slot<void(const Matrices& packed, const Matrices& r)> qr_triangle;
  // C = op(Q) C or C op(Q) in place, from k reflectors; op is the adjoint or nothing.
  Slot<void(const Matrices& packed, const void* tau, int64_t k, const Matrices& c, bool left,
            bool adjoint)>
      qr_multiply;

  // Singular values, largest first, and vectors; of an empty matrix any orthonormal ones. `a` is
  // destroyed. info > 0: did not converge.
  Slot<void(const Matrices& a, SvdVectors vectors, void* s, const Matrices& u, const Matrices& vh,
            int32_t* info)>
      svd;
  // Eigenvalues of symmetric or Hermitian matrices, of which one triangle is read, smallest first;
  // the vectors in place of `a`, if they are wanted. info > 0: did not converge.
  Slot<void(const Matrices& a, bool upper, bool with_vectors, void* values, int32_t* info)>
      eigen_hermitian;
  // Complex eigenvalues and, unless `vectors` is null, right eigenvectors of any square matrices.
  // `a` is destroyed. info > 0: did not converge.
  Slot<void(const Matrices& a, void* values, void* vectors, int32_t* info)> eigen_general;

  Slot<void(const LeastSquares& plan)> least_squares;
  // The squares of the rows from `first` on of each column, summed: (batch, columns) real numbers.
  Slot<void(const Matrices& x, int64_t first, void* sums)> sum_squares_below;
};

}  // namespace fb::kernel
