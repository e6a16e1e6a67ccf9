// Running sums, products and extrema.
#include "cpu/scan.h"

#include <memory>

#include "core/dtype.h"
#include "cpu/kernels/loops.h"
#include "cpu/kernels/simd.h"
#include "cpu/threads.h"
#include "scalar/arith.h"

namespace fb::cpu::FB_ISA {
namespace {

constexpr int64_t kChunk =
    65536;  // elements of a long row that are scanned on their own, then shifted
constexpr int64_t kColumns = 256;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }

// Totals run in double where elements are float, as PyTorch's do.
template <class T>
struct Running {
  using type = T;
};
template <>
struct Running<float> {
  using type = double;
};
template <>
struct Running<Complex<float>> {
  using type = Complex<double>;
};

template <class T>
struct SumScan {
  static constexpr bool kCheap = true;  // extra operations for a shorter chain pay off
  using Acc = typename Running<T>::type;
  static Acc identity() { return Acc(0); }
  static FB_FN Acc combine(Acc a, Acc b) {
    if constexpr (kIsInteger<Acc>)  // they wrap
      return static_cast<Acc>(scalar::Wrap<Acc>(a) + scalar::Wrap<Acc>(b));
    else
      return a + b;
  }
};

template <class T>
struct ProdScan {
  static constexpr bool kCheap = true;
  using Acc = typename Running<T>::type;
  static Acc identity() { return Acc(1); }
  static FB_FN Acc combine(Acc a, Acc b) { return scalar::mul(a, b); }
};

template <class T>
struct LogSumExpScan {
  static constexpr bool kCheap = false;
  using Acc = double;
  static Acc identity() { return -__builtin_inf(); }
  static FB_FN Acc combine(Acc a, Acc b) {
    const Acc high = a > b ? a : b;
    const Acc low = a > b ? b : a;
    const Acc sum = high + math::log1p(math::exp(low - high));
    // Equal infinities must not be subtracted; a NaN shows in the sum of the two.
    return a == b ? a + math::kLn2<Acc> : (a != a) | (b != b) ? a + b : sum;
  }
};

template <class T>
struct LogSumExpScan<Complex<T>> {
  static constexpr bool kCheap = false;
  using Acc = Complex<double>;
  static Acc identity() { return {-__builtin_inf(), 0}; }
  static FB_FN Acc combine(Acc a, Acc b) {
    const Acc high = a.re > b.re ? a : b;
    const Acc low = a.re > b.re ? b : a;
    if (high.re == -__builtin_inf()) return high;
    return high + math::log(Acc(1) + math::exp(low - high));
  }
};

// Running sums of as many elements as come in eights, from `carry` on; returns how many. What eight
// elements add to the carry is summed by vectors, so that the chain of carries has one addition
// for them. The order of additions is the same at every level of instructions.
template <class T>
int64_t sum_eights(const T* x, T* y, int64_t n, double& carry) {
  using Four = Vec<double, 4>;
  const auto sums_of = [](const Four& v) {
    const Four pairs = v + FB_SHUFFLE(Four{}, v, 0, 4, 2, 6);
    return pairs + FB_SHUFFLE(Four{}, pairs, 0, 1, 5, 5);
  };
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const Four low = sums_of(load<double, 4>(x + i));
    const Four high = sums_of(load<double, 4>(x + i + 4)) + low[3];
    store(y + i, __builtin_convertvector(low + carry, Vec<T, 4>));
    store(y + i + 4, __builtin_convertvector(high + carry, Vec<T, 4>));
    carry += high[3];
  }
  return i;
}

// Scans x from `carry` on and returns the new carry. Four elements are combined among themselves
// first, which shortens the chain of dependent totals to a quarter.
template <class T, class Op>
typename Op::Acc scan_row(const T* x, T* y, int64_t n, typename Op::Acc carry) {
  using Acc = typename Op::Acc;
  int64_t i = 0;
  if constexpr (__is_same(Op, SumScan<T>) && __is_same(Acc, double)) i = sum_eights(x, y, n, carry);
  for (; Op::kCheap && i + 4 <= n; i += 4) {
    const Acc a = convert<Acc>(x[i]), b = convert<Acc>(x[i + 1]);
    const Acc c = convert<Acc>(x[i + 2]), d = convert<Acc>(x[i + 3]);
    const Acc ab = Op::combine(a, b);
    y[i] = convert<T>(Op::combine(carry, a));
    y[i + 1] = convert<T>(Op::combine(carry, ab));
    y[i + 2] = convert<T>(Op::combine(carry, Op::combine(ab, c)));
    carry = Op::combine(carry, Op::combine(ab, Op::combine(c, d)));
    y[i + 3] = convert<T>(carry);
  }
  for (; i < n; ++i) {
    carry = Op::combine(carry, convert<Acc>(x[i]));
    y[i] = convert<T>(carry);
  }
  return carry;
}

