// Matrix products: chooses the implementation, and holds the small, vector and plain ones.
#include "cpu/gemm.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "cpu/gemm_grid.h"
#include "cpu/gemm_impl.h"
#include "cpu/kernels/gemm.h"
#include "cpu/kernels/transpose_matrix.h"
#include "cpu/packed_gemm.h"
#include "cpu/threads.h"

namespace fb::cpu {
namespace {

// Up to here one thread and a register-tiled kernel beat the cost of entering a library
// (about 0.6 us for oneDNN; at 64 x 64 x 64 both take the same time).
constexpr int64_t kSmallProduct = 64 * 64 * 64;
// Elements of a transposed B that a small product may copy to the stack.
constexpr int64_t kPackedElements = 4096;
// Sums of fewer products than this do not fill a vector.
constexpr int64_t kShortSum = 32;
// A small C with a deep sum keeps too few sums in flight.
constexpr int64_t kSmallDepth = 512;

// Rows, columns and depth of the block of a plain product: B's block fits half a second-level
// cache.
constexpr int64_t kBlockRows = 128;
constexpr int64_t kBlockColumns = 256;
constexpr int64_t kBlockDepth = 128;

template <class T>
GemmBlock<T> block_of(const GemmCall& g) {
  GemmBlock<T> block{};
  block.m = g.m;
  block.n = g.n;
  block.k = g.k;
  block.a = static_cast<const T*>(g.a.data);
  block.a_row = g.a.transposed ? 1 : g.a.ld;
  block.a_col = g.a.transposed ? g.a.ld : 1;
  block.b = static_cast<const T*>(g.b.data);
  block.b_row = g.b.ld;
  block.c = static_cast<T*>(g.c.data);
  block.c_row = g.c.ld;
  if (g.accumulate) {
    block.start = block.c;
    block.start_stride = g.c.ld;
  } else {
    block.start = static_cast<const T*>(g.bias);
  }
  return block;
}

// Copies B[k0 : k0 + k, :] of a transposed matrix into rows of `g.n`.
template <class T>
void pack_transposed(const GemmCall& g, int64_t k0, int64_t k, T* packed) {
  const T* b = static_cast<const T*>(g.b.data) + k0;
  if constexpr (kIsFloat<T>) {
    FB_KERNEL(transpose_matrix<T>)(TransposeCall<T>{g.n, k, b, g.b.ld, packed, g.n});
  } else {
    for (int64_t j = 0; j < g.n; ++j) {
      for (int64_t i = 0; i < k; ++i) packed[i * g.n + j] = b[j * g.b.ld + i];
    }
  }
}

template <class T>
void gemv_share(const GemvCall<T>& g, bool transposed) {
  transposed ? FB_KERNEL(gemv_columns<T>)(g) : FB_KERNEL(gemv_rows<T>)(g);
}

// Outputs [begin, end) of y.
template <class T>
void gemv_outputs(GemvCall<T> g, bool transposed, int64_t begin, int64_t end) {
  (transposed ? g.cols : g.rows) = end - begin;
  g.a += transposed ? begin : begin * g.stride;
  g.y += begin;
  if (g.start) g.start += begin;
  gemv_share(g, transposed);
}

// Of a sum that is cut into stretches, which are computed at the same time and added in order.
// Their number depends on the shape alone. Few sums over many elements leave no other division.
// Columns of a matrix with short rows fall into few sets of a cache, so that a thread's share does
// not stay there until the next product; whole rows do.
int64_t stretches_of(int64_t outputs, int64_t depth, bool transposed) {
  constexpr int64_t kStretch = 16384, kFewOutputs = 64;
  if (outputs <= kFewOutputs && depth >= 2 * kStretch) return (depth + kStretch - 1) / kStretch;
  constexpr int64_t kShortRow = 16384, kStretches = 4, kLeastDepth = 128;
  const bool pays = transposed && outputs <= kShortRow && outputs * depth >= kStretches * kGrain;
  return pays && depth >= kStretches * kLeastDepth ? kStretches : 1;
}

template <class T>
void gemv_deep(const GemvCall<T>& g, bool transposed, int64_t outputs, int64_t depth,
               int64_t stretches) {
  constexpr int64_t kLine =
      64;  // elements of two cache lines or more, which a thread has to itself
  const int64_t threads = std::clamp<int64_t>(outputs * depth / kGrain, 1, num_threads());
  const int64_t lines = (outputs + kLine - 1) / kLine;
  const int64_t across = transposed ? std::clamp<int64_t>(threads / stretches, 1, lines) : 1;
  const int64_t work = outputs * depth / (stretches * across) + 1;
  const std::unique_ptr<T[]> sums(new T[stretches * outputs]);
  parallel_for(stretches * across, std::max<int64_t>(kGrain / work, 1),
               [&](int64_t begin, int64_t end) {
                 for (int64_t t = begin; t < end; ++t) {
                   const int64_t s = t / across, first = depth * s / stretches;
                   GemvCall<T> share = g;
                   (transposed ? share.rows : share.cols) = depth * (s + 1) / stretches - first;
                   share.a += first * (transposed ? g.stride : 1);
                   share.x += first;
                   share.y = sums.get() + s * outputs;
                   share.start = nullptr;
                   gemv_outputs(share, transposed, lines * (t % across) / across * kLine,
                                std::min(lines * (t % across + 1) / across * kLine, outputs));
                 }
               });
  for (int64_t j = 0; j < outputs; ++j) g.y[j] = g.start ? g.start[j] : T(0);
  for (int64_t s = 0; s < stretches; ++s) {
    const T* const sum = sums.get() + s * outputs;
    for (int64_t j = 0; j < outputs; ++j) g.y[j] += sum[j];
  }
}

template <class T>
void gemv(const GemvCall<T>& g, bool transposed) {
  const int64_t outputs = transposed ? g.cols : g.rows;
  const int64_t depth = transposed ? g.rows : g.cols;
  const int64_t stretches = stretches_of(outputs, depth, transposed);
  if (stretches > 1) return gemv_deep(g, transposed, outputs, depth, stretches);
  // Along columns, a thread should have whole cache lines to itself.
  const int64_t grain = std::max<int64_t>(kGrain / (depth + 1), transposed ? 64 : 1);
  parallel_for(outputs, grain,
               [&](int64_t begin, int64_t end) { gemv_outputs(g, transposed, begin, end); });
}

// C = A B, or C + A B, for a single column B and rows of A too short to fill a vector: blocks of
// them are transposed, so that each lane is a sum.
template <class T>
void short_rows(const GemmCall& g) {
  const int64_t rows = kPackedElements / g.k;
  parallel_for((g.m + rows - 1) / rows, 8, [&](int64_t begin, int64_t end) {
    alignas(64) T transposed[kPackedElements];
    for (int64_t i = begin * rows; i < std::min(end * rows, g.m); i += rows) {
      GemmCall part = part_of(g, 0, i, std::min(rows, g.m - i), 0, 1);
      std::swap(part.m, part.n);
      part.a = {g.b.data, g.b.ld, !g.b.transposed};
      part.b = {element_at(g.a.data, i * g.a.ld, g.dtype), g.a.ld, true};
      part.bias = nullptr;
      pack_transposed(part, 0, g.k, transposed);
      part.b = {transposed, part.n};
      FB_KERNEL(gemm_block<T>)(block_of<T>(part));
    }
  });
}

// A single product in which A is a row or B is a column.
template <class T>
bool vector_product(const GemmCall& g) {
  const bool row = g.m == 1;
  if (!row && (g.n != 1 || g.c.ld != 1)) return false;
  const MatrixIn& matrix = row ? g.b : g.a;
  const MatrixIn& vector = row ? g.a : g.b;
  const int64_t outputs = row ? g.n : g.m;
  // Whether the elements of each sum are adjacent; a single dense column counts as a row.
  const bool stored_by_output = row == matrix.transposed || (outputs == 1 && matrix.ld == 1);
  const int64_t x_stride = row == vector.transposed ? vector.ld : 1;
  T* c = static_cast<T*>(g.c.data);
  GemvCall<T> call{};
  call.rows = stored_by_output ? outputs : g.k;
  call.cols = stored_by_output ? g.k : outputs;
  call.stride = matrix.ld;
  call.a = static_cast<const T*>(matrix.data);
  call.x = static_cast<const T*>(vector.data);
  const T* bias = static_cast<const T*>(g.bias);
  call.start = g.accumulate ? c : row ? bias : nullptr;
  call.y = c;
  std::unique_ptr<T[]> gathered;
  if (x_stride != 1 && g.k > 1) {
    gathered.reset(new T[g.k]);
    for (int64_t i = 0; i < g.k; ++i) gathered[i] = call.x[i * x_stride];
    call.x = gathered.get();
  }
  if (!row && !g.a.transposed && g.k > 0 && g.k < kShortSum)
    short_rows<T>(g);
  else
    gemv(call, !stored_by_output);
  if (bias && !row) {
    for (int64_t i = 0; i < g.m; ++i) c[i] += *bias;
  }
  return true;
}

template <class T>
void small_product(const GemmCall& g) {
  // Sums that do not fill a vector are faster side by side, one lane each.
  const bool short_sums =
      g.m == 1 && g.b.transposed && g.k < kShortSum && g.n * g.k <= kPackedElements;
  if (!short_sums && vector_product<T>(g)) return;
  GemmBlock<T> block = block_of<T>(g);
  if (!g.b.transposed) return FB_KERNEL(gemm_block<T>)(block);
  alignas(64) T packed[kPackedElements];
  pack_transposed(g, 0, g.k, packed);
  block.b = packed;
  block.b_row = g.n;
  FB_KERNEL(gemm_block<T>)(block);
}

// Products too small for a library, and those with a vector, where libraries are slow.
template <class T>
bool small_gemm(const GemmCall& call) {
  const int64_t work = call.m * call.n * call.k;
  const bool small = work <= kSmallProduct && call.k <= kSmallDepth &&
                     !(call.b.transposed && call.n * call.k > kPackedElements);
  const bool with_vector = call.m == 1 || (call.n == 1 && call.c.ld == 1);
  if (!small && !with_vector) return false;
  if (call.batch == 1) {
    small_product<T>(call);
    return true;
  }
  const int64_t grain = small ? std::max<int64_t>(kGrain / (work + 1), 1) : call.batch;
  parallel_for(call.batch, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) small_product<T>(part_of(call, i, 0, call.m, 0, call.n));
  });
  return true;
}

