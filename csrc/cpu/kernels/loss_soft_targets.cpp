// Cross entropy with class probabilities as targets, computed without the logarithm of softmax in
// between.
#include "cpu/kernels/exp_sum.h"
#include "cpu/kernels/loops.h"
#include "cpu/loss_classes.h"

namespace fb::cpu::FB_ISA {
namespace {

constexpr int64_t kShareGrain = kGrain / 4;  // elements: exponentials cost several of a copy

template <class T, bool weighted>
class TargetRows {
 public:
  explicit TargetRows(const SoftTargets& call)
      : classes_(call.classes),
        x_(static_cast<const T*>(call.scores)),
        y_(static_cast<const T*>(call.soft_targets)),
        weights_(static_cast<const T*>(call.weights)),
        kept_(static_cast<T>(1 - call.smoothing)),
        spread_(static_cast<T>(call.smoothing / static_cast<double>(call.classes))) {}

  // The sum of exponentials of a row.
  T exp_sum(int64_t row, T& largest) const {
    return exp_sum_of_row(x_ + row * classes_, classes_, largest);
  }

  T loss(int64_t row, T top, T rest, T& target_sum) const {
    const T* const x = x_ + row * classes_;
    const T* const y = y_ + row * classes_;
    double total = 0, all = 0;
    for (int64_t first = 0; first < classes_; first += kBlock) {
      const int64_t last = min64(classes_, first + kBlock);
      T sum = 0, targets = 0;
#pragma omp simd reduction(+ : sum, targets)
      for (int64_t c = first; c < last; ++c) {
        const T share = share_of(y[c], c);
        sum += share * (rest - (x[c] - top));
        targets += share;
      }
      total += static_cast<double>(sum);
      all += static_cast<double>(targets);
    }
    target_sum = static_cast<T>(all);
    return static_cast<T>(total);
  }

  void gradient_by_scores(int64_t row, T g, T top, T rest, T target_sum, T* out) const {
    const T* const x = x_ + row * classes_;
    const T* const y = y_ + row * classes_;
    T* const __restrict to = out + row * classes_;
    const T scale = g * target_sum;
    FB_IVDEP
    for (int64_t c = 0; c < classes_; ++c)
      to[c] = scale * exp_nonpositive((x[c] - top) - rest) - g * share_of(y[c], c);
  }

  void gradient_by_targets(int64_t row, T g, T top, T rest, T* out) const {
    const T* const x = x_ + row * classes_;
    T* const __restrict to = out + row * classes_;
    const T scale = g * kept_;
    FB_IVDEP
    for (int64_t c = 0; c < classes_; ++c)
      to[c] = scale * (weighted ? weights_[c] : T(1)) * (rest - (x[c] - top));
  }

 private:
  FB_FN T share_of(T y, int64_t c) const {
    const T mixed = y * kept_ + spread_;
    return weighted ? mixed * weights_[c] : mixed;
  }

  const int64_t classes_;
  const T* const x_;
  const T* const y_;
  const T* const weights_;
  const T kept_, spread_;
};

// f(first, last) for rows that fit the cache together.
template <class F>
void by_rows(const SoftTargets& call, F&& f) {
  const int64_t rows = min64(256, ceil_div(kShareGrain, call.classes + 1));
  parallel_for(ceil_div(call.rows, rows), 1, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) f(b * rows, min64(call.rows, (b + 1) * rows));
  });
}

template <class T, bool weighted>
void losses(const SoftTargets& call, T* statistics, T* out) {
  T* const rest = statistics + call.rows;
  T* const all = rest + call.rows;
  const TargetRows<T, weighted> rows(call);
  by_rows(call, [&](int64_t first, int64_t last) {
    for (int64_t r = first; r < last; ++r) rest[r] = rows.exp_sum(r, statistics[r]);
    // Logarithms of many rows side by side are much cheaper than one by one.
    FB_IVDEP
    for (int64_t r = first; r < last; ++r) rest[r] = math::log(rest[r]);
    for (int64_t r = first; r < last; ++r) out[r] = rows.loss(r, statistics[r], rest[r], all[r]);
  });
}

template <class T, bool weighted>
void gradient(const SoftTargets& call, const T* statistics, const SampleGradients& gradients,
              bool by_targets, T* out) {
  const T* const rest = statistics + call.rows;
  const T* const all = rest + call.rows;
  const T* const given = static_cast<const T*>(gradients.values);
  const T scale = static_cast<T>(scale_of<T>(gradients));
  const TargetRows<T, weighted> rows(call);
  by_rows(call, [&](int64_t first, int64_t last) {
    for (int64_t r = first; r < last; ++r) {
      const T g = given[gradients.single ? 0 : r] * scale;
      if (by_targets)
        rows.gradient_by_targets(r, g, statistics[r], rest[r], out);
      else
        rows.gradient_by_scores(r, g, statistics[r], rest[r], all[r], out);
    }
  });
}

// f(T{}, whether there are weights) by type and weights.
template <class F>
void by_kind(const SoftTargets& call, F&& f) {
  const auto with_type = [&]<class T>(T) {
    if (call.weights)
      f.template operator()<T, true>();
    else
      f.template operator()<T, false>();
  };
  if (call.dtype == DType::kFloat32)
    with_type(float{});
  else
    with_type(double{});
}

}  // namespace

void soft_target_losses(const SoftTargets& call, void* statistics, void* out) {
  by_kind(call, [&]<class T, bool weighted>() {
    losses<T, weighted>(call, static_cast<T*>(statistics), static_cast<T*>(out));
  });
}

void soft_target_gradient(const SoftTargets& call, const void* statistics,
                          const SampleGradients& gradients, bool by_targets, void* out) {
  by_kind(call, [&]<class T, bool weighted>() {
    gradient<T, weighted>(call, static_cast<const T*>(statistics), gradients, by_targets,
                          static_cast<T*>(out));
  });
}

}  // namespace fb::cpu::FB_ISA
