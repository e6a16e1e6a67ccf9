// Matrix kernels: see gemm.h. The vectors are the compiler's own (vector_size), so the same source
// serves every level.
#include "cpu/kernels/gemm.h"

namespace fb::cpu::FB_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

// A vector of `bytes` bytes at any address.
template <class T, int bytes>
struct VectorOf {
  typedef T type __attribute__((vector_size(bytes), aligned(alignof(T)), may_alias));
};
template <class T, int bytes>
using Vector = typename VectorOf<T, bytes>::type;

template <class T, int bytes>
FB_FN Vector<T, bytes> load(const T* p) {
  return *reinterpret_cast<const Vector<T, bytes>*>(p);
}
template <class T, int bytes>
FB_FN void store(T* p, Vector<T, bytes> v) {
  *reinterpret_cast<Vector<T, bytes>*>(p) = v;
}

// Rows of C computed together. Four rows of two vectors keep eight sums in flight, which covers the
// latency of a fused multiply-add on every machine tried and leaves registers for B even with AVX2.
constexpr int kTileRows = 4;

// `rows` x (`columns` vectors) of C at row i, column j.
template <class T, int bytes, int rows, int columns>
FB_FN void tile(const GemmBlock<T>& g, int64_t i, int64_t j) {
  using V = Vector<T, bytes>;
  constexpr int lanes = bytes / sizeof(T);
  V sum[rows][columns];
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      sum[r][c] =
          g.start ? load<T, bytes>(g.start + (i + r) * g.start_stride + j + c * lanes) : V{};
    }
  }
  const T* a = g.a + i * g.a_row;
  const T* b = g.b + j;
  for (int64_t k = 0; k < g.k; ++k, a += g.a_col, b += g.b_row) {
    V right[columns];
    for (int c = 0; c < columns; ++c) right[c] = load<T, bytes>(b + c * lanes);
    for (int r = 0; r < rows; ++r) {
      const T left = a[r * g.a_row];
      for (int c = 0; c < columns; ++c) sum[r][c] += left * right[c];
    }
  }
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      store<T, bytes>(g.c + (i + r) * g.c_row + j + c * lanes, sum[r][c]);
    }
  }
}

// All rows of C for the columns [j, j + columns * lanes).
template <class T, int bytes, int columns>
void column_panel(const GemmBlock<T>& g, int64_t j) {
  int64_t i = 0;
  for (; i + kTileRows <= g.m; i += kTileRows) tile<T, bytes, kTileRows, columns>(g, i, j);
  switch (g.m - i) {
    case 3: return tile<T, bytes, 3, columns>(g, i, j);
    case 2: return tile<T, bytes, 2, columns>(g, i, j);
    case 1: return tile<T, bytes, 1, columns>(g, i, j);
    default: return;
  }
}

// The columns from j on that do not fill two vectors: ever narrower vectors, down to one lane.
// Integer products are too rare for the code of every width, so they continue lane by lane.
template <class T, int bytes>
void remaining_panels(const GemmBlock<T>& g, int64_t j) {
  constexpr int64_t lanes = bytes / sizeof(T);
  for (; j + lanes <= g.n; j += lanes) column_panel<T, bytes, 1>(g, j);
  constexpr int narrower = kIsFloat<T> ? bytes / 2 : static_cast<int>(sizeof(T));
  if constexpr (lanes > 1) remaining_panels<T, narrower>(g, j);
}

template <class T>
FB_FN void real_block(const GemmBlock<T>& g) {
  constexpr int64_t wide = 2 * kVectorBytes / sizeof(T);
  int64_t j = 0;
  for (; j + wide <= g.n; j += wide) column_panel<T, kVectorBytes, 2>(g, j);
  remaining_panels<T, kVectorBytes>(g, j);
}

template <class T>
FB_FN void complex_block(const GemmBlock<Complex<T>>& g) {
  for (int64_t i = 0; i < g.m; ++i) {
    Complex<T>* __restrict c = g.c + i * g.c_row;
    const Complex<T>* start = g.start ? g.start + i * g.start_stride : nullptr;
    for (int64_t j = 0; j < g.n; ++j) c[j] = start ? start[j] : Complex<T>(0);
    for (int64_t k = 0; k < g.k; ++k) {
      const Complex<T> left = g.a[i * g.a_row + k * g.a_col];
      const Complex<T>* __restrict right = g.b + k * g.b_row;
      for (int64_t j = 0; j < g.n; ++j) c[j] = c[j] + left * right[j];
    }
  }
}

