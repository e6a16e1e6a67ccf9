// Normalisation of rows: layer norm and RMS norm.
#include <algorithm>
#include <memory>

#include "core/allocator.h"
#include "cpu/kernels/norm_sets.h"

namespace fb::cpu::FB_ISA {
namespace {

template <class T, bool kCentred>
FB_FN Moments row_moments(const T* x, int64_t n) {
  if constexpr (kCentred) return moments_of(x, n);
  using A = AccOf<T>;
  double squares[1] = {};
  add_up<A>(n, squares, [&](auto width, int64_t i, auto& s) {
    const auto element = load<A, decltype(width)::value>(x + i);
    s[0] += element * element;
  });
  return {0, squares[0], n};
}

template <class T, bool kCentred>
void forward(const RowNorm& shape, const T* x, T* y, const NormForward& numbers) {
  using A = AccOf<T>;
  const A* const weight = static_cast<const A*>(numbers.weight);
  const A* const bias = static_cast<const A*>(numbers.bias);
  const int64_t n = shape.n;
  parallel_for(shape.rows, kGrain / 2 / (n + 1) + 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const T* const in = x + row * n;
      T* const out = y + row * n;
      const Moments all = row_moments<T, kCentred>(in, n);
      const A mean = static_cast<A>(all.mean);
      const double variance = all.m2 / static_cast<double>(n);
      const A rstd = static_cast<A>(1 / std::sqrt(variance + numbers.eps));
      if constexpr (kCentred) static_cast<A*>(numbers.mean)[row] = mean;
      static_cast<A*>(numbers.rstd)[row] = rstd;
      for_vectors<A>(n, [&](auto width, int64_t i) {
        constexpr int W = decltype(width)::value;
        auto result = (load<A, W>(in + i) - mean) * rstd * load<A, W>(weight + i);
        if constexpr (kCentred) result += load<A, W>(bias + i);
        put<W>(out + i, result);
      });
    }
  });
}

// The gradients of weight and bias, summed over rows: floats for a few rows, then doubles.
template <class A>
class ColumnSums {
 public:
  ColumnSums(int64_t n, double* total) : n_(n), total_(total), near_(new A[2 * n]()) {}
  ~ColumnSums() { flush(); }
  ColumnSums(const ColumnSums&) = delete;
  ColumnSums& operator=(const ColumnSums&) = delete;

  A* weight() { return near_.get(); }
  A* bias() { return near_.get() + n_; }
  void end_row() {
    constexpr int64_t kNearRows = 64;
    if (++rows_ == kNearRows) flush();
  }

 private:
  void flush() {
    for (int64_t i = 0; i < 2 * n_; ++i) {
      total_[i] += static_cast<double>(near_[i]);
      near_[i] = 0;
    }
    rows_ = 0;
  }

  const int64_t n_;
  double* const total_;
  const std::unique_ptr<A[]> near_;
  int64_t rows_ = 0;
};

// One row: its share of the sums over columns, then its gradient.
template <class T, bool kCentred, class A>
FB_FN void backward_row(const T* g, const T* x, T* out, int64_t n, const A* weight, A mean, A rstd,
                        ColumnSums<A>& sums) {
  A* const weight_grad = sums.weight();
  A* const bias_grad = sums.bias();
  double total[2] = {};
  add_up<A>(n, total, [&](auto width, int64_t i, auto& s) {
    constexpr int W = decltype(width)::value;
    const auto gradient = load<A, W>(g + i);
    const auto deviation = load<A, W>(x + i) - mean;
    const auto weighted = gradient * load<A, W>(weight + i);
    s[0] += weighted;
    s[1] += weighted * deviation;
    put<W>(weight_grad + i, load<A, W>(weight_grad + i) + gradient * (deviation * rstd));
    if constexpr (kCentred) put<W>(bias_grad + i, load<A, W>(bias_grad + i) + gradient);
  });
  const SetGradient<A> rest(mean, rstd, false, kCentred ? total[0] : 0, total[1], n);
  for_vectors<A>(n, [&](auto width, int64_t i) {
    constexpr int W = decltype(width)::value;
    const auto deviation = load<A, W>(x + i) - mean;
    const auto weighted = load<A, W>(g + i) * load<A, W>(weight + i);
    put<W>(out + i, weighted * rstd + deviation * rest.slope + rest.shift);
  });
}

template <class T, bool kCentred>
void backward(const RowNorm& shape, const T* g, const T* x, T* out, const NormBackward& numbers) {
  using A = AccOf<T>;
  constexpr int64_t kMaxChunks = 64;
  constexpr int64_t kMaxSums = 1 << 20;  // the most doubles of all chunks together
  const int64_t n = shape.n;
  const A* const weight = static_cast<const A*>(numbers.weight);
  const A* const mean = static_cast<const A*>(numbers.mean);
  const A* const rstd = static_cast<const A*>(numbers.rstd);
  const int64_t most = std::clamp<int64_t>(kMaxSums / (n + 1), 2, kMaxChunks);
  const int64_t chunk = std::max(kGrain / 2 / (n + 1) + 1, (shape.rows + most - 1) / most);
  const int64_t chunks = (shape.rows + chunk - 1) / chunk;
  const Storage scratch = allocate_cpu(chunks * 2 * n * sizeof(double));
  double* const parts = static_cast<double*>(scratch->data);
  parallel_for(chunks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      std::fill_n(parts + c * 2 * n, 2 * n, 0.0);
      ColumnSums<A> sums(n, parts + c * 2 * n);
      for (int64_t row = c * chunk; row < std::min(shape.rows, (c + 1) * chunk); ++row) {
        backward_row<T, kCentred>(g + row * n, x + row * n, out + row * n, n, weight,
                                  kCentred ? mean[row] : A(0), rstd[row], sums);
        sums.end_row();
      }
    }
  });
  // Most of the parts are in the caches of other threads, which read them together.
  parallel_for(2 * n, kGrain / (4 * chunks) + 1, [&](int64_t begin, int64_t end) {
    for (int64_t c = 1; c < chunks; ++c)
      for (int64_t i = begin; i < end; ++i) parts[i] += parts[c * 2 * n + i];
    for (int64_t i = begin; i < end; ++i) {
      if (i < n)
        static_cast<A*>(numbers.weight_grad)[i] = static_cast<A>(parts[i]);
      else if (kCentred)
        static_cast<A*>(numbers.bias_grad)[i - n] = static_cast<A>(parts[i]);
    }
  });
}

}  // namespace

void norm_rows(DType dtype, const RowNorm& shape, const void* x, void* y,
               const NormForward& numbers) {
  with_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    (shape.centred ? forward<T, true> : forward<T, false>)(shape, static_cast<const T*>(x),
                                                           static_cast<T*>(y), numbers);
  });
}

void norm_rows_backward(DType dtype, const RowNorm& shape, const void* gradient, const void* x,
                        void* out, const NormBackward& numbers) {
  with_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    (shape.centred ? backward<T, true> : backward<T, false>)(shape, static_cast<const T*>(gradient),
                                                             static_cast<const T*>(x),
                                                             static_cast<T*>(out), numbers);
  });
}

}  // namespace fb::cpu::FB_ISA
