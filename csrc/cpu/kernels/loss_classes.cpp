// Cross entropy of scores, without the logarithm of softmax in between: a pass over the scores for
// the normalisers, another one for the gradient.
#include "cpu/loss_classes.h"

#include "cpu/kernels/exp_sum.h"
#include "cpu/kernels/loops.h"

namespace fb::cpu::FB_ISA {
namespace {

constexpr int64_t kEntropyColumns = 256;  // samples in a block
constexpr int64_t kEntropyChunk = 64;     // rows of a block of columns, read twice while cached
constexpr int64_t kEntropyGrain = kGrain / 4;  // an exponential costs several elements of a copy

// f(sample, width) for blocks of neighbouring samples: columns of one image, or any rows.
template <class F>
void by_blocks(const ClassTargets& t, F&& f) {
  const int64_t length = t.inner == 1 ? t.outer : t.inner;
  const int64_t stretches = t.inner == 1 ? 1 : t.outer;
  // Long rows one by one, so that threads get even shares even of few rows.
  const int64_t width = t.inner == 1
                            ? min64(kEntropyColumns, ceil_div(kEntropyGrain, t.classes + 1))
                            : kEntropyColumns;
  const int64_t blocks = ceil_div(length, width);
  parallel_for(stretches * blocks, ceil_div(kEntropyGrain, t.classes * min64(length, width) + 1),
               [&](int64_t begin, int64_t end) {
                 for (int64_t b = begin; b < end; ++b) {
                   const int64_t first = b % blocks * width;
                   f(b / blocks * length + first, min64(width, length - first));
                 }
               });
}

// Where the scores of a sample begin.
FB_FN int64_t first_score(const ClassTargets& t, int64_t sample) {
  const int64_t outer = sample / t.inner;
  return outer * t.classes * t.inner + (sample - outer * t.inner);
}

template <class T>
void row_statistics(const T* x, int64_t n, int64_t rows, T* largest, T* rest) {
  for (int64_t r = 0; r < rows; ++r) rest[r] = exp_sum_of_row(x + r * n, n, largest[r]);
  // Logarithms of many rows side by side are much cheaper than one by one.
  FB_IVDEP
  for (int64_t r = 0; r < rows; ++r) rest[r] = math::log(rest[r]);
}

template <class T>
void column_statistics(const T* x, int64_t n, int64_t stride, int64_t width, T* largest, T* rest) {
  T top[kEntropyColumns], shift[kEntropyColumns], sum[kEntropyColumns];
  for (int64_t c = 0; c < width; ++c) top[c] = lowest<T>();
  for (int64_t c = 0; c < width; ++c) sum[c] = 0;
  for (int64_t first = 0; first < n; first += kEntropyChunk) {
    const int64_t last = min64(n, first + kEntropyChunk);
    for (int64_t c = 0; c < width; ++c) shift[c] = top[c];
    for (int64_t r = first; r < last; ++r)
      for (int64_t c = 0; c < width; ++c)
        top[c] = x[r * stride + c] > top[c] ? x[r * stride + c] : top[c];
    FB_IVDEP
    for (int64_t c = 0; c < width; ++c) {
      const T before = shift[c];
      shift[c] = exponent_shift(top[c]);
      sum[c] = before == top[c] ? sum[c] : sum[c] * exp_nonpositive(before - shift[c]);
    }
    for (int64_t r = first; r < last; ++r) {
      FB_IVDEP
      for (int64_t c = 0; c < width; ++c) sum[c] += exp_nonpositive(x[r * stride + c] - shift[c]);
    }
  }
  FB_IVDEP
  for (int64_t c = 0; c < width; ++c) {
    largest[c] = exponent_shift(top[c]);
    rest[c] = math::log(sum[c]);
  }
}

// The coefficients of a sample's gradient: `scale` of softmax, less `spread` of every class, less
// `pick` of the target.
template <class T>
struct Coefficients {
  T scale, spread, pick;
};

template <class T>
class Entropy {
 public:
  Entropy(const ClassTargets& t, const void* scores, const void* statistics, double smoothing,
          const SampleGradients& gradients)
      : t_(t),
        x_(static_cast<const T*>(scores)),
        largest_(static_cast<const T*>(statistics)),
        rest_(largest_ + t.samples()),
        weights_(static_cast<const T*>(t.weights)),
        gradients_(gradients),
        scale_(scale_of<T>(gradients)),
        smoothing_(smoothing) {
    whole_weight_ = static_cast<double>(t.classes);
    if (weights_) {
      whole_weight_ = 0;
      for (int64_t c = 0; c < t.classes; ++c) whole_weight_ += static_cast<double>(weights_[c]);
    }
    if (gradients.single && t.samples() > 0) common_ = coefficients(gradient_at(0), 1);
  }