// The sum over one row is split over two vectors whichever rows are computed with it, so that a
// row's result does not depend on where a thread's share begins.
template <class T, int rows>
FB_FN void dot_rows(const GemvCall<T>& g, int64_t i) {
  using V = Vector<T, kVectorBytes>;
  constexpr int64_t lanes = kVectorBytes / sizeof(T);
  V even[rows] = {};
  V odd[rows] = {};
  const T* a = g.a + i * g.stride;
  int64_t k = 0;
  for (; k + 2 * lanes <= g.cols; k += 2 * lanes) {
    const V x0 = load<T, kVectorBytes>(g.x + k);
    const V x1 = load<T, kVectorBytes>(g.x + k + lanes);
    for (int r = 0; r < rows; ++r) {
      even[r] += load<T, kVectorBytes>(a + r * g.stride + k) * x0;
      odd[r] += load<T, kVectorBytes>(a + r * g.stride + k + lanes) * x1;
    }
  }
  for (int r = 0; r < rows; ++r) {
    const V both = even[r] + odd[r];
    T sum = 0;
    for (int64_t l = 0; l < lanes; ++l) sum += both[l];
    for (int64_t rest = k; rest < g.cols; ++rest) sum += a[r * g.stride + rest] * g.x[rest];
    g.y[i + r] = g.start ? g.start[i + r] + sum : sum;
  }
}

template <class T>
FB_FN void all_rows(const GemvCall<T>& g) {
  int64_t i = 0;
  for (; i + kTileRows <= g.rows; i += kTileRows) dot_rows<T, kTileRows>(g, i);
  for (; i < g.rows; ++i) dot_rows<T, 1>(g, i);
}

// Four rows at a time are added to a stretch of y that stays in the first-level cache.
template <class T>
FB_FN void all_columns(const GemvCall<T>& g) {
  constexpr int64_t kStretch = 4096 / sizeof(T);
  for (int64_t begin = 0; begin < g.cols; begin += kStretch) {
    const int64_t n = g.cols - begin < kStretch ? g.cols - begin : kStretch;
    T* __restrict y = g.y + begin;
    for (int64_t j = 0; j < n; ++j) y[j] = g.start ? g.start[begin + j] : T(0);
    int64_t i = 0;
    for (; i + 4 <= g.rows; i += 4) {
      const T* __restrict a = g.a + i * g.stride + begin;
      const T x0 = g.x[i], x1 = g.x[i + 1], x2 = g.x[i + 2], x3 = g.x[i + 3];
      for (int64_t j = 0; j < n; ++j) {
        y[j] += (x0 * a[j] + x1 * a[j + g.stride]) +
                (x2 * a[j + 2 * g.stride] + x3 * a[j + 3 * g.stride]);
      }
    }
    for (; i < g.rows; ++i) {
      const T* __restrict a = g.a + i * g.stride + begin;
      const T x = g.x[i];
      for (int64_t j = 0; j < n; ++j) y[j] += x * a[j];
    }
  }
}

}  // namespace

template <class T>
void gemm_block(const GemmBlock<T>& g) {
  if constexpr (kIsComplex<T>)
    complex_block(g);
  else
    real_block(g);
}

template <class T>
void gemv_rows(const GemvCall<T>& g) {
  all_rows(g);
}

template <class T>
void gemv_columns(const GemvCall<T>& g) {
  all_columns(g);
}

template void gemm_block(const GemmBlock<uint8_t>&);
template void gemm_block(const GemmBlock<uint16_t>&);
template void gemm_block(const GemmBlock<uint32_t>&);
template void gemm_block(const GemmBlock<uint64_t>&);
template void gemm_block(const GemmBlock<float>&);
template void gemm_block(const GemmBlock<double>&);
template void gemm_block(const GemmBlock<Complex<float>>&);
template void gemm_block(const GemmBlock<Complex<double>>&);
template void gemv_rows(const GemvCall<float>&);
template void gemv_rows(const GemvCall<double>&);
template void gemv_columns(const GemvCall<float>&);
template void gemv_columns(const GemvCall<double>&);

}  // namespace fb::cpu::FB_ISA
