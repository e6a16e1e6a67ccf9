// LAPACK on one column-major matrix of float, double or complex, and the loop over a batch of them.
//
// Arguments are LAPACK's own, in its order. Each function returns LAPACK's `info`: 0, or a positive
// number whose meaning its comment gives. A negative one (a wrong argument) is our bug and throws.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/blocking.h"
#include "cpu/threads.h"
#include "scalar/types.h"

namespace fb::cpu::lapack {

// Factors A = P L U in place; `pivots` has min(m, n) one-based row numbers. info = i: U(i, i) is
// zero.
template <class T>
int64_t getrf(int64_t m, int64_t n, T* a, int64_t lda, int64_t* pivots);
// Solves op(A) X = B in place of B, given getrf's factors. trans is 'N', 'T' or 'C'.
template <class T>
int64_t getrs(char trans, int64_t n, int64_t nrhs, const T* lu, int64_t lda, const int64_t* pivots,
              T* b, int64_t ldb);
// The inverse in place of getrf's factors. info = i: U(i, i) is zero.
template <class T>
int64_t getri(int64_t n, T* lu, int64_t lda, const int64_t* pivots);

// Factors A = L L^H or U^H U in place, by uplo. info = i: the leading minor of order i is not
// positive.
template <class T>
int64_t potrf(char uplo, int64_t n, T* a, int64_t lda);
template <class T>
int64_t potrs(char uplo, int64_t n, int64_t nrhs, const T* a, int64_t lda, T* b, int64_t ldb);
// The inverse's `uplo` triangle in place of potrf's factor. info = i: the factor's (i, i) is zero.
template <class T>
int64_t potri(char uplo, int64_t n, T* a, int64_t lda);

// Factors A = Q R: R in the upper triangle, Q as min(m, n) reflectors below it and in tau.
template <class T>
int64_t geqrf(int64_t m, int64_t n, T* a, int64_t lda, T* tau);
// Q's first n columns from k reflectors (orgqr, ungqr for complex).
template <class T>
int64_t orgqr(int64_t m, int64_t n, int64_t k, T* a, int64_t lda, const T* tau);
// C = op(Q) C or C op(Q) from k reflectors (ormqr, unmqr for complex).
template <class T>
int64_t ormqr(char side, char trans, int64_t m, int64_t n, int64_t k, const T* a, int64_t lda,
              const T* tau, T* c, int64_t ldc);

// Singular values, largest first, and vectors: jobz 'A' all, 'S' the first min(m, n), 'N' none.
// A is destroyed. info > 0: did not converge.
template <class T>
int64_t gesdd(char jobz, int64_t m, int64_t n, T* a, int64_t lda, RealOf<T>* s, T* u, int64_t ldu,
              T* vt, int64_t ldvt);

// Eigenvalues of a symmetric or Hermitian matrix, smallest first; the vectors in place of A for
// jobz 'V'. info > 0: did not converge.
template <class T>
int64_t syevd(char jobz, char uplo, int64_t n, T* a, int64_t lda, RealOf<T>* w);

// Of a symmetric tridiagonal matrix with diagonal `d` and `e` beside it: the eigenvalues, smallest
// first, in place of d, and the vectors. For float and double. info > 0: did not converge.
template <class T>
int64_t stedc(int64_t n, T* d, T* e, T* vectors, int64_t ldv);

// Of an upper bidiagonal matrix with diagonal `d` and `e` above it: the singular values, largest
// first, in place of d, and the vectors. For float and double. info > 0: did not converge.
template <class T>
int64_t bdsdc(int64_t n, T* d, T* e, T* u, int64_t ldu, T* vt, int64_t ldvt);

// One step of estimating the largest or smallest singular value of a triangular matrix: from the
// estimate, and its vector x, for n columns to one for n + 1, of which the last is (w, gamma). Its
// vector is (sine x, cosine). For float and double.
template <class T>
struct Estimate {
  T estimate, sine, cosine;
};
template <class T>
Estimate<T> laic1(bool largest, int64_t n, const T* x, T estimate, const T* w, T gamma);

// Eigenvalues and, unless `vectors` is null, right eigenvectors of any square matrix. A is
// destroyed. info > 0: did not converge.
template <class T>
int64_t geev(int64_t n, T* a, int64_t lda, Complex<RealOf<T>>* values, Complex<RealOf<T>>* vectors);

// Least squares; B (max(m, n) rows) becomes the solution. gels wants full rank (info = i: R(i, i)
// is zero).
template <class T>
int64_t gels(int64_t m, int64_t n, int64_t nrhs, T* a, int64_t lda, T* b, int64_t ldb);
template <class T>
int64_t gelsy(int64_t m, int64_t n, int64_t nrhs, T* a, int64_t lda, T* b, int64_t ldb,
              RealOf<T> rcond, int64_t* rank);
template <class T>
int64_t gelsd(int64_t m, int64_t n, int64_t nrhs, T* a, int64_t lda, T* b, int64_t ldb,
              RealOf<T>* s, RealOf<T> rcond, int64_t* rank);
template <class T>
int64_t gelss(int64_t m, int64_t n, int64_t nrhs, T* a, int64_t lda, T* b, int64_t ldb,
              RealOf<T>* s, RealOf<T> rcond, int64_t* rank);

// X = op(A)^-1 B for side 'L' or B op(A)^-1 for 'R', in place of B; A is triangular, diag 'U' for a
// unit diagonal that is not read. A zero on the diagonal gives infinities.
template <class T>
void trsm(char side, char uplo, char trans, char diag, int64_t m, int64_t n, const T* a,
          int64_t lda, T* b, int64_t ldb);

// Calls f(i) for every matrix of a batch, on several threads if `work` (multiply-adds of one) is
// large enough. An f that can occupy several threads with one large matrix `shares` it with them
// where there are fewer matrices than threads.
template <class F>
void for_each_matrix(int64_t batch, int64_t work, F&& f, bool shares = false) {
  constexpr int64_t kWorthSharing = 1 << 20;
  const BlockingRegion unlocked(batch * work > kGrain);
  if (shares && work >= kWorthSharing && batch < num_threads()) {
    for (int64_t i = 0; i < batch; ++i) f(i);
    return;
  }
  parallel_for(batch, std::max<int64_t>(kGrain / (work + 1), 1), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(i);
  });
}

}  // namespace fb::cpu::lapack