// One block of C, over the whole depth.
template <class T>
void plain_block(const GemmCall& g, T* packed) {
  GemmBlock<T> block = block_of<T>(g);
  for (int64_t k = 0; k < g.k || k == 0; k += kBlockDepth) {
    block.k = std::min(kBlockDepth, g.k - k);
    if (g.b.transposed) {
      pack_transposed(g, k, block.k, packed);
      block.b = packed;
      block.b_row = g.n;
    }
    FB_KERNEL(gemm_block<T>)(block);
    block.a += kBlockDepth * block.a_col;
    block.b += kBlockDepth * block.b_row;
    block.start = block.c;
    block.start_stride = block.c_row;
  }
}

template <class T>
void plain_gemm(const GemmCall& call) {
  const int64_t down = (call.m + kBlockRows - 1) / kBlockRows;
  const int64_t across = (call.n + kBlockColumns - 1) / kBlockColumns;
  const int64_t blocks = call.batch * down * across;
  const int64_t block_work =
      std::min(call.m, kBlockRows) * std::min(call.n, kBlockColumns) * (call.k + 1);
  parallel_for(blocks, std::max<int64_t>(kGrain / block_work, 1), [&](int64_t begin, int64_t end) {
    std::unique_ptr<T[]> packed;
    if (call.b.transposed) packed.reset(new T[kBlockColumns * kBlockDepth]);
    for (int64_t t = begin; t < end; ++t) {
      const int64_t i = t / across % down * kBlockRows;
      const int64_t j = t % across * kBlockColumns;
      plain_block(part_of(call, t / (down * across), i, std::min(kBlockRows, call.m - i), j,
                          std::min(kBlockColumns, call.n - j)),
                  packed.get());
    }
  });
}

