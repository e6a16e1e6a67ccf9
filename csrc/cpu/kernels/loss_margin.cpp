// Margins between the scores of classes, all classes of a sample side by side.
#include "cpu/loss_margin.h"

#include <algorithm>
#include <vector>

#include "cpu/kernels/fold.h"

namespace fb::cpu::FB_ISA {
namespace {

// One sample: its scores, its targets, and which classes are not among them.
template <class T, bool squared>
class Sample {
 public:
  explicit Sample(const MarginCall& call)
      : call_(call), others_(static_cast<size_t>(call.classes), T(1)) {}

  void enter(int64_t i) {
    for (const int64_t* t = begin_; t != end_; ++t) others_[static_cast<size_t>(*t)] = 1;
    scores_ = static_cast<const T*>(call_.scores) + i * call_.classes;
    begin_ = call_.targets + (call_.many ? i * call_.classes : i);
    end_ = call_.many ? std::find(begin_, begin_ + call_.classes, -1) : begin_ + 1;
    for (const int64_t* t = begin_; t != end_; ++t) others_[static_cast<size_t>(*t)] = 0;
  }

  T loss() const {
    const T* const x = scores_;
    const T* const others = others_.data();
    const int64_t n = call_.classes;
    T total = 0;
    for (const int64_t* t = begin_; t != end_; ++t) {
      const T least = static_cast<T>(call_.margin) - x[*t];
      T sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int64_t c = 0; c < n; ++c) {
        const T excess = least + x[c] > T(0) ? least + x[c] : T(0);
        sum += others[c] * (squared ? excess * excess : excess);
      }
      total += sum * weight(*t);
    }
    return total / static_cast<T>(n);
  }

  void gradient(T scale, T* out) const {
    const T* const x = scores_;
    const T* const others = others_.data();
    T* const __restrict to = out;
    const int64_t n = call_.classes;
    std::fill(out, out + n, T(0));
    for (const int64_t* t = begin_; t != end_; ++t) {
      const T least = static_cast<T>(call_.margin) - x[*t];
      const T unit = scale * weight(*t) / static_cast<T>(n);
      T sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int64_t c = 0; c < n; ++c) {
        const T excess = least + x[c];
        const T factor = squared ? T(2) * excess * unit : unit;
        const T slope = others[c] * (excess > T(0) ? factor : T(0));
        to[c] += slope;
        sum += slope;
      }
      to[*t] -= sum;
    }
  }

 private:
  T weight(int64_t target) const {
    return call_.weights ? static_cast<const T*>(call_.weights)[target] : T(1);
  }

  const MarginCall& call_;
  std::vector<T> others_;  // 0 for the targets, 1 for all other classes
  const T* scores_ = nullptr;
  const int64_t* begin_ = nullptr;
  const int64_t* end_ = nullptr;
};

// f(sample, i) for every sample.
template <class T, bool squared, class F>
void for_samples(const MarginCall& call, F&& f) {
  parallel_for(call.samples, ceil_div(kGrain / 4, call.classes), [&](int64_t begin, int64_t end) {
    Sample<T, squared> sample(call);
    for (int64_t i = begin; i < end; ++i) {
      sample.enter(i);
      f(sample, i);
    }
  });
}

template <class T, class F>
void by_power(const MarginCall& call, F&& f) {
  if (call.squared)
    for_samples<T, true>(call, f);
  else
    for_samples<T, false>(call, f);
}

template <class T>
void losses(const MarginCall& call, T* out) {
  by_power<T>(call, [&](const auto& sample, int64_t i) { out[i] = sample.loss(); });
}

template <class T>
void gradients_of(const MarginCall& call, const T* gradients, bool single, double scale, T* out) {
  by_power<T>(call, [&](const auto& sample, int64_t i) {
    sample.gradient(gradients[single ? 0 : i] * static_cast<T>(scale), out + i * call.classes);
  });
}

}  // namespace

void margin_losses(const MarginCall& call, void* out) {
  if (call.dtype == DType::kFloat32) return losses(call, static_cast<float*>(out));
  losses(call, static_cast<double*>(out));
}

void margin_gradient(const MarginCall& call, const void* gradients, bool single, double scale,
                     void* out) {
  if (call.dtype == DType::kFloat32)
    return gradients_of(call, static_cast<const float*>(gradients), single, scale,
                        static_cast<float*>(out));
  gradients_of(call, static_cast<const double*>(gradients), single, scale,
               static_cast<double*>(out));
}

}  // namespace fb::cpu::FB_ISA
