// What the implementations of gemm share.
#pragma once

#include "cpu/gemm.h"

namespace fb::cpu {

// Computes large products on all threads; for float. Sizes are above zero.
template <class T>
void gemm_tiled(const GemmCall& call);

// Computes products of bfloat16 matrices on all threads; returns false, and does nothing, where the
// processor has no AMX or the shape does not suit it.
bool gemm_amx(const GemmCall& call);

// Each takes one product of sizes above zero on the calling thread, without a bias.
#if defined(FB_HAVE_ONEDNN)
void gemm_onednn(const GemmCall& call);  // bfloat16, if the next says so
bool onednn_has_bfloat16();
#endif
#if defined(FB_HAVE_OPENBLAS)
void gemm_openblas(const GemmCall& call);  // float64 and complex
#endif

inline const char* element_at(const void* data, int64_t index, DType dtype) {
  return static_cast<const char*>(data) + index * static_cast<int64_t>(size_of(dtype));
}
inline char* element_at(void* data, int64_t index, DType dtype) {
  return static_cast<char*>(data) + index * static_cast<int64_t>(size_of(dtype));
}

// The part of a call with rows [i, i + m) and columns [j, j + n) of one product of the batch.
inline GemmCall part_of(const GemmCall& call, int64_t index, int64_t i, int64_t m, int64_t j,
                        int64_t n) {
  const auto& [dtype, batch, rows, columns, depth, a, b, c, accumulate, bias] = call;
  GemmCall part = call;
  part.batch = 1;
  part.m = m;
  part.n = n;
  part.a.data = element_at(a.data, index * a.batch_stride + i * (a.transposed ? 1 : a.ld), dtype);
  part.b.data = element_at(b.data, index * b.batch_stride + j * (b.transposed ? b.ld : 1), dtype);
  part.c.data = element_at(c.data, index * c.batch_stride + i * c.ld + j, dtype);
  if (bias) part.bias = element_at(bias, j, dtype);
  return part;
}

}  // namespace fb::cpu
