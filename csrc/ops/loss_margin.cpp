// Losses of margins: between the scores of classes, and between vectors.
#include "gen/ops/arith.h"
#include "gen/ops/compare.h"
#include "gen/ops/create.h"
#include "gen/ops/distance.h"
#include "gen/ops/explog.h"
#include "gen/ops/loss.h"
#include "gen/ops/reduce.h"
#include "gen/ops/view.h"
#include "kernel/table.h"
#include "ops/loss_support.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

// Scores as (samples, classes); a vector is one sample, a number one sample of one class.
class Margins {
 public:
  Margins(const Tensor& input, const Tensor& target, bool many) : input_(input) {
    const DType type = compute_type(input.dtype());
    scores_ = contiguous(cast(input, type));
    targets_ = contiguous(target);
    call_ = {.dtype = type,
             .samples = input.dim() == 2 ? input.sizes()[0] : 1,
             .classes = input.dim() == 0 ? 1 : input.sizes().back(),
             .scores = scores_.data(),
             .targets = targets_.data_as<int64_t>(),
             .many = many};
  }
  Margins(const Tensor& input, const Tensor& target, int64_t p, double margin, const Tensor& weight)
      : Margins(input, target, false) {
    call_.squared = p == 2;
    call_.margin = margin;
    if (!weight) return;
    weights_ = contiguous(cast(weight, call_.dtype));
    call_.weights = weights_.data();
  }

  Tensor value(Reduction reduction) const {
    const bool scalar = input_.dim() < 2;
    const Tensor losses =
        make_tensor(scalar ? IntSpan() : IntSpan{call_.samples}, call_.dtype, input_.device());
    kernel::of(losses).margin_losses(call_, losses.data());
    return cast(reduced(losses, reduction), input_.dtype());
  }

  Tensor gradient(const Tensor& given, Reduction reduction) const {
    const Tensor g = contiguous(cast(given, call_.dtype));
    const Tensor out = make_tensor(input_.sizes(), call_.dtype, input_.device());
    const double scale = reduction == Reduction::kMean ? 1 / static_cast<double>(call_.samples) : 1;
    kernel::of(out).margin_gradient(call_, g.data(), reduction != Reduction::kNone, scale,
                                    out.data());
    return cast(out, input_.dtype());
  }

 private:
  const Tensor& input_;
  Tensor scores_, targets_, weights_;
  kernel::MarginCall call_;
};

void check_scores(const Tensor& input, const Tensor& target) {
  FB_CHECK(input.dim() <= 2 && (input.dim() == 0 || input.sizes().back() != 0),
           "Expected non-empty vector or matrix with optional 0-dim batch size, but got: ",
           ListOf{input.sizes()});
  FB_CHECK(target.dtype() == DType::kInt64, "expected scalar type Long but found ",
           legacy_name_of(target.dtype()), " in target");
}

Tensor cosine_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin,
                   Reduction reduction) {
  FB_CHECK(target.dim() <= 1, "0D or 1D target tensor expected, multi-target not supported");
  if (target.dim() == 1)
    FB_CHECK(input1.dim() == 2 && input2.dim() == 2,
             "1D target tensor expects 2D input tensors, but found inputs with sizes ",
             SizeOf{input1.sizes()}, " and ", SizeOf{input2.sizes()}, ".");
  else
    FB_CHECK(input1.dim() == 1 && input2.dim() == 1,
             "0D target tensor expects 1D input tensors, but found inputs with sizes ",
             SizeOf{input1.sizes()}, " and ", SizeOf{input2.sizes()}, ".");
  constexpr double eps = 1e-12;
  const Dims along{-1};
  const Tensor size1 = ops::add(ops::sum(ops::mul(input1, input1), along), eps);
  const Tensor size2 = ops::add(ops::sum(ops::mul(input2, input2), along), eps);
  const Tensor cosine =
      ops::div(ops::sum(ops::mul(input1, input2), along), ops::sqrt(ops::mul(size1, size2)));
  const Tensor together =
      ops::where(ops::eq(target, 1), Operand(ops::sub(1.0, cosine)), Operand(0.0));
  const Tensor apart = ops::where(
      ops::eq(target, -1), Operand(ops::clamp_min(ops::sub(cosine, margin), 0)), Operand(0.0));
  return reduced(ops::add(together, apart), reduction);
}

Tensor triplet_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                    double margin, double p, double eps, bool swap, Reduction reduction) {
  FB_CHECK(anchor.dim() == positive.dim() && positive.dim() == negative.dim(),
           "The anchor, positive, and negative tensors are expected to have the same number of "
           "dimensions, but got: anchor ",
           anchor.dim(), "D, positive ", positive.dim(), "D, and negative ", negative.dim(),
           "D inputs");
  const Tensor near = ops::pairwise_distance(anchor, positive, p, eps, false);
  Tensor far = ops::pairwise_distance(anchor, negative, p, eps, false);
  if (swap) far = ops::minimum(far, ops::pairwise_distance(positive, negative, p, eps, false));
  return reduced(ops::clamp_min(ops::sub(ops::add(near, margin), far), 0), reduction);
}

}  // namespace