// Fills C with the bias, for libraries that can only accumulate.
void start_from_bias(GemmCall& call) {
  for (int64_t i = 0; i < call.m; ++i) {
    std::memcpy(element_at(call.c.data, i * call.c.ld, call.dtype), call.bias,
                call.n * size_of(call.dtype));
  }
  call.bias = nullptr;
  call.accumulate = true;
}

// Computes one product on the calling thread; knows neither batches nor bias.
using Product = void (*)(const GemmCall&);

// The division depends only on the shape, and each part is computed by one thread: libraries that
// divide the work themselves sum differently for another number of threads.
// `worth`: the multiplications that are worth a thread.
[[maybe_unused]] void run_library(const GemmCall& call, Product product, int64_t worth) {
  constexpr int64_t kEnoughParts = 16;
  const int64_t all = call.batch * call.m * call.n * call.k;
  const GemmGrid grid = grid_of(call, std::clamp<int64_t>(all / worth, 1, kEnoughParts));
  const int64_t parts = call.batch * grid.parts();
  const BlockingRegion unlocked(all > (1 << 18));
  parallel_for(parts, std::max<int64_t>(2 * kGrain * parts / (all + 1), 1),
               [&](int64_t begin, int64_t end) {
                 for (int64_t t = begin; t < end; ++t) {
                   const int64_t place = t % grid.parts();
                   const Range rows = grid.rows(call, place), columns = grid.columns(call, place);
                   GemmCall part = part_of(call, t / grid.parts(), rows.begin, rows.size(),
                                           columns.begin, columns.size());
                   if (part.bias) start_from_bias(part);
                   product(part);
                 }
               });
}

