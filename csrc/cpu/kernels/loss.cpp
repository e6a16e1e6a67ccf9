// Element-wise losses in one pass: values, their sum without the values, gradients.
#include "cpu/loss.h"

#include <memory>

#include "cpu/kernels/float_loops.h"
#include "cpu/kernels/fold.h"
#include "cpu/kernels/loops.h"
#include "scalar/loss.h"

namespace fb::cpu::FB_ISA {
namespace {

namespace loss = scalar::loss;

// Sums are taken chunk by chunk, so that they do not depend on the number of threads.
constexpr int64_t kLossChunk = 8192;
constexpr int64_t kLossGrain = 2 * kLossChunk;
// Terms are computed so many at a time and then added: compilers make one sum of a loop that does
// both, and every addition waits for the one before.
constexpr int64_t kTerms = 1024;

// The operands of a call, in the type that is computed in. Every loop has its own copy, so that the
// compiler sees that nothing changes them.
template <class L, class T>
struct Elements {
  const T* x;
  const T* y;
  const T* z;
  loss::Numbers<T> p;

  explicit Elements(const LossCall& call)
      : x(static_cast<const T*>(call.operands[0])),
        y(static_cast<const T*>(call.operands[1])),
        z(static_cast<const T*>(call.operands[L::kOperands - 1])),
        p{static_cast<T>(call.params[0]), static_cast<T>(call.params[1])} {}

  FB_FN T value(int64_t i) const { return L::value(x[i], y[i], z[i], p); }
  template <int k>
  FB_FN T derivative(int64_t i) const {
    return L::template derivative<k>(x[i], y[i], z[i], p);
  }
};

template <class L, class T>
void values(const LossCall& call, void* out) {
  T* const target = static_cast<T*>(out);
  parallel_for(call.n, kLossGrain, [&](int64_t begin, int64_t end) {
    const Elements<L, T> elements(call);
    T* const __restrict to = target;
    FB_IVDEP
    for (int64_t i = begin; i < end; ++i) to[i] = elements.value(i);
  });
}

template <class L, class T>
double sum_of(const LossCall& call, int64_t begin, int64_t end) {
  const Elements<L, T> elements(call);
  double total[1] = {};
  alignas(64) T terms[kTerms];
  for (int64_t first = begin; first < end; first += kTerms) {
    const int64_t n = min64(end - first, kTerms);
    FB_IVDEP
    for (int64_t i = 0; i < n; ++i) terms[i] = elements.value(first + i);
    add_up<T>(n, total,
              [&]<int W>(Width<W>, int64_t i, auto& sums) { sums[0] += load<T, W>(terms + i); });
  }
  return total[0];
}

template <class L, class T>
double sum(const LossCall& call) {
  if (call.n <= kLossChunk) return sum_of<L, T>(call, 0, call.n);
  const int64_t chunks = ceil_div(call.n, kLossChunk);
  const std::unique_ptr<double[]> sums(new double[chunks]);
  parallel_for(chunks, kLossGrain / kLossChunk, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c)
      sums[c] = sum_of<L, T>(call, c * kLossChunk, min64(call.n, (c + 1) * kLossChunk));
  });
  double total = 0;
  for (int64_t c = 0; c < chunks; ++c) total += sums[c];
  return total;
}

template <class L, class T, int k>
void gradient(const LossCall& call, const void* gradients, bool single, double scale, void* out) {
  const T* const g = static_cast<const T*>(gradients);
  T* const target = static_cast<T*>(out);
  const T factor = static_cast<T>(scale);
  parallel_for(call.n, kLossGrain, [&](int64_t begin, int64_t end) {
    const Elements<L, T> elements(call);
    T* const __restrict to = target;
    if (single) {
      const T common = *g * factor;
      FB_IVDEP
      for (int64_t i = begin; i < end; ++i) to[i] = common * elements.template derivative<k>(i);
    } else {
      FB_IVDEP
      for (int64_t i = begin; i < end; ++i)
        to[i] = g[i] * factor * elements.template derivative<k>(i);
    }
  });
}

template <class L, class T>
void gradient_by(const LossCall& call, int operand, const void* g, bool single, double scale,
                 void* out) {
  if (operand == 0) return gradient<L, T, 0>(call, g, single, scale, out);
  if (operand == 1) return gradient<L, T, 1>(call, g, single, scale, out);
  if constexpr (L::kOperands == 3) gradient<L, T, 2>(call, g, single, scale, out);
}

template <class T>
struct Tag {
  using type = T;
};

// f(Tag<loss>) of the kind's loss.
template <class F>
auto with_loss(LossKind kind, F&& f) {
  switch (kind) {
    case LossKind::kSquared: return f(Tag<loss::Squared>());
    case LossKind::kAbsolute: return f(Tag<loss::Absolute>());
    case LossKind::kSmoothAbsolute: return f(Tag<loss::SmoothAbsolute>());
    case LossKind::kHuber: return f(Tag<loss::Huber>());
    case LossKind::kBinary: return f(Tag<loss::Binary>());
    case LossKind::kBinaryLogits: return f(Tag<loss::BinaryLogits>());
    case LossKind::kWeightedLogits: return f(Tag<loss::WeightedLogits>());
    case LossKind::kDivergence: return f(Tag<loss::Divergence>());
    case LossKind::kLogDivergence: return f(Tag<loss::LogDivergence>());
    case LossKind::kPoisson: return f(Tag<loss::Poisson>());
    case LossKind::kLogPoisson: return f(Tag<loss::LogPoisson>());
    case LossKind::kGaussian: return f(Tag<loss::Gaussian>());
    case LossKind::kHingeEmbedding: return f(Tag<loss::HingeEmbedding>());
    case LossKind::kRanking: return f(Tag<loss::Ranking>());
    case LossKind::kSoftMargin: return f(Tag<loss::SoftMargin>());
  }
  __builtin_unreachable();
}

}  // namespace

void loss_elements(const LossCall& call, void* out) {
  with_loss(call.kind, [&]<class L>(Tag<L>) {
    call.dtype == DType::kFloat32 ? values<L, float>(call, out) : values<L, double>(call, out);
  });
}

void loss_sum(const LossCall& call, double divisor, void* out) {
  const double total = with_loss(call.kind, [&]<class L>(Tag<L>) {
    return call.dtype == DType::kFloat32 ? sum<L, float>(call) : sum<L, double>(call);
  });
  put_number(call.dtype, total / divisor, out);
}

void loss_gradient(const LossCall& call, int operand, const void* gradient, bool single,
                   double scale, void* out) {
  with_loss(call.kind, [&]<class L>(Tag<L>) {
    (call.dtype == DType::kFloat32
         ? gradient_by<L, float>
         : gradient_by<L, double>)(call, operand, gradient, single, scale, out);
  });
}

}  // namespace fb::cpu::FB_ISA
