// Matrix products by OpenBLAS: float64 and complex.
#if defined(FB_HAVE_OPENBLAS)

#include "cpu/gemm_impl.h"
#include "cpu/openblas.h"

namespace fb::cpu {
namespace {

template <class T>
void product(const GemmCall& g) {
  const T one = 1;
  const T kept = g.accumulate ? 1 : 0;
  FB_CBLAS(T, gemm)
  (CblasRowMajor, g.a.transposed ? CblasTrans : CblasNoTrans,
   g.b.transposed ? CblasTrans : CblasNoTrans, g.m, g.n, g.k, blas_scalar(one),
   static_cast<const T*>(g.a.data), g.a.ld, static_cast<const T*>(g.b.data), g.b.ld,
   blas_scalar(kept), static_cast<T*>(g.c.data), g.c.ld);
}

}  // namespace

void gemm_openblas(const GemmCall& call) {
  const OpenBlasCall buffer;
  visit_floating_or_complex(call.dtype,
                            [&](auto tag) { product<typename decltype(tag)::type>(call); });
}

}  // namespace fb::cpu

#endif