// Few rows of A and B stored by columns: reading B in place, once, is all the work.
template <class T>
bool few_rows(const GemmCall& g) {
  constexpr int64_t kFewRows = 8, kManyColumns = 64;
  if (g.batch != 1 || g.m > kFewRows || g.n < kManyColumns || g.a.transposed || !g.b.transposed ||
      g.k < kShortSum)
    return false;
  const BlockingRegion unlocked(g.m * g.n * g.k > (1 << 18));
  const int64_t grain = std::max<int64_t>(2 * kGrain / (g.m * g.k), 16);
  parallel_for(g.n, grain, [&](int64_t begin, int64_t end) {
    const GemmCall part = part_of(g, 0, 0, g.m, begin, end - begin);
    FB_KERNEL(dot_products<T>)
    ({g.m, end - begin, g.k, static_cast<const T*>(part.a.data), g.a.ld,
      static_cast<const T*>(part.b.data), g.b.ld, static_cast<T*>(part.c.data), g.c.ld,
      static_cast<const T*>(part.bias), g.accumulate});
  });
  return true;
}

// What is neither small nor a product with a vector.
template <class T>
void large_gemm(const GemmCall& call) {
  if (call.k == 0) return plain_gemm<T>(call);
  if constexpr (kIsFloat<T>) {
    if (few_rows<T>(call)) return;
  }
  if constexpr (std::is_same_v<T, float>) {
    gemm_tiled<T>(call);
  } else {
#if defined(FB_HAVE_OPENBLAS)
    run_library(call, gemm_openblas, 1 << 20);
#else
    plain_gemm<T>(call);
#endif
  }
}

// Many products with the same B whose As and Cs are contiguous are a single taller one.
GemmCall folded(const GemmCall& call) {
  if (call.batch == 1 || call.b.batch_stride != 0 || call.a.transposed ||
      call.a.batch_stride != call.m * call.a.ld || call.c.batch_stride != call.m * call.c.ld) {
    return call;
  }
  GemmCall tall = call;
  tall.m *= call.batch;
  tall.batch = 1;
  return tall;
}

}  // namespace

bool gemm_supports(DType dtype) {
#if defined(FB_HAVE_ONEDNN)
  if (dtype == DType::kBFloat16) return onednn_has_bfloat16();
#endif
  return dtype != DType::kBool && !is_reduced_float(dtype);
}

void gemm(const GemmCall& given) {
  if (given.batch == 0 || given.m == 0 || given.n == 0) return;
  const GemmCall call = folded(given);
  switch (call.dtype) {
    // Integers wrap, which is defined for unsigned ones; the bits are the same.
    case DType::kUInt8:
    case DType::kInt8: return plain_gemm<uint8_t>(call);
    case DType::kInt16: return plain_gemm<uint16_t>(call);
    case DType::kInt32: return plain_gemm<uint32_t>(call);
    case DType::kInt64: return plain_gemm<uint64_t>(call);
    case DType::kFloat32:
      if (!small_gemm<float>(call)) large_gemm<float>(call);
      return;
    case DType::kFloat64:
      if (!small_gemm<double>(call)) large_gemm<double>(call);
      return;
    case DType::kComplex64: return large_gemm<Complex<float>>(call);
    case DType::kComplex128: return large_gemm<Complex<double>>(call);
#if defined(FB_HAVE_ONEDNN)
    case DType::kBFloat16:
      if (!gemm_amx(call)) run_library(call, gemm_onednn, 1 << 23);
      return;
#endif
    default: fail(ErrorKind::kNotImplemented, "not implemented for dtype ", call.dtype);
  }
}

}  // namespace fb::cpu
