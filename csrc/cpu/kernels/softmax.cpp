// Softmax, log-softmax and log-sum-exp. Exponentials are taken relative to the maximum of a chunk
// that fits the cache and rescaled when all maxima are known, so that a row is read from memory
// once.
#include "cpu/softmax.h"

#include <memory>

#include "cpu/kernels/exp_sum.h"
#include "cpu/kernels/loops.h"

namespace fb::cpu::FB_ISA {
namespace {

constexpr int64_t kColumns = 256;
constexpr int64_t kChunkRows = 128;
constexpr int64_t kElementGrain = kGrain / 4;  // an exponential costs several memory-bound elements

// The number that exponents are relative to. An infinite maximum would give inf - inf; log-sum-exp
// then needs the limit, the others NaN unless the whole chunk is -inf.
template <SoftmaxOp op, class T>
FB_FN T shift_of(T max) {
  constexpr T inf = __builtin_inff();
  if (op == SoftmaxOp::kLogSumExp) return math::abs(max) == inf ? T(0) : max;
  return max == -inf ? T(0) : max;
}

// Rescales a sum of exponentials from a chunk's maximum to the whole line's.
template <SoftmaxOp op, class T>
FB_FN double rescale(T max, T top) {
  if (max == top) return 1;  // a short row is one chunk
  return math::exp(static_cast<double>(shift_of<op>(max)) - static_cast<double>(shift_of<op>(top)));
}

// The factor that turns a chunk's exponentials into probabilities. A chunk of only -inf holds
// zeros, which an overflowing factor would turn into NaN.
template <SoftmaxOp op, class T>
FB_FN T final_scale(T max, T top, double total) {
  return static_cast<T>((max == lowest<T>() ? 0.0 : rescale<op>(max, top)) / total);
}

template <class T, SoftmaxOp op>
class Row {
 public:
  Row(const T* x, T* y, int64_t n) : x_(x), y_(y), n_(n), chunks_(ceil_div(n, kSoftmaxChunk)) {}

  void run() {
    if (chunks_ == 1) {
      const T max = max_of(x_, n_);
      finish_chunk(0, max, max, exponentials(0, max));
      return;
    }
    const std::unique_ptr<T[]> max(new T[chunks_]);
    const std::unique_ptr<double[]> sum(new double[chunks_]);
    parallel_for(chunks_, 1, [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) {
        max[c] = max_of(x_ + c * kSoftmaxChunk, length(c));
        sum[c] = exponentials(c, max[c]);
      }
    });
    const T top = max_of(max.get(), chunks_);
    double total = 0;
    for (int64_t c = 0; c < chunks_; ++c)
      if (sum[c] != 0) total += sum[c] * rescale<op>(max[c], top);
    if (op == SoftmaxOp::kLogSumExp) return finish_chunk(0, top, top, total);
    parallel_for(chunks_, 1, [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) finish_chunk(c, max[c], top, total);
    });
  }

 private:
  int64_t length(int64_t c) const { return min64(kSoftmaxChunk, n_ - c * kSoftmaxChunk); }

  // The sum of exp(x - max) over chunk c; softmax keeps the terms in y.
  double exponentials(int64_t c, T max) const {
    const T* const x = x_ + c * kSoftmaxChunk;
    T* const y = y_ + c * kSoftmaxChunk;
    const int64_t n = length(c);
    if (op == SoftmaxOp::kLogSumExp && max == highest<T>()) {
      T infinite_or_nan = max;
      Fold<T, Extremum<T, true>>::block(x, n, 0, infinite_or_nan);
      return static_cast<double>(infinite_or_nan);
    }
    return exp_sum<op == SoftmaxOp::kSoftmax>(x, y, n, shift_of<op>(max));
  }