// The total of one whole chunk.
template <class T, class Op>
typename Op::Acc total_of(const T* x) {
  using Acc = typename Op::Acc;
  static_assert(kChunk % 8 == 0);
  Acc part[8];
  for (Acc& p : part) p = Op::identity();
  for (int64_t i = 0; i < kChunk; i += 8)
    for (int k = 0; k < 8; ++k) part[k] = Op::combine(part[k], convert<Acc>(x[i + k]));
  for (int k = 1; k < 8; ++k) part[0] = Op::combine(part[0], part[k]);
  return part[0];
}

// One long row: totals of the chunks, a scan over these, then every chunk from its own start.
template <class T, class Op>
void scan_long_row(const T* x, T* y, int64_t n) {
  using Acc = typename Op::Acc;
  const int64_t chunks = ceil_div(n, kChunk);
  const std::unique_ptr<Acc[]> carry(new Acc[chunks + 1]);
  carry[0] = Op::identity();
  parallel_for(chunks - 1, 1, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) carry[c + 1] = total_of<T, Op>(x + c * kChunk);
  });
  for (int64_t c = 1; c < chunks; ++c) carry[c] = Op::combine(carry[c - 1], carry[c]);
  parallel_for(chunks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c)
      scan_row<T, Op>(x + c * kChunk, y + c * kChunk, min64(kChunk, n - c * kChunk), carry[c]);
  });
}

template <class T, class Op>
void scan_columns(const T* x, T* y, int64_t n, int64_t stride, int64_t width) {
  typename Op::Acc carry[kColumns];
  for (int64_t c = 0; c < width; ++c) carry[c] = Op::identity();
  for (int64_t r = 0; r < n; ++r) {
    FB_IVDEP
    for (int64_t c = 0; c < width; ++c) {
      carry[c] = Op::combine(carry[c], convert<typename Op::Acc>(x[r * stride + c]));
      y[r * stride + c] = convert<T>(carry[c]);
    }
  }
}

// Calls f(offset, width) for blocks of neighbouring columns.
template <class F>
void for_column_blocks(const ScanShape& shape, F f) {
  const int64_t blocks = ceil_div(shape.inner, kColumns);
  const int64_t width = min64(shape.inner, kColumns);
  parallel_for(shape.outer * blocks, ceil_div(kGrain, shape.n * width),
               [&](int64_t begin, int64_t end) {
                 for (int64_t b = begin; b < end; ++b) {
                   const int64_t c = b % blocks * kColumns;
                   f(b / blocks * shape.n * shape.inner + c, min64(kColumns, shape.inner - c));
                 }
               });
}

template <class T, class Op>
void run(const void* in, void* out, const ScanShape& shape) {
  const T* const x = static_cast<const T*>(in);
  T* const y = static_cast<T*>(out);
  const int64_t n = shape.n;
  if (shape.inner > 1) {
    for_column_blocks(shape, [&](int64_t at, int64_t width) {
      scan_columns<T, Op>(x + at, y + at, n, shape.inner, width);
    });
  } else if (shape.outer < 8 && n >= 4 * kChunk) {
    for (int64_t r = 0; r < shape.outer; ++r) scan_long_row<T, Op>(x + r * n, y + r * n, n);
  } else {
    parallel_for(shape.outer, ceil_div(kGrain, n), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r)
        scan_row<T, Op>(x + r * n, y + r * n, n, Op::identity());
    });
  }
}

// Whether x replaces `best`: it is at least as good, or NaN.
template <class T, bool kMax>
FB_FN bool takes_over(T x, T best) {
  return (x != x) | ((kMax ? x >= best : x <= best) & (best == best));
}

