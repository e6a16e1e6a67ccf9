// Matrix products of bfloat16 by oneDNN's matmul primitive.
#if defined(FB_HAVE_ONEDNN)

#include <memory>

#include "cpu/gemm_impl.h"
#include "cpu/onednn.h"

namespace fb::cpu {
namespace {

// A primitive is made for exact sizes and strides.
struct MatmulKey {
  int64_t m, n, k;
  int64_t a_ld, b_ld, c_ld;
  uint8_t dtype, a_transposed, b_transposed, accumulate;
  uint32_t unused;  // no padding: the hash reads every byte

  bool operator==(const MatmulKey&) const = default;
};

MatmulKey key_of(const GemmCall& g) {
  return {g.m,
          g.n,
          g.k,
          g.a.ld,
          g.b.ld,
          g.c.ld,
          static_cast<uint8_t>(g.dtype),
          static_cast<uint8_t>(g.a.transposed),
          static_cast<uint8_t>(g.b.transposed),
          static_cast<uint8_t>(g.accumulate),
          0};
}

OneDnnLayout layout_of(DType dtype, int64_t rows, int64_t columns, int64_t ld, bool transposed) {
  return onednn_strided(dtype, {rows, columns}, {transposed ? 1 : ld, transposed ? ld : 1});
}

std::unique_ptr<OneDnnPrimitive> make_matmul(const GemmCall& g) {
  const OneDnnLayout a = layout_of(g.dtype, g.m, g.k, g.a.ld, g.a.transposed);
  const OneDnnLayout b = layout_of(g.dtype, g.k, g.n, g.b.ld, g.b.transposed);
  const OneDnnLayout c = layout_of(g.dtype, g.m, g.n, g.c.ld, false);
  dnnl_post_ops_t post_ops = nullptr;
  dnnl_primitive_attr_t attributes = nullptr;
  dnnl_primitive_desc_t description = nullptr;
  if (g.accumulate) {
    onednn_check(dnnl_post_ops_create(&post_ops), "dnnl_post_ops_create");
    onednn_check(dnnl_post_ops_append_sum(post_ops, 1.0f, 0, dnnl_data_type_undef),
                 "dnnl_post_ops_append_sum");
    onednn_check(dnnl_primitive_attr_create(&attributes), "dnnl_primitive_attr_create");
    onednn_check(dnnl_primitive_attr_set_post_ops(attributes, post_ops),
                 "dnnl_primitive_attr_set_post_ops");
  }
  onednn_check(dnnl_matmul_primitive_desc_create(&description, onednn_engine(), a.get(), b.get(),
                                                 nullptr, c.get(), attributes),
               "dnnl_matmul_primitive_desc_create");
  dnnl_primitive_attr_destroy(attributes);
  dnnl_post_ops_destroy(post_ops);
  return std::make_unique<OneDnnPrimitive>(
      description,
      std::initializer_list<OneDnnPrimitive::Argument>{
          {DNNL_ARG_SRC, a.get()}, {DNNL_ARG_WEIGHTS, b.get()}, {DNNL_ARG_DST, c.get()}});
}

// One cache per thread needs no lock; oneDNN shares the generated code itself between them.
void multiply(const GemmCall& g) {
  constexpr size_t kCachedPrimitives = 256;
  thread_local RecentCache<MatmulKey, std::unique_ptr<OneDnnPrimitive>> cache(kCachedPrimitives);
  cache.get(key_of(g), [&] { return make_matmul(g); })->run({g.a.data, g.b.data, g.c.data});
}

}  // namespace

bool onednn_has_bfloat16() {
  static const bool has =
      (dnnl_get_effective_cpu_isa() & dnnl_cpu_isa_avx512_core) == dnnl_cpu_isa_avx512_core;
  return has;
}

void gemm_onednn(const GemmCall& call) {
  const OneDnnOnThisThread alone;
  multiply(call);
}

}  // namespace fb::cpu

#endif
