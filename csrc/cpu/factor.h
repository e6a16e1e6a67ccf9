// LU, Cholesky and QR of one column-major matrix. Those of float and double take panels of columns
// by kernels of our own and the rest by products, which several threads share; complex ones are
// left to LAPACK.
//
// Arguments and results are those of LAPACK's functions of the names that the comments give, but
// pivots are int32. Work is cut by shape alone, so that results do not depend on the number of
// threads.
#pragma once

#include <cstdint>

#include "scalar/types.h"

namespace fb::cpu::factor {

// Whether several threads can share one matrix.
template <class T>
inline constexpr bool kShares = !kIsComplex<T>;

// getrf.
template <class T>
int64_t lu(int64_t m, int64_t n, T* a, int64_t lda, int32_t* pivots);
// getrs; op is 'N', 'T' or 'C'.
template <class T>
void lu_solve(char op, int64_t n, int64_t nrhs, const T* lu, int64_t lda, const int32_t* pivots,
              T* b, int64_t ldb);
// getrf and getri.
template <class T>
int64_t invert(int64_t n, T* a, int64_t lda);

// potrf. The other triangle becomes zero.
template <class T>
int64_t cholesky(bool upper, int64_t n, T* a, int64_t lda);

// geqrf.
template <class T>
void qr(int64_t m, int64_t n, T* a, int64_t lda, T* tau);
// orgqr, from reflectors of a matrix of their own.
template <class T>
void form_q(int64_t m, int64_t columns, int64_t k, const T* packed, int64_t ld, const T* tau, T* q,
            int64_t ldq);
// ormqr.
template <class T>
void multiply_q(bool left, bool adjoint, int64_t m, int64_t n, int64_t k, const T* packed,
                int64_t ld, const T* tau, T* c, int64_t ldc);

// The eigenvalues, smallest first, and in place of a symmetric matrix, of which one triangle is
// read, the vectors. Returns a positive number if that does not converge (syevd).
template <class T>
int64_t symmetric_eigen(bool upper, int64_t n, T* a, int64_t lda, RealOf<T>* values);

// gesdd.
template <class T>
int64_t svd(char jobz, int64_t m, int64_t n, T* a, int64_t lda, RealOf<T>* s, T* u, int64_t ldu,
            T* vt, int64_t ldvt);

// gelsy, with columns in any order.
template <class T>
int64_t least_squares(int64_t m, int64_t n, int64_t nrhs, T* a, int64_t lda, T* b, int64_t ldb,
                      RealOf<T> rcond, int64_t* rank);

}  // namespace fb::cpu::factor