  void row(int64_t i, T* out) const {
    const int64_t n = t_.classes;
    const T* const x = x_ + i * n;
    T* const y = out + i * n;
    const Coefficients<T> by = coefficients_of(i);
    const T top = largest_[i], rest = rest_[i];
    constexpr int L = kLanes<T>;
    const auto slope = [&](const Vec<T>& scores) -> Vec<T> {
      return by.scale * exp_nonpositive((scores - top) - rest);
    };
    int64_t whole = 0;
    for (; whole + L <= n; whole += L) store(y + whole, slope(load<T, L>(x + whole)));
    if (whole < n)
      store_part<T>(y + whole, slope(load_part(x + whole, n - whole, lowest<T>())), n - whole);
    if (by.scale == 0)  // of an ignored sample, whose scores may be NaN
      for (int64_t c = 0; c < n; ++c) y[c] = 0;
    if (by.spread != 0)
      for (int64_t c = 0; c < n; ++c) y[c] -= weights_ ? by.spread * weights_[c] : by.spread;
    if (by.pick != 0) y[t_.targets[i]] -= by.pick;
  }

  void columns(int64_t first, int64_t width, T* out) const {
    T scale[kEntropyColumns], spread[kEntropyColumns], pick[kEntropyColumns];
    for (int64_t c = 0; c < width; ++c) {
      const Coefficients<T> by = coefficients_of(first + c);
      scale[c] = by.scale;
      spread[c] = by.spread;
      pick[c] = by.pick;
    }
    const int64_t start = first_score(t_, first);
    const T* const top = largest_ + first;
    const T* const rest = rest_ + first;
    for (int64_t r = 0; r < t_.classes; ++r) {
      const T* const x = x_ + start + r * t_.inner;
      T* const y = out + start + r * t_.inner;
      const T weight = weights_ ? weights_[r] : T(1);
      FB_IVDEP
      for (int64_t c = 0; c < width; ++c) {
        const T value = scale[c] * exp_nonpositive((x[c] - top[c]) - rest[c]);
        y[c] = (scale[c] == T(0) ? T(0) : value) - spread[c] * weight;
      }
    }
    for (int64_t c = 0; c < width; ++c)
      if (pick[c] != 0) out[start + t_.targets[first + c] * t_.inner + c] -= pick[c];
  }

 private:
  Coefficients<T> coefficients_of(int64_t i) const {
    const int64_t target = t_.targets[i];
    if (target == t_.ignored) return {0, 0, 0};
    if (gradients_.single && !weights_) return common_;
    return coefficients(gradient_at(i), weights_ ? static_cast<double>(weights_[target]) : 1.0);
  }

  Coefficients<T> coefficients(double gradient, double weight) const {
    const double pick = gradient * weight * (1 - smoothing_);
    const double spread = gradient * smoothing_ / static_cast<double>(t_.classes);
    return {static_cast<T>(pick + spread * whole_weight_), static_cast<T>(spread),
            static_cast<T>(pick)};
  }

  double gradient_at(int64_t i) const {
    const T* const values = static_cast<const T*>(gradients_.values);
    return static_cast<double>(values[gradients_.single ? 0 : i]) * scale_;
  }