template <class T, bool kMax>
void extremum_columns(const T* x, T* y, int64_t* index, int64_t n, int64_t stride, int64_t width) {
  T best[kColumns];
  int64_t where[kColumns];
  for (int64_t c = 0; c < width; ++c) {
    best[c] = x[c];
    where[c] = 0;
  }
  for (int64_t r = 0; r < n; ++r) {
    FB_IVDEP
    for (int64_t c = 0; c < width; ++c) {
      const T value = x[r * stride + c];
      const bool taken = takes_over<T, kMax>(value, best[c]);
      best[c] = taken ? value : best[c];
      where[c] = taken ? r : where[c];
      y[r * stride + c] = best[c];
      index[r * stride + c] = where[c];
    }
  }
}

template <class T, bool kMax>
void extremum_row(const T* x, T* y, int64_t* index, int64_t n) {
  T best = x[0];
  int64_t where = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (takes_over<T, kMax>(x[i], best)) {
      best = x[i];
      where = i;
    }
    y[i] = best;
    index[i] = where;
  }
}

template <bool kMax>
void run_extremum(DType dtype, const void* in, void* out, int64_t* indices,
                  const ScanShape& shape) {
  const auto run_type = [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_column_blocks(shape, [&](int64_t at, int64_t width) {
      const T* const x = static_cast<const T*>(in) + at;
      T* const y = static_cast<T*>(out) + at;
      if (shape.inner == 1)
        extremum_row<T, kMax>(x, y, indices + at, shape.n);
      else
        extremum_columns<T, kMax>(x, y, indices + at, shape.n, shape.inner, width);
    });
  };
  if (dtype == DType::kInt64)
    run_type(TypeTag<int64_t>{});
  else
    visit_floating(dtype, run_type);
}

// y[k] = x[k] + factor[k] * y[k - 1] for neighbouring columns, and the mirror image.
template <class T>
void recurrence_columns(const T* x, const T* factor, T* y, const ScanShape& shape, int64_t width,
                        bool reverse) {
  const int64_t step = reverse ? -shape.inner : shape.inner;
  int64_t row = reverse ? (shape.n - 1) * shape.inner : 0;
  for (int64_t c = 0; c < width; ++c) y[row + c] = x[row + c];
  for (int64_t k = 1; k < shape.n; ++k) {
    const int64_t before = row;
    row += step;
    const T* const f = factor + (reverse ? before : row);
    FB_IVDEP
    for (int64_t c = 0; c < width; ++c) y[row + c] = x[row + c] + f[c] * y[before + c];
  }
}

template <template <class> class Op>
void run_numeric(DType dtype, const void* in, void* out, const ScanShape& shape) {
  const auto run_type = [&](auto tag) {
    using T = typename decltype(tag)::type;
    run<T, Op<T>>(in, out, shape);
  };
  if (dtype == DType::kInt64)
    run_type(TypeTag<int64_t>{});
  else
    visit_floating_or_complex(dtype, run_type);
}

bool is_empty(const ScanShape& shape) {
  return shape.outer == 0 || shape.n == 0 || shape.inner == 0;
}

}  // namespace

void scan(ScanOp op, DType dtype, const void* in, void* out, const ScanShape& shape) {
  if (is_empty(shape)) return;
  if (op == ScanOp::kSum) return run_numeric<SumScan>(dtype, in, out, shape);
  if (op == ScanOp::kProd) return run_numeric<ProdScan>(dtype, in, out, shape);
  visit_floating_or_complex(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    run<T, LogSumExpScan<T>>(in, out, shape);
  });
}

void scan_extremum(ScanOp op, DType dtype, const void* in, void* out, int64_t* indices,
                   const ScanShape& shape) {
  if (is_empty(shape)) return;
  if (op == ScanOp::kMax)
    run_extremum<true>(dtype, in, out, indices, shape);
  else
    run_extremum<false>(dtype, in, out, indices, shape);
}

void recurrence(DType dtype, const void* in, const void* factor, void* out, const ScanShape& shape,
                bool reverse) {
  if (is_empty(shape)) return;
  visit_floating_or_complex(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_column_blocks(shape, [&](int64_t at, int64_t width) {
      recurrence_columns(static_cast<const T*>(in) + at, static_cast<const T*>(factor) + at,
                         static_cast<T*>(out) + at, shape, width, reverse);
    });
  });
}

}  // namespace fb::cpu::FB_ISA
