// LAPACK through OpenBLAS's C interface, which finds the workspace each call needs.
#include "cpu/lapack.h"

#include <memory>

#include "core/error.h"
#include "cpu/openblas.h"

#if defined(FB_HAVE_OPENBLAS)
// LAPACKE leaves this one out.
extern "C" {
void scipy_slaic1_64_(const int64_t* job, const int64_t* j, const float* x, const float* sest,
                      const float* w, const float* gamma, float* sestpr, float* s, float* c);
void scipy_dlaic1_64_(const int64_t* job, const int64_t* j, const double* x, const double* sest,
                      const double* w, const double* gamma, double* sestpr, double* s, double* c);
}
#endif

namespace fb::cpu::lapack {
namespace {

int64_t checked(int64_t info) {
  FB_CHECK_AS(ErrorKind::kOutOfMemory, info != -1010 && info != -1011,
              "out of memory for LAPACK's workspace");
  FB_ASSERT(info >= 0);
  return info;
}

#if defined(FB_HAVE_OPENBLAS)

// NaNs propagate as in every other operator; LAPACKE would refuse them.
void accept_nans() {
  static const bool done = [] {
    scipy_LAPACKE_set_nancheck64_(0);
    return true;
  }();
  static_cast<void>(done);
}

// The buffer lives as long as the expression that the call is in.
#define FB_PICK_LAPACKE(T, real, complex)                               \
  (accept_nans(), static_cast<void>(OpenBlasCall()),                    \
   pick_blas<T>(scipy_LAPACKE_s##real##64_, scipy_LAPACKE_d##real##64_, \
                scipy_LAPACKE_c##complex##64_, scipy_LAPACKE_z##complex##64_))
// For functions of which there are no complex forms.
#define FB_REAL_LAPACKE(T, name)                     \
  (accept_nans(), static_cast<void>(OpenBlasCall()), \
   pick_blas<T>(scipy_LAPACKE_s##name##64_, scipy_LAPACKE_d##name##64_, nullptr, nullptr))
constexpr int kColumnMajor = LAPACK_COL_MAJOR;

#else

constexpr int kColumnMajor = 102;
int64_t missing() {
  fail(ErrorKind::kRuntime, "needs LAPACK, but this build of Flambeau has no OpenBLAS");
}
#define FB_PICK_LAPACKE(T, real, complex) [](auto&&...) { return missing(); }
#define FB_REAL_LAPACKE(T, name) FB_PICK_LAPACKE(T, name, name)

#endif

#define FB_LAPACKE(T, name) FB_PICK_LAPACKE(T, name, name)

}  // namespace

template <class T>
int64_t getrf(int64_t m, int64_t n, T* a, int64_t lda, int64_t* pivots) {
  return checked(FB_LAPACKE(T, getrf)(kColumnMajor, m, n, a, lda, pivots));
}

template <class T>
int64_t getrs(char trans, int64_t n, int64_t nrhs, const T* lu, int64_t lda, const int64_t* pivots,
              T* b, int64_t ldb) {
  return checked(FB_LAPACKE(T, getrs)(kColumnMajor, trans, n, nrhs, lu, lda, pivots, b, ldb));
}

template <class T>
int64_t getri(int64_t n, T* lu, int64_t lda, const int64_t* pivots) {
  return checked(FB_LAPACKE(T, getri)(kColumnMajor, n, lu, lda, pivots));
}

template <class T>
int64_t potrf(char uplo, int64_t n, T* a, int64_t lda) {
  return checked(FB_LAPACKE(T, potrf)(kColumnMajor, uplo, n, a, lda));
}

template <class T>
int64_t potrs(char uplo, int64_t n, int64_t nrhs, const T* a, int64_t lda, T* b, int64_t ldb) {
  return checked(FB_LAPACKE(T, potrs)(kColumnMajor, uplo, n, nrhs, a, lda, b, ldb));
}

template <class T>
int64_t potri(char uplo, int64_t n, T* a, int64_t lda) {
  return checked(FB_LAPACKE(T, potri)(kColumnMajor, uplo, n, a, lda));
}

template <class T>
int64_t geqrf(int64_t m, int64_t n, T* a, int64_t lda, T* tau) {
  return checked(FB_LAPACKE(T, geqrf)(kColumnMajor, m, n, a, lda, tau));
}

template <class T>
int64_t orgqr(int64_t m, int64_t n, int64_t k, T* a, int64_t lda, const T* tau) {
  return checked(FB_PICK_LAPACKE(T, orgqr, ungqr)(kColumnMajor, m, n, k, a, lda, tau));
}

template <class T>
int64_t ormqr(char side, char trans, int64_t m, int64_t n, int64_t k, const T* a, int64_t lda,
              const T* tau, T* c, int64_t ldc) {
  return checked(
      FB_PICK_LAPACKE(T, ormqr, unmqr)(kColumnMajor, side, trans, m, n, k, a, lda, tau, c, ldc));
}

template <class T>
int64_t gesdd(char jobz, int64_t m, int64_t n, T* a, int64_t lda, RealOf<T>* s, T* u, int64_t ldu,
              T* vt, int64_t ldvt) {
  return checked(FB_LAPACKE(T, gesdd)(kColumnMajor, jobz, m, n, a, lda, s, u, ldu, vt, ldvt));
}

template <class T>
int64_t syevd(char jobz, char uplo, int64_t n, T* a, int64_t lda, RealOf<T>* w) {
  return checked(FB_PICK_LAPACKE(T, syevd, heevd)(kColumnMajor, jobz, uplo, n, a, lda, w));
}

template <class T>
int64_t stedc(int64_t n, T* d, T* e, T* vectors, int64_t ldv) {
  return checked(FB_REAL_LAPACKE(T, stedc)(kColumnMajor, 'I', n, d, e, vectors, ldv));
}

template <class T>
int64_t bdsdc(int64_t n, T* d, T* e, T* u, int64_t ldu, T* vt, int64_t ldvt) {
  return checked(FB_REAL_LAPACKE(T, bdsdc)(kColumnMajor, 'U', 'I', n, d, e, u, ldu, vt, ldvt,
                                           static_cast<T*>(nullptr),
                                           static_cast<int64_t*>(nullptr)));
}

template <class T>
int64_t geev(int64_t n, T* a, int64_t lda, Complex<RealOf<T>>* values,
             Complex<RealOf<T>>* vectors) {
  const char jobv = vectors ? 'V' : 'N';
  const int64_t ldv = std::max<int64_t>(n, 1);
  if constexpr (kIsComplex<T>) {
    return checked(FB_LAPACKE(T, geev)(kColumnMajor, 'N', jobv, n, a, lda, values, nullptr, ldv,
                                       vectors, ldv));
  } else {
    std::unique_ptr<T[]> parts(new T[2 * n]);
    std::unique_ptr<T[]> packed(vectors ? new T[n * n] : nullptr);
    T* real = parts.get();
    T* imag = real + n;
    const int64_t info = checked(FB_LAPACKE(T, geev)(kColumnMajor, 'N', jobv, n, a, lda, real, imag,
                                                     nullptr, ldv, packed.get(), ldv));
    for (int64_t j = 0; j < n; ++j) values[j] = {real[j], imag[j]};
    if (!vectors) return info;
    // A complex pair of vectors is stored as its real part, then its imaginary part.
    for (int64_t j = 0; j < n; ++j) {
      const T* column = packed.get() + j * n;
      if (imag[j] == 0) {
        for (int64_t i = 0; i < n; ++i) vectors[j * n + i] = {column[i], 0};
      } else {
        for (int64_t i = 0; i < n; ++i) {
          vectors[j * n + i] = {column[i], column[n + i]};
          vectors[(j + 1) * n + i] = {column[i], -column[n + i]};
        }
        ++j;
      }
    }
    return info;
  }
}

template <class T>
int64_t gels(int64_t m, int64_t n, int64_t nrhs, T* a, int64_t lda, T* b, int64_t ldb) {
  return checked(FB_LAPACKE(T, gels)(kColumnMajor, 'N', m, n, nrhs, a, lda, b, ldb));
}

template <class T>
int64_t gelsy(int64_t m, int64_t n, int64_t nrhs, T* a, int64_t lda, T* b, int64_t ldb,
              RealOf<T> rcond, int64_t* rank) {
  std::unique_ptr<int64_t[]> free_columns(new int64_t[n]());
  return checked(FB_LAPACKE(T, gelsy)(kColumnMajor, m, n, nrhs, a, lda, b, ldb, free_columns.get(),
                                      rcond, rank));
}

template <class T>
int64_t gelsd(int64_t m, int64_t n, int64_t nrhs, T* a, int64_t lda, T* b, int64_t ldb,
              RealOf<T>* s, RealOf<T> rcond, int64_t* rank) {
  return checked(FB_LAPACKE(T, gelsd)(kColumnMajor, m, n, nrhs, a, lda, b, ldb, s, rcond, rank));
}

template <class T>
int64_t gelss(int64_t m, int64_t n, int64_t nrhs, T* a, int64_t lda, T* b, int64_t ldb,
              RealOf<T>* s, RealOf<T> rcond, int64_t* rank) {
  return checked(FB_LAPACKE(T, gelss)(kColumnMajor, m, n, nrhs, a, lda, b, ldb, s, rcond, rank));
}

#if defined(FB_HAVE_OPENBLAS)
template <class T>
Estimate<T> laic1(bool largest, int64_t n, const T* x, T estimate, const T* w, T gamma) {
  const OpenBlasCall buffer;
  const int64_t job = largest ? 1 : 2;
  Estimate<T> grown;
  const auto call = [&](auto function) {
    function(&job, &n, x, &estimate, w, &gamma, &grown.estimate, &grown.sine, &grown.cosine);
  };
  if constexpr (__is_same(T, float))
    call(scipy_slaic1_64_);
  else
    call(scipy_dlaic1_64_);
  return grown;
}

template <class T>
void trsm(char side, char uplo, char trans, char diag, int64_t m, int64_t n, const T* a,
          int64_t lda, T* b, int64_t ldb) {
  const OpenBlasCall buffer;
  const T one = 1;
  const auto op = trans == 'N' ? CblasNoTrans : trans == 'T' ? CblasTrans : CblasConjTrans;
  FB_CBLAS(T, trsm)
  (CblasColMajor, side == 'L' ? CblasLeft : CblasRight, uplo == 'L' ? CblasLower : CblasUpper, op,
   diag == 'U' ? CblasUnit : CblasNonUnit, m, n, blas_scalar(one), a, lda, b, ldb);
}
#else
template <class T>
Estimate<T> laic1(bool, int64_t, const T*, T, const T*, T) {
  missing();
  return {};
}
template <class T>
void trsm(char, char, char, char, int64_t, int64_t, const T*, int64_t, T*, int64_t) {
  missing();
}
#endif

#define FB_INSTANTIATE(T)                                                                         \
  template int64_t getrf(int64_t, int64_t, T*, int64_t, int64_t*);                                \
  template int64_t getrs(char, int64_t, int64_t, const T*, int64_t, const int64_t*, T*, int64_t); \
  template int64_t getri(int64_t, T*, int64_t, const int64_t*);                                   \
  template int64_t potrf(char, int64_t, T*, int64_t);                                             \
  template int64_t potrs(char, int64_t, int64_t, const T*, int64_t, T*, int64_t);                 \
  template int64_t potri(char, int64_t, T*, int64_t);                                             \
  template int64_t geqrf(int64_t, int64_t, T*, int64_t, T*);                                      \
  template int64_t orgqr(int64_t, int64_t, int64_t, T*, int64_t, const T*);                       \
  template int64_t ormqr(char, char, int64_t, int64_t, int64_t, const T*, int64_t, const T*, T*,  \
                         int64_t);                                                                \
  template int64_t gesdd(char, int64_t, int64_t, T*, int64_t, RealOf<T>*, T*, int64_t, T*,        \
                         int64_t);                                                                \
  template int64_t syevd(char, char, int64_t, T*, int64_t, RealOf<T>*);                           \
  template int64_t geev(int64_t, T*, int64_t, Complex<RealOf<T>>*, Complex<RealOf<T>>*);          \
  template int64_t gels(int64_t, int64_t, int64_t, T*, int64_t, T*, int64_t);                     \
  template int64_t gelsy(int64_t, int64_t, int64_t, T*, int64_t, T*, int64_t, RealOf<T>,          \
                         int64_t*);                                                               \
  template int64_t gelsd(int64_t, int64_t, int64_t, T*, int64_t, T*, int64_t, RealOf<T>*,         \
                         RealOf<T>, int64_t*);                                                    \
  template int64_t gelss(int64_t, int64_t, int64_t, T*, int64_t, T*, int64_t, RealOf<T>*,         \
                         RealOf<T>, int64_t*);                                                    \
  template void trsm(char, char, char, char, int64_t, int64_t, const T*, int64_t, T*, int64_t);
FB_INSTANTIATE(float)
FB_INSTANTIATE(double)
FB_INSTANTIATE(Complex<float>)
FB_INSTANTIATE(Complex<double>)
#undef FB_INSTANTIATE
#define FB_INSTANTIATE(T)                                              \
  template int64_t stedc(int64_t, T*, T*, T*, int64_t);                \
  template Estimate<T> laic1(bool, int64_t, const T*, T, const T*, T); \
  template int64_t bdsdc(int64_t, T*, T*, T*, int64_t, T*, int64_t);
FB_INSTANTIATE(float)
FB_INSTANTIATE(double)
#undef FB_INSTANTIATE

}  // namespace fb::cpu::lapack
