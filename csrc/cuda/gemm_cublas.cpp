// Matrix products by cuBLASLt, which is opened when the first one is computed.
//
// It takes matrices by columns, so that a product of ours is the product of the transposes there,
// in the other order: C^T = B^T A^T.
#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <tuple>

#include "cuda/allocator.h"
#include "cuda/context.h"
#include "cuda/gemm.h"
#include "cuda/library.h"

namespace fb::cuda {
namespace {

using Handle = void*;
using Descriptor = void*;

// The library's numbers.
constexpr int kReal32 = 0, kReal64 = 1, kReal16 = 2, kComplex32 = 4, kComplex64 = 5, kBFloat16 = 14;
constexpr int kCompute32 = 68, kCompute64 = 70, kCompute32InTf32 = 77;
constexpr int kTransposeA = 3, kTransposeB = 4, kEpilogue = 7, kBiasPointer = 8;
constexpr int kBatchCount = 5, kBatchStride = 6;
constexpr int kMostWorkspace = 1, kAlignmentA = 5, kAlignmentB = 6, kAlignmentC = 7,
              kAlignmentD = 8;
constexpr int kAsIs = 0, kTransposed = 1;
constexpr int kEpilogueBias = 4;
constexpr size_t kWorkspace = size_t{32} << 20;

struct Algorithm {
  uint64_t data[8];
};
struct Choice {
  Algorithm algorithm;
  size_t workspace;
  Status status;
  float waves;
  int reserved[4];
};

struct Functions : Symbols {
  using Symbols::Symbols;
  size_t (*version)() = find("cublasLtGetVersion");
  Status (*create)(Handle* handle) = find("cublasLtCreate");
  Status (*operation_create)(Descriptor* made, int compute,
                             int scale) = find("cublasLtMatmulDescCreate");
  Status (*operation_set)(Descriptor operation, int attribute, const void* value,
                          size_t bytes) = find("cublasLtMatmulDescSetAttribute");
  Status (*operation_destroy)(Descriptor operation) = find("cublasLtMatmulDescDestroy");
  Status (*layout_create)(Descriptor* made, int type, uint64_t rows, uint64_t columns,
                          int64_t ld) = find("cublasLtMatrixLayoutCreate");
  Status (*layout_set)(Descriptor layout, int attribute, const void* value,
                       size_t bytes) = find("cublasLtMatrixLayoutSetAttribute");
  Status (*layout_destroy)(Descriptor layout) = find("cublasLtMatrixLayoutDestroy");
  Status (*preference_create)(Descriptor* made) = find("cublasLtMatmulPreferenceCreate");
  Status (*preference_set)(Descriptor preference, int attribute, const void* value,
                           size_t bytes) = find("cublasLtMatmulPreferenceSetAttribute");
  Status (*preference_destroy)(Descriptor preference) = find("cublasLtMatmulPreferenceDestroy");
  Status (*choose)(Handle handle, Descriptor operation, Descriptor a, Descriptor b, Descriptor c,
                   Descriptor d, Descriptor preference, int wanted, Choice* choices,
                   int* count) = find("cublasLtMatmulAlgoGetHeuristic");
  Status (*product)(Handle handle, Descriptor operation, const void* alpha, const void* a,
                    Descriptor a_layout, const void* b, Descriptor b_layout, const void* beta,
                    const void* c, Descriptor c_layout, void* d, Descriptor d_layout,
                    const Algorithm* algorithm, void* workspace, size_t bytes,
                    Stream stream) = find("cublasLtMatmul");
};

Opened<Functions> open_lt() {
  const bool newest = driver_state().version >= 13000;
  Wanted wanted{.name = "cuBLASLt",
                .variable = "FLAMBEAU_LIBCUBLASLT",
                .package = newest ? "nvidia-cublas" : "nvidia-cublas-cu12",
                .files = {"libcublasLt.so.12"},
                .folders = {"nvidia/cu13/lib", "nvidia/cu12/lib", "nvidia/cublas/lib"}};
  if (newest) wanted.files.insert(wanted.files.begin(), "libcublasLt.so.13");
  Opened<Functions> lt(wanted);
  if (lt.library.handle) lt.library.version = lt.f.version();
  return lt;
}

const Opened<Functions>& lt() { return made_once<open_lt>(); }

struct Numbers {
  int data, compute, scale;
};
bool numbers_of(DType dtype, Numbers& numbers) {
  switch (dtype) {
    case DType::kFloat16: numbers = {kReal16, kCompute32, kReal32}; return true;
    case DType::kBFloat16: numbers = {kBFloat16, kCompute32, kReal32}; return true;
    case DType::kFloat32: numbers = {kReal32, kCompute32, kReal32}; return true;
    case DType::kFloat64: numbers = {kReal64, kCompute64, kReal64}; return true;
    case DType::kComplex64: numbers = {kComplex32, kCompute32, kComplex32}; return true;
    case DType::kComplex128: numbers = {kComplex64, kCompute64, kComplex64}; return true;
    default: return false;
  }
}

// Everything that the choice of an algorithm depends on.
using Key = std::tuple<int, int, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,
                       int64_t, int64_t, int64_t, int, int>;

// A kind of product, prepared: its descriptors stay as long as the process.
struct Prepared {
  bool works = false;
  Descriptor operation = nullptr, a = nullptr, b = nullptr, c = nullptr;
  Choice choice{};
};

// The power of two that an address is a multiple of, of which the choice makes use: up to 256,
// which the library takes for granted if nothing else is said.
uint32_t alignment_of(const void* address) {
  return 1u << std::countr_zero(static_cast<uint32_t>(reinterpret_cast<uintptr_t>(address)) | 256u);
}

Descriptor layout(const Functions& f, int type, int64_t rows, int64_t columns, int64_t ld,
                  int64_t batch, int64_t stride) {
  Descriptor made = nullptr;
  if (f.layout_create(&made, type, static_cast<uint64_t>(rows), static_cast<uint64_t>(columns), ld))
    return nullptr;
  if (batch > 1) {
    const auto count = static_cast<int32_t>(batch);
    f.layout_set(made, kBatchCount, &count, sizeof count);
    f.layout_set(made, kBatchStride, &stride, sizeof stride);
  }
  return made;
}

Prepared prepare(Handle handle, const Numbers& numbers, const kernel::GemmCall& g) {
  const Functions& f = lt().f;
  Prepared p;
  if (f.operation_create(&p.operation, numbers.compute, numbers.scale)) return p;
  const int first = g.b.transposed ? kTransposed : kAsIs;
  const int second = g.a.transposed ? kTransposed : kAsIs;
  f.operation_set(p.operation, kTransposeA, &first, sizeof first);
  f.operation_set(p.operation, kTransposeB, &second, sizeof second);
  if (g.bias) {
    f.operation_set(p.operation, kEpilogue, &kEpilogueBias, sizeof kEpilogueBias);
    f.operation_set(p.operation, kBiasPointer, &g.bias, sizeof g.bias);
  }
  // As they are stored: rows of ours are columns there.
  p.a = layout(f, numbers.data, g.b.transposed ? g.k : g.n, g.b.transposed ? g.n : g.k, g.b.ld,
               g.batch, g.b.batch_stride);
  p.b = layout(f, numbers.data, g.a.transposed ? g.m : g.k, g.a.transposed ? g.k : g.m, g.a.ld,
               g.batch, g.a.batch_stride);
  p.c = layout(f, numbers.data, g.n, g.m, g.c.ld, g.batch, g.c.batch_stride);
  Descriptor preference = nullptr;
  if (!p.a || !p.b || !p.c || f.preference_create(&preference)) return p;
  f.preference_set(preference, kMostWorkspace, &kWorkspace, sizeof kWorkspace);
  const auto align = [&](int attribute, uint32_t bytes) {
    f.preference_set(preference, attribute, &bytes, sizeof bytes);
  };
  align(kAlignmentA, alignment_of(g.b.data));
  align(kAlignmentB, alignment_of(g.a.data));
  align(kAlignmentC, alignment_of(g.c.data));
  // The bias is read along with the result.
  align(kAlignmentD, std::min(alignment_of(g.c.data), alignment_of(g.bias)));
  int count = 0;
  p.works =
      f.choose(handle, p.operation, p.a, p.b, p.c, p.c, preference, 1, &p.choice, &count) == 0 &&
      count == 1 && p.choice.status == 0;
  f.preference_destroy(preference);
  return p;
}

struct DeviceState {
  std::mutex mutex;
  Handle handle = nullptr;
  bool failed = false;
  std::map<Key, Prepared> prepared;
};
auto* const states = new DeviceState[kMaxDevices];

}  // namespace

const Library& product_library() { return lt().library; }

bool gemm_cublas(int device, const kernel::GemmCall& g, bool tf32) {
  Numbers numbers;
  if (!numbers_of(g.dtype, numbers) || !lt().library.handle || g.batch > INT32_MAX) return false;
  if (g.bias && g.batch > 1) return false;
  const bool in_tf32 = tf32 && (g.dtype == DType::kFloat32 || g.dtype == DType::kComplex64);
  if (in_tf32) numbers.compute = kCompute32InTf32;
  const bool is_double = g.dtype == DType::kFloat64 || g.dtype == DType::kComplex128;
  if (g.bias && (is_double || is_complex(g.dtype))) return false;  // no such epilogue
  DeviceState& state = states[device];
  std::unique_lock lock(state.mutex);
  if (state.failed) return false;
  if (!state.handle && lt().f.create(&state.handle) != 0) {
    state.failed = true;
    return false;
  }
  int aligned = 0;
  for (const void* const address : {g.a.data, g.b.data, static_cast<const void*>(g.c.data), g.bias})
    aligned = aligned << 4 | std::countr_zero(alignment_of(address));
  const int shape =
      (g.a.transposed ? 1 : 0) | (g.b.transposed ? 2 : 0) | (g.bias ? 4 : 0) | (in_tf32 ? 8 : 0);
  const Key key{static_cast<int>(g.dtype),
                shape,
                g.batch,
                g.m,
                g.n,
                g.k,
                g.a.ld,
                g.b.ld,
                g.c.ld,
                g.a.batch_stride,
                g.b.batch_stride,
                g.c.batch_stride,
                aligned,
                g.accumulate ? 1 : 0};
  const auto [at, fresh] = state.prepared.try_emplace(key);
  Prepared& p = at->second;
  if (fresh) p = prepare(state.handle, numbers, g);
  if (!p.works) return false;
  Storage workspace;
  if (p.choice.workspace) {
    // Not under the lock: the report of an allocation that fails takes Python's lock, and whoever
    // holds that one may wait for this one.
    lock.unlock();
    workspace =
        allocate(p.choice.workspace, Device(DeviceType::kCuda, static_cast<int8_t>(device)));
    lock.lock();
  }
  if (g.bias) lt().f.operation_set(p.operation, kBiasPointer, &g.bias, sizeof g.bias);
  // One and zero in any of the types: a real part and an imaginary part behind it.
  alignas(16) const float one[] = {1, 0}, zero[] = {0, 0};
  alignas(16) const double one_double[] = {1, 0}, zero_double[] = {0, 0};
  const void* const alpha = is_double ? static_cast<const void*>(one_double) : one;
  const void* const none = is_double ? static_cast<const void*>(zero_double) : zero;
  p.works = lt().f.product(state.handle, p.operation, alpha, g.b.data, p.a, g.a.data, p.b,
                           g.accumulate ? alpha : none, g.c.data, p.c, g.c.data, p.c,
                           &p.choice.algorithm, workspace ? workspace->data : nullptr,
                           p.choice.workspace, current_stream(device)) == 0;
  return p.works;
}

}  // namespace fb::cuda
