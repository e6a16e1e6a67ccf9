// Cross entropy with class probabilities as targets.
#include "core/layout.h"
#include "gen/ops/arith.h"
#include "gen/ops/loss.h"
#include "gen/ops/reduce.h"
#include "gen/ops/softmax.h"
#include "gen/ops/view.h"
#include "kernel/table.h"
#include "ops/loss_support.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

// Scores and soft_targets as rows of classes: of samples, or of the pixels of channels_last images.
// 16-bit floats are computed in float32.
class ShareRows {
 public:
  ShareRows(const Tensor& input, const Tensor& target, const Tensor& weight, double smoothing) {
    const DType type = compute_type(input.dtype());
    scores_ = as_rows(cast(input, type));
    targets_ = cast(target, type);
    if (targets_.strides() != scores_.strides()) {
      const Tensor aligned = make_like(scores_, type);
      kernel::copy(aligned, targets_);
      targets_ = aligned;
    }
    if (weight) weights_ = contiguous(cast(weight, type));
    const int64_t classes = input.sizes()[static_cast<size_t>(class_dim(input))];
    call_ = {.dtype = type,
             .rows = classes == 0 ? 0 : input.numel() / classes,
             .classes = classes,
             .scores = scores_.data(),
             .soft_targets = targets_.data(),
             .weights = weight ? weights_.data() : nullptr,
             .smoothing = smoothing};
  }

  const kernel::SoftTargets& call() const { return call_; }
  Tensor like_scores() const { return make_like(scores_, call_.dtype); }

 private:
  // Scores that were rows in forward may have been converted to another order since.
  static Tensor as_rows(const Tensor& scores) {
    if (scores.dim() < 3) return contiguous(scores);
    if (is_channels_last(scores)) return scores;
    const IntSpan sizes = scores.sizes();
    const Tensor rows =
        make_strided(sizes, channels_last_strides(sizes), scores.dtype(), scores.device());
    kernel::copy(rows, scores);
    return rows;
  }

  Tensor scores_, targets_, weights_;
  kernel::SoftTargets call_;
};

bool wants_gradient(const Tensor& t) { return t && t->flags & kRequiresGrad; }

// Whether the classes of each sample are adjacent in memory and all types are equal.
bool has_rows(const Tensor& input, const Tensor& target, const Tensor& weight) {
  const bool side_by_side = input.dim() < 3 || is_channels_last(input);
  return side_by_side && input.dtype() == target.dtype() && is_floating(input.dtype()) &&
         input.numel() > 0 &&
         (!weight || (weight.dtype() == input.dtype() && !wants_gradient(weight)));
}

Tensor composed_loss(const Tensor& input, const Tensor& target, const Tensor& weight,
                     double smoothing, Reduction reduction) {
  const int64_t dim = class_dim(input);
  const int64_t classes = input.sizes()[static_cast<size_t>(dim)];
  Tensor soft_targets = target;
  if (smoothing > 0)
    soft_targets =
        ops::add(ops::mul(target, 1 - smoothing), smoothing / static_cast<double>(classes));
  if (weight) {
    Dims aligned(static_cast<size_t>(input.dim()), 1);
    aligned[static_cast<size_t>(dim)] = classes;
    soft_targets = ops::mul(soft_targets, ops::view(weight, aligned));
  }
  const Tensor costs = ops::mul(ops::log_softmax(input, dim), soft_targets);
  if (reduction == Reduction::kNone) return ops::neg(ops::sum(costs, IntSpan{dim}));
  const double samples = static_cast<double>(input.numel()) / static_cast<double>(classes);
  return reduction == Reduction::kSum ? ops::neg(ops::sum_all(costs))
                                      : ops::div(ops::sum_all(costs), -samples);
}

}  // namespace

std::tuple<Tensor, Tensor> compute::_soft_cross_entropy(const Tensor& input, const Tensor& target,
                                                        const Tensor& weight,
                                                        double label_smoothing, int64_t reduction) {
  const ShareRows rows(input, target, weight, label_smoothing);
  const kernel::SoftTargets& call = rows.call();
  const Reduction how = numbered_reduction(reduction);
  const Tensor statistics = make_tensor({3, call.rows}, call.dtype, input.device());
  Dims sizes = input.sizes().vec();
  sizes.erase(static_cast<size_t>(class_dim(input)));
  Tensor losses = make_tensor(sizes, call.dtype, input.device());
  kernel::of(losses).soft_target_losses(call, statistics.data(), losses.data());
  if (how != Reduction::kNone) {
    const Tensor total = make_tensor({}, call.dtype, input.device());
    const double divisor = how == Reduction::kMean ? static_cast<double>(call.rows) : 1;
    kernel::of(losses).sum_losses(call.dtype, losses.data(), call.rows, divisor, total.data());
    losses = total;
  }
  return {cast(losses, input.dtype()), statistics};
}

Tensor compute::soft_cross_entropy_gradient(int64_t operand, const Tensor& gradient,
                                            const Tensor& input, const Tensor& target,
                                            const Tensor& weight, const Tensor& statistics,
                                            double label_smoothing, int64_t reduction) {
  const ShareRows rows(input, target, weight, label_smoothing);
  const Reduction how = numbered_reduction(reduction);
  const Tensor g = contiguous(cast(gradient, rows.call().dtype));
  const double scale = how == Reduction::kMean ? 1 / static_cast<double>(rows.call().rows) : 1;
  const Tensor out = rows.like_scores();
  kernel::of(out).soft_target_gradient(rows.call(), statistics.data(),
                                       {g.data(), how != Reduction::kNone, scale}, operand == 1,
                                       out.data());
  return cast(out, input.dtype());
}

Tensor soft_target_loss(const Tensor& input, const Tensor& target, const Tensor& weight,
                        int64_t ignore_index, double smoothing, Reduction reduction) {
  FB_CHECK(is_floating(target.dtype()),
           "Expected floating point type for target with class probabilities, got ",
           legacy_name_of(target.dtype()));
  check_class_weight(weight, input.sizes()[static_cast<size_t>(class_dim(input))]);
  FB_CHECK(ignore_index < 0, "ignore_index is not supported for floating point target");
  if (!has_rows(input, target, weight))
    return composed_loss(input, target, weight, smoothing, reduction);
  return std::get<0>(
      ops::_soft_cross_entropy(input, target, weight, smoothing, number_of(reduction)));
}

}  // namespace fb::ops