Tensor compute::_multi_margin_loss(const Tensor& input, const Tensor& target, int64_t p,
                                   double margin, const Tensor& weight, int64_t reduction) {
  return Margins(input, target, p, margin, weight).value(numbered_reduction(reduction));
}

Tensor compute::multi_margin_gradient(const Tensor& gradient, const Tensor& input,
                                      const Tensor& target, int64_t p, double margin,
                                      const Tensor& weight, int64_t reduction) {
  return Margins(input, target, p, margin, weight)
      .gradient(gradient, numbered_reduction(reduction));
}

Tensor compute::_multilabel_margin_loss(const Tensor& input, const Tensor& target,
                                        int64_t reduction) {
  return Margins(input, target, true).value(numbered_reduction(reduction));
}

Tensor compute::multilabel_margin_gradient(const Tensor& gradient, const Tensor& input,
                                           const Tensor& target, int64_t reduction) {
  return Margins(input, target, true).gradient(gradient, numbered_reduction(reduction));
}

Tensor composed::nn_functional_multi_margin_loss(const Tensor& input, const Tensor& target,
                                                 int64_t p, double margin, const Tensor& weight,
                                                 std::optional<bool> size_average,
                                                 std::optional<bool> reduce,
                                                 const std::string& reduction) {
  const Reduction how = read_reduction(reduction, size_average, reduce);
  FB_CHECK_VALUE(p == 1 || p == 2, "only p == 1 and p == 2 supported, got ", p);
  FB_CHECK_VALUE(!weight || weight.dim() == 1, "weight must be one-dimensional, got shape ",
                 weight.sizes());
  check_scores(input, target);
  const int64_t samples = input.dim() == 2 ? input.sizes()[0] : 1;
  FB_CHECK(target.dim() <= 1 && target.numel() == samples,
           "target tensor should be 1-D with size equal to the number of input samples (batch "
           "size). Expected target size [",
           samples, "], but got ", ListOf{target.sizes()}, ". Input has shape ",
           ListOf{input.sizes()}, ".");
  const int64_t classes = input.dim() == 0 ? 1 : input.sizes().back();
  FB_CHECK(!weight || weight.numel() == classes, "inconsistent weight size, expected ", classes,
           " but got ", ListOf{weight.sizes()});
  const Tensor loss = ops::_multi_margin_loss(input, target, p, margin, weight, number_of(how));
  // One sample has a loss in the shape of its target.
  return how == Reduction::kNone && input.dim() < 2 ? ops::reshape(loss, target.sizes()) : loss;
}

Tensor composed::nn_functional_multilabel_margin_loss(const Tensor& input, const Tensor& target,
                                                      std::optional<bool> size_average,
                                                      std::optional<bool> reduce,
                                                      const std::string& reduction) {
  const Reduction how = read_reduction(reduction, size_average, reduce);
  check_scores(input, target);
  FB_CHECK(target.sizes() == input.sizes(), "inconsistent target size: ", ListOf{target.sizes()},
           " for input of size: ", ListOf{input.sizes()});
  return ops::_multilabel_margin_loss(input, target, number_of(how));
}

Tensor composed::nn_functional_cosine_embedding_loss(const Tensor& input1, const Tensor& input2,
                                                     const Tensor& target, double margin,
                                                     std::optional<bool> size_average,
                                                     std::optional<bool> reduce,
                                                     const std::string& reduction) {
  return cosine_loss(input1, input2, target, margin,
                     read_reduction(reduction, size_average, reduce));
}

Tensor composed::numbered_cosine(const Tensor& input1, const Tensor& input2, const Tensor& target,
                                 double margin, int64_t reduction) {
  return cosine_loss(input1, input2, target, margin, numbered_reduction(reduction));
}

Tensor composed::nn_functional_triplet_margin_loss(const Tensor& anchor, const Tensor& positive,
                                                   const Tensor& negative, double margin, double p,
                                                   double eps, bool swap,
                                                   std::optional<bool> size_average,
                                                   std::optional<bool> reduce,
                                                   const std::string& reduction) {
  const Reduction how = read_reduction(reduction, size_average, reduce);
  FB_CHECK_VALUE(margin > 0, "margin must be greater than 0, got ", margin);
  return triplet_loss(anchor, positive, negative, margin, p, eps, swap, how);
}

Tensor composed::numbered_triplet(const Tensor& anchor, const Tensor& positive,
                                  const Tensor& negative, double margin, double p, double eps,
                                  bool swap, int64_t reduction) {
  return triplet_loss(anchor, positive, negative, margin, p, eps, swap,
                      numbered_reduction(reduction));
}

}  // namespace fb::ops
