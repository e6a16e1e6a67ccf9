// OpenBLAS with 64-bit integers, as the PyPI package names it, on our element types.
#pragma once

#if defined(FB_HAVE_OPENBLAS)

#include <cstdint>

#include "scalar/types.h"

#define LAPACK_ILP64
#define LAPACK_COMPLEX_CUSTOM
#define lapack_complex_float fb::Complex<float>
#define lapack_complex_double fb::Complex<double>
#include <cblas.h>
#include <lapacke.h>

static_assert(sizeof(blasint) == 8 && sizeof(lapack_int) == 8);

namespace fb::cpu {

// The one of four functions that is for T.
template <class T, class S, class D, class C, class Z>
constexpr auto pick_blas(S s, D d, C c, Z z) {
  if constexpr (__is_same(T, float))
    return s;
  else if constexpr (__is_same(T, double))
    return d;
  else if constexpr (__is_same(T, Complex<float>))
    return c;
  else
    return z;
}
#define FB_CBLAS(T, name)                                                     \
  ::fb::cpu::pick_blas<T>(scipy_cblas_s##name##64_, scipy_cblas_d##name##64_, \
                          scipy_cblas_c##name##64_, scipy_cblas_z##name##64_)

// A factor as CBLAS takes it: real ones by value, complex ones by address.
template <class T>
auto blas_scalar(const T& value) {
  if constexpr (kIsComplex<T>)
    return &value;
  else
    return value;
}

// Alive while OpenBLAS is called. Fails if there is no memory for OpenBLAS's own buffers: see Note
// [Buffers of OpenBLAS].
class OpenBlasCall {
 public:
  OpenBlasCall();
  ~OpenBlasCall();
  OpenBlasCall(const OpenBlasCall&) = delete;
  OpenBlasCall& operator=(const OpenBlasCall&) = delete;
};

}  // namespace fb::cpu

#endif
