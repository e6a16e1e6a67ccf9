// The step of Adafactor: three passes over the gradient, and no other memory of its size.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "cpu/kernels/float_loops.h"
#include "cpu/kernels/loops.h"
#include "cpu/optim.h"
#include "cpu/threads.h"
#include "scalar/arith.h"

namespace fb::cpu::FB_ISA {
namespace {

// A stretch of a parameter whose second moments are factor * moments[j].
template <class T>
struct Run {
  T* param;
  const T* grad;
  T factor;
  const T* moments;
  int64_t n;
};

// The second moment, bounded below; a NaN stays.
template <class V>
FB_FN V bounded(const V& moment, const V& least) {
  return least > moment ? least : moment;
}

template <class T>
double sum_of_squares(const T* x, int64_t n) {
  double total[1] = {};
  add_up<T>(n, total, [x](auto width, int64_t i, auto* sums) {
    const auto v = load<T, decltype(width)::value>(x + i);
    sums[0] += v * v;
  });
  return total[0];
}

// Adds up f(i) of all i < n in fixed blocks, so that the sum does not depend on the number of
// threads; `cost` is the number of elements that one f reads.
template <class F>
double parallel_sum(int64_t n, int64_t cost, F f) {
  constexpr int64_t kBlock = 64;
  std::vector<double> sums(static_cast<size_t>((n + kBlock - 1) / kBlock));
  const auto blocks = static_cast<int64_t>(sums.size());
  parallel_for(blocks, std::max<int64_t>(1, kGrain / (kBlock * cost)),
               [&](int64_t from, int64_t to) {
                 for (int64_t b = from; b < to; ++b)
                   for (int64_t i = b * kBlock; i < std::min(n, (b + 1) * kBlock); ++i)
                     sums[static_cast<size_t>(b)] += f(i);
               });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

template <class T>
class Step {
 public:
  Step(const AdafactorTensor& tensor, const AdafactorNumbers& numbers)
      : t_(tensor),
        n_(numbers),
        param_(static_cast<T*>(tensor.param)),
        grad_(static_cast<const T*>(tensor.grad)),
        row_var_(static_cast<T*>(tensor.row_var)),
        col_var_(static_cast<T*>(tensor.col_var)),
        weight_(static_cast<T>(numbers.weight)),
        // The root is taken after the bound.
        least_(static_cast<T>(numbers.eps1 * numbers.eps1)) {}

  void operator()() {
    const double size = std::max(n_.eps2, root_mean(parallel_sum(pieces(), kPiece, [&](int64_t i) {
                                   return sum_of_squares(param_ + i * kPiece, piece_size(i));
                                 })));
    if (row_var_)
      mix_factors();
    else
      mix_elements();
    const double update = root_mean(
        parallel_sum(runs(), run_size(), [&](int64_t i) { return update_squares(run(i)); }));
    const double length = size * n_.relative / std::max(1.0, update / n_.d);
    const T rate = static_cast<T>(n_.maximize ? -length : length);
    parallel_for(runs(), std::max<int64_t>(1, kGrain / run_size()), [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) apply(run(i), rate);
    });
  }

 private:
  static constexpr int64_t kPiece = 4096;  // elements of a vector that are handled like a row

  int64_t numel() const { return t_.count * t_.rows * t_.cols; }
  double root_mean(double sum) const {
    return std::sqrt(sum) / std::sqrt(static_cast<double>(numel()));
  }
  int64_t pieces() const { return (numel() + kPiece - 1) / kPiece; }
  int64_t piece_size(int64_t i) const { return std::min(kPiece, numel() - i * kPiece); }

  int64_t runs() const { return row_var_ ? t_.count * t_.rows : pieces(); }
  int64_t run_size() const { return row_var_ ? t_.cols : kPiece; }
  Run<T> run(int64_t i) const {
    const int64_t first = i * run_size();
    if (!row_var_) return {param_ + first, grad_ + first, T(1), col_var_ + first, piece_size(i)};
    const T* const moments = scaled_.data() + i / t_.rows * t_.cols;
    return {param_ + first, grad_ + first, row_var_[i], moments, t_.cols};
  }

  void mix_elements() {
    parallel_for(numel(), kGrain, [&](int64_t from, int64_t to) {
      FB_IVDEP
      for (int64_t i = from; i < to; ++i)
        col_var_[i] = scalar::lerp(col_var_[i], grad_[i] * grad_[i], weight_);
    });
  }

  void mix_factors() {
    scaled_.resize(static_cast<size_t>(t_.count * t_.cols));
    for (int64_t i = 0; i < t_.count; ++i) mix_matrix(i);
  }

  // Mean squares of the rows and columns of a matrix, and the columns as their product with the
  // rows needs them.
  void mix_matrix(int64_t index) {
    T* const row_var = row_var_ + index * t_.rows;
    T* const col_var = col_var_ + index * t_.cols;
    T* const scaled = scaled_.data() + index * t_.cols;
    const std::vector<double> squares = mix_rows(grad_ + index * t_.rows * t_.cols, row_var);
    const double rows = static_cast<double>(t_.rows);
    const double total = std::accumulate(row_var, row_var + t_.rows, 0.0);
    const T divisor = bounded(static_cast<T>(total / rows), static_cast<T>(n_.eps1));
    for (int64_t c = 0; c < t_.cols; ++c) {
      const double square = squares[static_cast<size_t>(c)];
      col_var[c] = scalar::lerp(col_var[c], static_cast<T>(square / rows), weight_);
      scaled[c] = col_var[c] / divisor;
    }
  }

  // Updates the running mean squares of the rows of a matrix; returns the sums of squares of its
  // columns.
  std::vector<double> mix_rows(const T* grad, T* row_var) {
    const int64_t together = std::max<int64_t>(64, t_.rows / 16);
    const int64_t blocks = (t_.rows + together - 1) / together;
    std::vector<double> sums(static_cast<size_t>(blocks * t_.cols));
    parallel_for(blocks, std::max<int64_t>(1, kGrain / (together * t_.cols)),
                 [&](int64_t from, int64_t to) {
                   for (int64_t b = from; b < to; ++b)
                     for (int64_t r = b * together; r < std::min(t_.rows, (b + 1) * together); ++r)
                       mix_row(grad + r * t_.cols, row_var[r], sums.data() + b * t_.cols);
                 });
    for (int64_t i = t_.cols; i < blocks * t_.cols; ++i)
      sums[static_cast<size_t>(i % t_.cols)] += sums[static_cast<size_t>(i)];
    return sums;
  }

  void mix_row(const T* grad, T& row_var, double* columns) {
    const double mean = sum_of_squares(grad, t_.cols) / static_cast<double>(t_.cols);
    row_var = scalar::lerp(row_var, static_cast<T>(mean), weight_);
    for (int64_t c = 0; c < t_.cols; ++c) {
      const double g = static_cast<double>(grad[c]);
      columns[c] += g * g;
    }
  }

  double update_squares(const Run<T>& run) const {
    double total[1] = {};
    add_up<T>(run.n, total, [&](auto width, int64_t i, auto* sums) {
      constexpr int W = decltype(width)::value;
      const auto g = load<T, W>(run.grad + i);
      const auto moment = load<T, W>(run.moments + i) * run.factor;
      sums[0] += g * g / bounded(moment, broadcast<T, W>(least_));
    });
    return total[0];
  }

  void apply(const Run<T>& run, T rate) const {
    const T shrink = static_cast<T>(n_.shrink);
    FB_IVDEP
    for (int64_t i = 0; i < run.n; ++i) {
      const T moment = bounded(run.moments[i] * run.factor, least_);
      run.param[i] = run.param[i] * shrink - rate * (run.grad[i] / std::sqrt(moment));
    }
  }

  const AdafactorTensor& t_;
  const AdafactorNumbers& n_;
  T* const param_;
  const T* const grad_;
  T* const row_var_;
  T* const col_var_;
  const T weight_;
  const T least_;          // of a second moment
  std::vector<T> scaled_;  // the columns over the mean of the rows, for every matrix
};

}  // namespace

void adafactor_step(const AdafactorTensor& tensor, const AdafactorNumbers& numbers) {
  visit_floating(tensor.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Step<T>(tensor, numbers)();
  });
}

}  // namespace fb::cpu::FB_ISA