  const ClassTargets& t_;
  const T* const x_;
  const T* const largest_;
  const T* const rest_;
  const T* const weights_;
  const SampleGradients gradients_;
  const double scale_, smoothing_;
  double whole_weight_;
  Coefficients<T> common_ = {};  // of all samples, where neither weights nor gradients differ
};

template <class T>
void statistics_of(const ClassTargets& t, const T* scores, T* largest) {
  T* const rest = largest + t.samples();
  by_blocks(t, [&](int64_t sample, int64_t width) {
    const T* const x = scores + first_score(t, sample);
    if (t.inner == 1)
      row_statistics(x, t.classes, width, largest + sample, rest + sample);
    else
      column_statistics(x, t.classes, t.inner, width, largest + sample, rest + sample);
  });
}

template <bool weighted, class T>
T row_losses(const T* x, [[maybe_unused]] const T* weights, int64_t n, T top, T rest) {
  double total[1] = {};
  add_up<T>(n, total, [&]<int W>(Width<W>, int64_t c, auto& sums) {
    const auto loss = rest - (load<T, W>(x + c) - top);
    if constexpr (weighted)
      sums[0] += load<T, W>(weights + c) * loss;
    else
      sums[0] += loss;
  });
  return static_cast<T>(total[0]);
}

template <class T>
void all_losses(const ClassTargets& t, const T* scores, const T* largest, T* out) {
  const T* const rest = largest + t.samples();
  const T* const weights = static_cast<const T*>(t.weights);
  by_blocks(t, [&](int64_t first, int64_t width) {
    const int64_t start = first_score(t, first);
    if (t.inner == 1) {
      for (int64_t i = first; i < first + width; ++i)
        out[i] =
            (weights ? row_losses<true, T> : row_losses<false, T>)(scores + i * t.classes, weights,
                                                                   t.classes, largest[i], rest[i]);
      return;
    }
    for (int64_t i = first; i < first + width; ++i) out[i] = 0;
    for (int64_t r = 0; r < t.classes; ++r) {
      const T weight = weights ? weights[r] : T(1);
      const T* const x = scores + start + r * t.inner - first;
      FB_IVDEP
      for (int64_t i = first; i < first + width; ++i)
        out[i] += weight * (rest[i] - (x[i] - largest[i]));
    }
  });
}

template <class T>
void gradient_of(const ClassTargets& t, const Entropy<T>& entropy, T* out) {
  by_blocks(t, [&](int64_t sample, int64_t width) {
    if (t.inner == 1)
      for (int64_t i = sample; i < sample + width; ++i) entropy.row(i, out);
    else
      entropy.columns(sample, width, out);
  });
}

}  // namespace

void score_statistics(const ClassTargets& t, const void* scores, void* statistics) {
  if (t.dtype == DType::kFloat32)
    return statistics_of(t, static_cast<const float*>(scores), static_cast<float*>(statistics));
  statistics_of(t, static_cast<const double*>(scores), static_cast<double*>(statistics));
}

void all_class_losses(const ClassTargets& t, const void* scores, const void* statistics,
                      void* out) {
  if (t.dtype == DType::kFloat32)
    return all_losses(t, static_cast<const float*>(scores), static_cast<const float*>(statistics),
                      static_cast<float*>(out));
  all_losses(t, static_cast<const double*>(scores), static_cast<const double*>(statistics),
             static_cast<double*>(out));
}

void cross_entropy_gradient(const ClassTargets& t, const void* scores, const void* statistics,
                            double smoothing, const SampleGradients& gradients, void* out) {
  if (t.dtype == DType::kFloat32)
    return gradient_of(t, Entropy<float>(t, scores, statistics, smoothing, gradients),
                       static_cast<float*>(out));
  gradient_of(t, Entropy<double>(t, scores, statistics, smoothing, gradients),
              static_cast<double*>(out));
}

}  // namespace fb::cpu::FB_ISA
