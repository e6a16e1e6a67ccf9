#include "cpu/loss_margin.h"

#include <algorithm>
#include <vector>

#include "cpu/threads.h"

namespace fb::cpu {
namespace {

// One sample: its scores, its targets, and which classes are among them.
template <class T>
class Sample {
 public:
  explicit Sample(const MarginCall& call)
      : call_(call), wanted_(static_cast<size_t>(call.classes)) {}

  void enter(int64_t i) {
    for (const int64_t* t = begin_; t != end_; ++t) wanted_[static_cast<size_t>(*t)] = 0;
    scores_ = static_cast<const T*>(call_.scores) + i * call_.classes;
    begin_ = call_.targets + (call_.many ? i * call_.classes : i);
    end_ = call_.many ? std::find(begin_, begin_ + call_.classes, -1) : begin_ + 1;
    for (const int64_t* t = begin_; t != end_; ++t) wanted_[static_cast<size_t>(*t)] = 1;
  }

  T loss() const {
    T total = 0;
    for (const int64_t* t = begin_; t != end_; ++t) {
      const T least = static_cast<T>(call_.margin) - scores_[*t];
      T sum = 0;
      for (int64_t c = 0; c < call_.classes; ++c) {
        const T excess = least + scores_[c];
        const bool counts = (excess > 0) & !wanted_[static_cast<size_t>(c)];
        sum += counts ? (call_.squared ? excess * excess : excess) : T(0);
      }
      total += sum * weight(*t);
    }
    return total / static_cast<T>(call_.classes);
  }

  void gradient(T scale, T* out) const {
    std::fill(out, out + call_.classes, T(0));
    for (const int64_t* t = begin_; t != end_; ++t) {
      const T least = static_cast<T>(call_.margin) - scores_[*t];
      const T unit = scale * weight(*t) / static_cast<T>(call_.classes);
      T sum = 0;
      for (int64_t c = 0; c < call_.classes; ++c) {
        const T excess = least + scores_[c];
        const bool counts = (excess > 0) & !wanted_[static_cast<size_t>(c)];
        const T slope = counts ? (call_.squared ? 2 * excess * unit : unit) : T(0);
        out[c] += slope;
        sum += slope;
      }
      out[*t] -= sum;
    }
  }

 private:
  T weight(int64_t target) const {
    return call_.weights ? static_cast<const T*>(call_.weights)[target] : T(1);
  }

  const MarginCall& call_;
  std::vector<uint8_t> wanted_;
  const T* scores_ = nullptr;
  const int64_t* begin_ = nullptr;
  const int64_t* end_ = nullptr;
};

template <class T, class F>
void for_samples(const MarginCall& call, F&& f) {
  parallel_for(call.samples, std::max<int64_t>(1, kGrain / 4 / call.classes),
               [&](int64_t begin, int64_t end) {
                 Sample<T> sample(call);
                 for (int64_t i = begin; i < end; ++i) {
                   sample.enter(i);
                   f(sample, i);
                 }
               });
}

template <class T>
void losses(const MarginCall& call, T* out) {
  for_samples<T>(call, [&](const Sample<T>& sample, int64_t i) { out[i] = sample.loss(); });
}

template <class T>
void gradients_of(const MarginCall& call, const T* gradients, bool single, double scale, T* out) {
  for_samples<T>(call, [&](const Sample<T>& sample, int64_t i) {
    sample.gradient(gradients[single ? 0 : i] * static_cast<T>(scale), out + i * call.classes);
  });
}

}  // namespace

void check_margin_targets(const MarginCall& call) {
  const int64_t count = call.samples * (call.many ? call.classes : 1);
  const int64_t least = call.many ? -1 : 0;
  for (int64_t i = 0; i < count; ++i)
    FB_CHECK(call.targets[i] >= least && call.targets[i] < call.classes,
             "target out of range: ", call.targets[i], " is none of ", call.classes, " classes");
}

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

}  // namespace fb::cpu