  void finish_chunk(int64_t c, T max, T top, double total) const {
    const T* const x = x_ + c * kSoftmaxChunk;
    T* const y = y_ + c * kSoftmaxChunk;
    const int64_t n = length(c);
    if constexpr (op == SoftmaxOp::kSoftmax) {
      const T scale = final_scale<op>(max, top, total);
      for (int64_t i = 0; i < n; ++i) y[i] *= scale;
    } else if constexpr (op == SoftmaxOp::kLogSoftmax) {
      // Subtracted in two steps: x - top is exact where it matters most, near the top.
      const T shift = shift_of<op>(top);
      const T rest = math::log(static_cast<T>(total));
      for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - shift) - rest;
    } else {
      y_[0] = static_cast<T>(static_cast<double>(shift_of<op>(top)) + math::log(total));
    }
  }

  const T* const x_;
  T* const y_;
  const int64_t n_;
  const int64_t chunks_;
};

// Short rows, several at a time: each step is taken for all of them before the next, so that the
// reductions of the rows overlap. They are copied to a buffer where a row is a whole number of
// vectors, the last one padded with -inf, whose exponential adds nothing.
template <class T, SoftmaxOp op>
class ShortRows {
 public:
  static bool fit(int64_t n) { return op != SoftmaxOp::kLogSumExp && n <= kMaxLength; }

  explicit ShortRows(int64_t n) : n_(n), stride_(ceil_div(n, L) * L) {}

  void run(const T* x, T* y, int64_t rows) {
    const int64_t most = min64(kMaxRows, kElements / stride_);
    for (int64_t r = 0; r < rows; r += most) block(x + r * n_, y + r * n_, min64(most, rows - r));
  }

 private:
  static constexpr int L = kLanes<T>;
  static constexpr int64_t kMaxLength = 1024;
  static constexpr int64_t kElements = 4096;
  static constexpr int64_t kMaxRows = 64;

  void block(const T* x, T* y, int64_t rows) {
    for (int64_t r = 0; r < rows; ++r) shift_[r] = shift_of<op>(take(x + r * n_, row(r)));
    for (int64_t r = 0; r < rows; ++r) total_[r] = exponentials(row(r), shift_[r]);
    if constexpr (op == SoftmaxOp::kSoftmax) {
      for (int64_t r = 0; r < rows; ++r) total_[r] = T(1) / total_[r];
      for (int64_t r = 0; r < rows; ++r)
        give(row(r), y + r * n_, [&](const Vec<T>& e) { return e * total_[r]; });
    } else {
      for (int64_t r = 0; r < rows; ++r) total_[r] = math::log(total_[r]);
      // Subtracted in two steps: x - top is exact where it matters most, near the top.
      for (int64_t r = 0; r < rows; ++r)
        give(row(r), y + r * n_, [&](const Vec<T>& v) { return (v - shift_[r]) - total_[r]; });
    }
  }

  T* row(int64_t r) { return elements_ + r * stride_; }

  // Copies a row and returns its largest element.
  T take(const T* x, T* to) const {
    Vec<T> max = broadcast<T, L>(lowest<T>());
    int64_t i = 0;
    for (; i + L <= n_; i += L) {
      const Vec<T> v = load<T, L>(x + i);
      store(to + i, v);
      max = Largest<T>::combine(max, v);
    }
    if (i < n_) {
      const Vec<T> v = load_part(x + i, n_ - i, lowest<T>());
      store(to + i, v);
      max = Largest<T>::combine(max, v);
    }
    return fold_lanes<T, L>(max,
                            [](const auto& a, const auto& b) { return Largest<T>::combine(a, b); });
  }

  // The sum of exp(x - shift); softmax keeps the terms.
  T exponentials(T* x, T shift) const {
    Vec<T> sum{};
    for (int64_t i = 0; i < stride_; i += L) {
      const Vec<T> e = exp_nonpositive(load<T, L>(x + i) - shift);
      if constexpr (op == SoftmaxOp::kSoftmax) store(x + i, e);
      sum += e;
    }
    return fold_lanes<T, L>(sum, Plus{});
  }

  template <class F>
  void give(const T* from, T* y, F f) const {
    int64_t i = 0;
    for (; i + L <= n_; i += L) store(y + i, f(load<T, L>(from + i)));
    if (i < n_) store_part<T>(y + i, f(load<T, L>(from + i)), n_ - i);
  }

