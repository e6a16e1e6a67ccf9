// Factorisations of one small matrix, or of a panel of a large one, on the calling thread.
//
// Matrices are column-major and padded: `ld` is a multiple of kPanelUnit, and what lies between the
// last row and the next multiple belongs to the matrix, holds finite numbers and may be
// overwritten, so that every column is whole vectors.
#pragma once

#include <cstdint>

#include "cpu/isa.h"

namespace fb::cpu {

// Elements: whole vectors of float and double at every level.
inline constexpr int64_t kPanelUnit = 16;

inline int64_t padded_rows(int64_t rows) {
  return (rows + kPanelUnit - 1) / kPanelUnit * kPanelUnit;
}

template <class T>
struct Panel {
  int64_t rows, columns;
  T* data;
  int64_t ld;

  T* column(int64_t j) const { return data + j * ld; }
};

// All for float and double.

// A = P L U as LAPACK's getrf has it: `pivots` has a row for each of the first min(rows, columns)
// columns, counted from 1. Returns 0, or i if U(i, i) is the first zero. NaN counts as the largest
// pivot.
FB_DECLARE_KERNEL(template <class T> int64_t, lu_panel, const Panel<T>& a, int32_t* pivots)

// X = L^-1 X for the lower triangle of A with a unit diagonal, or X = U^-1 X for its upper one.
// A is square with the rows of X.
FB_DECLARE_KERNEL(template <class T> void, solve_unit_lower, const Panel<const T>& a,
                  const Panel<T>& x)
FB_DECLARE_KERNEL(template <class T> void, solve_upper, const Panel<const T>& a, const Panel<T>& x)

// A = L L^T from and in the lower triangle; what is above it is destroyed. Returns 0, or i if the
// leading minor of order i is not positive.
FB_DECLARE_KERNEL(template <class T> int64_t, cholesky_panel, const Panel<T>& a)
// X = X L^-T for the lower triangle of A, square with the columns of X.
FB_DECLARE_KERNEL(template <class T> void, solve_right_transposed, const Panel<const T>& a,
                  const Panel<T>& x)

// The reflector I - tau v v^T that makes x, of n > 0 elements, zero but for the first, which takes
// the place of x[0]; what follows it is v's, whose first element is 1. Returns tau. As LAPACK's
// larfg.
FB_DECLARE_KERNEL(template <class T> T, make_reflector, int64_t n, T* x)
// A = Q R as LAPACK's geqrf has it: R in the upper triangle, reflectors below and in tau. `work`
// has padded_rows(rows) elements.
FB_DECLARE_KERNEL(template <class T> void, qr_panel, const Panel<T>& a, T* tau, T* work)
// X = Q X, for Q of the first k reflectors of `a`, which has the rows of X. `work` as before.
FB_DECLARE_KERNEL(template <class T> void, multiply_by_q, const Panel<const T>& a, const T* tau,
                  int64_t k, const Panel<T>& x, T* work)

// Of any columns, `ld` elements apart, without padding: the sum of each one times x,
FB_DECLARE_KERNEL(template <class T> void, column_dots, int64_t rows, int64_t columns, const T* a,
                  int64_t ld, const T* x, T* sums)
// and y += the columns times their factors.
FB_DECLARE_KERNEL(template <class T> void, add_columns, int64_t rows, int64_t columns, const T* a,
                  int64_t ld, const T* factors, T* y)

// The place of the largest of n > 0 elements, the first if there are several.
FB_DECLARE_KERNEL(template <class T> int64_t, first_largest, int64_t n, const T* x)
// squares[j] -= row[j]^2. Where at most `limit` of whole[j] is left, whole[j] becomes zero; returns
// whether there are such. What is zero already stays as it is.
FB_DECLARE_KERNEL(template <class T> bool, take_squares, int64_t n, const T* row, T limit,
                  T* squares, T* whole)

}  // namespace fb::cpu
