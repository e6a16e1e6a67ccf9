// Matrix products by oneDNN's matmul primitive: the fastest for float32 and bfloat16 beyond small
// sizes.
#if defined(FB_HAVE_ONEDNN)

#include <algorithm>
#include <cstring>
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

struct MatmulKeyHash {
  size_t operator()(const MatmulKey& key) const {
    uint64_t words[sizeof(MatmulKey) / 8];
    static_assert(sizeof(words) == sizeof(MatmulKey));
    std::memcpy(words, &key, sizeof(key));
    uint64_t hash = 0;
    for (const uint64_t word : words) hash = (hash ^ word) * 0x9e3779b97f4a7c15u + (hash >> 29);
    return hash;
  }
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

dnnl_data_type_t onednn_type(DType dtype) {
  return dtype == DType::kBFloat16 ? dnnl_bf16 : dnnl_f32;
}

struct Descriptor {
  dnnl_memory_desc_t handle = nullptr;

  Descriptor(DType dtype, int64_t rows, int64_t columns, int64_t ld, bool transposed) {
    const dnnl_dims_t dims = {rows, columns};
    const dnnl_dims_t strides = {transposed ? 1 : ld, transposed ? ld : 1};
    onednn_check(
        dnnl_memory_desc_create_with_strides(&handle, 2, dims, onednn_type(dtype), strides),
        "dnnl_memory_desc_create_with_strides");
  }
  ~Descriptor() { dnnl_memory_desc_destroy(handle); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
};

// A primitive with the memory objects of its arguments, whose addresses change from call to call.
class Matmul {
 public:
  explicit Matmul(const GemmCall& g) {
    const Descriptor a(g.dtype, g.m, g.k, g.a.ld, g.a.transposed);
    const Descriptor b(g.dtype, g.k, g.n, g.b.ld, g.b.transposed);
    const Descriptor c(g.dtype, g.m, g.n, g.c.ld, false);
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
    onednn_check(dnnl_matmul_primitive_desc_create(&description, onednn_engine(), a.handle,
                                                   b.handle, nullptr, c.handle, attributes),
                 "dnnl_matmul_primitive_desc_create");
    onednn_check(dnnl_primitive_create(&primitive_, description), "dnnl_primitive_create");
    add_argument(0, DNNL_ARG_SRC, a.handle);
    add_argument(1, DNNL_ARG_WEIGHTS, b.handle);
    add_argument(2, DNNL_ARG_DST, c.handle);
    dnnl_primitive_desc_destroy(description);
    dnnl_primitive_attr_destroy(attributes);
    dnnl_post_ops_destroy(post_ops);
  }

  ~Matmul() {
    for (const dnnl_exec_arg_t& argument : arguments_) dnnl_memory_destroy(argument.memory);
    dnnl_primitive_destroy(primitive_);
  }
  Matmul(const Matmul&) = delete;
  Matmul& operator=(const Matmul&) = delete;

  void run(const GemmCall& g) const {
    const void* addresses[] = {g.a.data, g.b.data, g.c.data};
    for (int i = 0; i < 3; ++i) {
      onednn_check(
          dnnl_memory_set_data_handle(arguments_[i].memory, const_cast<void*>(addresses[i])),
          "dnnl_memory_set_data_handle");
    }
    onednn_check(dnnl_primitive_execute(primitive_, onednn_stream(), 3, arguments_),
                 "dnnl_primitive_execute");
  }

 private:
  void add_argument(int i, int role, dnnl_memory_desc_t descriptor) {
    arguments_[i].arg = role;
    onednn_check(
        dnnl_memory_create(&arguments_[i].memory, descriptor, onednn_engine(), DNNL_MEMORY_NONE),
        "dnnl_memory_create");
  }

  dnnl_primitive_t primitive_ = nullptr;
  dnnl_exec_arg_t arguments_[3] = {};
};

// One cache per thread needs no lock; oneDNN shares the generated code itself between them.
Matmul& matmul_for(const GemmCall& g) {
  constexpr size_t kCachedPrimitives = 256;
  thread_local RecentCache<MatmulKey, std::unique_ptr<Matmul>, MatmulKeyHash> cache(
      kCachedPrimitives);
  return *cache.get(key_of(g), [&] { return std::make_unique<Matmul>(g); });
}

// Writes the transpose of a rows x columns matrix, in squares that fit the first-level cache.
void turn(const float* from, int64_t ld, int64_t rows, int64_t columns, float* to) {
  constexpr int64_t kSquare = 16;
  for (int64_t i = 0; i < rows; i += kSquare) {
    const int64_t i_end = std::min(i + kSquare, rows);
    for (int64_t j = 0; j < columns; j += kSquare) {
      const int64_t j_end = std::min(j + kSquare, columns);
      for (int64_t y = j; y < j_end; ++y) {
        for (int64_t x = i; x < i_end; ++x) to[y * rows + x] = from[x * ld + y];
      }
    }
  }
}

}  // namespace

bool onednn_has_bfloat16() {
  static const bool has =
      (dnnl_get_effective_cpu_isa() & dnnl_cpu_isa_avx512_core) == dnnl_cpu_isa_avx512_core;
  return has;
}

void gemm_onednn(const GemmCall& call) {
  const OneDnnSingleThreaded single;
  if (call.dtype == DType::kFloat32 && call.a.transposed && call.b.transposed) {
    // Two transposed matrices reach half the speed of any other pair; turning A first costs less.
    const std::unique_ptr<float[]> turned(new float[call.m * call.k]);
    turn(static_cast<const float*>(call.a.data), call.a.ld, call.k, call.m, turned.get());
    GemmCall plain = call;
    plain.a = {turned.get(), call.k};
    return matmul_for(plain).run(plain);
  }
  matmul_for(call).run(call);
}

}  // namespace fb::cpu

#endif