  const int64_t n_;
  const int64_t stride_;
  alignas(64) T elements_[kElements];
  T shift_[kMaxRows];
  T total_[kMaxRows];
};

// `width` <= kColumns neighbouring columns of n elements, rows `stride` apart: the same chunks, by
// rows.
template <class T, SoftmaxOp op>
void columns(const T* x, T* y, int64_t n, int64_t stride, int64_t width) {
  const int64_t chunks = ceil_div(n, kChunkRows);
  const std::unique_ptr<T[]> max(new T[chunks * width]);  // by chunk and column, as sum
  const std::unique_ptr<T[]> sum(new T[chunks * width]);
  T top[kColumns];
  double total[kColumns];
  for (int64_t c = 0; c < width; ++c) {
    top[c] = lowest<T>();
    total[c] = 0;
  }
  for (int64_t k = 0; k < chunks; ++k) {
    const int64_t end = min64(n, (k + 1) * kChunkRows);
    T* const chunk_max = &max[k * width];
    T* const chunk_sum = &sum[k * width];
    T shift[kColumns];
    for (int64_t c = 0; c < width; ++c) shift[c] = lowest<T>();
    for (int64_t r = k * kChunkRows; r < end; ++r)
      for (int64_t c = 0; c < width; ++c) shift[c] = max_or_nan(shift[c], x[r * stride + c]);
    for (int64_t c = 0; c < width; ++c) {
      chunk_max[c] = shift[c];
      top[c] = max_or_nan(top[c], shift[c]);
      shift[c] = shift_of<op>(shift[c]);
      chunk_sum[c] = 0;
    }
    for (int64_t r = k * kChunkRows; r < end; ++r) {
      FB_IVDEP
      for (int64_t c = 0; c < width; ++c) {
        const T difference = x[r * stride + c] - shift[c];
        // Next to an infinite maximum, log-sum-exp has differences of either sign.
        const T e =
            op == SoftmaxOp::kLogSumExp ? math::exp(difference) : exp_nonpositive(difference);
        if constexpr (op == SoftmaxOp::kSoftmax) y[r * stride + c] = e;
        chunk_sum[c] += e;
      }
    }
  }
  for (int64_t k = 0; k < chunks; ++k)
    for (int64_t c = 0; c < width; ++c) {
      const double part = static_cast<double>(sum[k * width + c]);
      if (part != 0) total[c] += part * rescale<op>(max[k * width + c], top[c]);
    }
  T rest[kColumns];
  for (int64_t c = 0; c < width; ++c) rest[c] = static_cast<T>(math::log(total[c]));
  for (int64_t c = 0; c < width; ++c)
    top[c] = op == SoftmaxOp::kSoftmax ? top[c] : shift_of<op>(top[c]);
  if constexpr (op == SoftmaxOp::kLogSumExp) {
    for (int64_t c = 0; c < width; ++c) y[c] = top[c] + rest[c];
    return;
  }
  for (int64_t r = 0; r < n; ++r) {
    if constexpr (op == SoftmaxOp::kSoftmax) {
      if (r % kChunkRows == 0)
        for (int64_t c = 0; c < width; ++c)
          rest[c] = final_scale<op>(max[r / kChunkRows * width + c], top[c], total[c]);
    }
    FB_IVDEP
    for (int64_t c = 0; c < width; ++c) {
      T& result = y[r * stride + c];
      if constexpr (op == SoftmaxOp::kSoftmax)
        result *= rest[c];
      else
        result = (x[r * stride + c] - top[c]) - rest[c];
    }
  }
}

