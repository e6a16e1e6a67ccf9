// LU, Cholesky and QR of one column-major matrix. Those of float and double take panels of columns
// by kernels of our own and the rest by products, which several threads share; complex ones are
// left to LAPACK.
//
// Arguments and results are those of LAPACK's functions of the names that the comments give, but
// pivots are int32. Work is cut by shape alone, so that results do not depend on the number of
// threads.
#pragma once

#include <cstdint>
#include <vector>

#include "cpu/factor_memory.h"

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

// Reflectors that are applied at once.
inline constexpr int64_t kBlock = 32;

// Q of k packed reflectors of m rows, as blocks: each is I - V T V^T for up to kBlock reflectors.
template <class T>
class Reflectors {
 public:
  Reflectors(int64_t m, int64_t k, const T* packed, int64_t ld, const T* tau);

  // C = Q C or Q^T C, for C with m rows.
  void multiply(bool transposed, int64_t columns, T* c, int64_t ldc) const;
  // C = C Q or C Q^T, for C with m columns.
  void multiply_right(bool transposed, int64_t rows, T* c, int64_t ldc) const;
  // The first columns of Q.
  void form(int64_t columns, T* q, int64_t ldq) const;

 private:
  struct Block {
    int64_t first, count;  // of the rows and of the reflectors
    const T* v;            // m - first rows
    const T* t;            // negated
  };

  // C = Q C or Q^T C by the blocks that hold the first `last` reflectors.
  void apply(bool transposed, int64_t last, int64_t columns, T* c, int64_t ldc) const;

  int64_t m_, k_;
  std::vector<Block> blocks_;
  Scratch<T> memory_;
};

}  // namespace fb::cpu::factor