// Rows [begin, end) of a matrix in float; a 16-bit row goes through `scratch`.
template <class T, SoftmaxOp op>
void rows(const T* x, T* y, int64_t n, int64_t begin, int64_t end) {
  const int64_t out_n = op == SoftmaxOp::kLogSumExp ? 1 : n;
  if constexpr (kIsFloat<T>) {
    if (ShortRows<T, op>::fit(n))
      return ShortRows<T, op>(n).run(x + begin * n, y + begin * n, end - begin);
    for (int64_t r = begin; r < end; ++r) Row<T, op>(x + r * n, y + r * out_n, n).run();
  } else {
    const std::unique_ptr<float[]> scratch(new float[n]);
    for (int64_t r = begin; r < end; ++r) {
      widen(x + r * n, scratch.get(), n);
      Row<float, op>(scratch.get(), scratch.get(), n).run();
      narrow(scratch.get(), y + r * out_n, out_n);
    }
  }
}

// Columns [begin, begin + width) of the (n, inner) matrix at x.
template <class T, SoftmaxOp op>
void column_block(const T* x, T* y, int64_t n, int64_t inner, int64_t width, float* scratch) {
  if constexpr (kIsFloat<T>) {
    columns<T, op>(x, y, n, inner, width);
  } else {
    for (int64_t r = 0; r < n; ++r) widen(x + r * inner, scratch + r * width, width);
    columns<float, op>(scratch, scratch, n, width, width);
    const int64_t out_rows = op == SoftmaxOp::kLogSumExp ? 1 : n;
    for (int64_t r = 0; r < out_rows; ++r) narrow(scratch + r * width, y + r * inner, width);
  }
}

template <class T, SoftmaxOp op>
void run(const void* in, void* out, int64_t outer, int64_t n, int64_t inner) {
  const T* const x = static_cast<const T*>(in);
  T* const y = static_cast<T*>(out);
  if (inner == 1) {
    // A few long rows are computed in parallel each; many rows are divided among the threads.
    if (outer < 8 && n >= 4 * kSoftmaxChunk) return rows<T, op>(x, y, n, 0, outer);
    parallel_for(outer, ceil_div(kElementGrain, n),
                 [&](int64_t begin, int64_t end) { rows<T, op>(x, y, n, begin, end); });
    return;
  }
  const int64_t blocks = ceil_div(inner, kColumns);
  parallel_for(
      outer * blocks, ceil_div(kElementGrain, n * min64(inner, kColumns)),
      [&](int64_t begin, int64_t end) {
        const std::unique_ptr<float[]> scratch(kIsFloat<T> ? nullptr : new float[n * kColumns]);
        for (int64_t b = begin; b < end; ++b) {
          const int64_t o = b / blocks;
          const int64_t c = b % blocks * kColumns;
          const int64_t out_rows = op == SoftmaxOp::kLogSumExp ? 1 : n;
          column_block<T, op>(x + o * n * inner + c, y + o * out_rows * inner + c, n, inner,
                              min64(kColumns, inner - c), scratch.get());
        }
      });
}

template <class T>
void run_op(SoftmaxOp op, const void* in, void* out, int64_t outer, int64_t n, int64_t inner) {
  switch (op) {
    case SoftmaxOp::kSoftmax: return run<T, SoftmaxOp::kSoftmax>(in, out, outer, n, inner);
    case SoftmaxOp::kLogSoftmax: return run<T, SoftmaxOp::kLogSoftmax>(in, out, outer, n, inner);
    case SoftmaxOp::kLogSumExp: return run<T, SoftmaxOp::kLogSumExp>(in, out, outer, n, inner);
  }
}

}  // namespace

void softmax(SoftmaxOp op, DType dtype, const void* in, void* out, int64_t outer, int64_t n,
             int64_t inner) {
  if (outer == 0 || n == 0 || inner == 0) return;
  switch (dtype) {
    case DType::kFloat16: return run_op<Half>(op, in, out, outer, n, inner);
    case DType::kBFloat16: return run_op<BFloat16>(op, in, out, outer, n, inner);
    case DType::kFloat32: return run_op<float>(op, in, out, outer, n, inner);
    case DType::kFloat64: return run_op<double>(op, in, out, outer, n, inner);
    default: fail(ErrorKind::kNotImplemented, "not implemented for dtype ", dtype);
  }
}

}  // namespace fb::cpu::FB_ISA
