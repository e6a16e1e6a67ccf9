// Cross entropy and negative log-likelihood of class numbers.
#include <algorithm>
#include <limits>

#include "core/layout.h"
#include "gen/ops/create.h"
#include "gen/ops/loss.h"
#include "gen/ops/reduce.h"
#include "kernel/table.h"
#include "ops/host.h"
#include "ops/loss_support.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

// Scores, class numbers and weights as the kernels read them. 16-bit floats are computed in
// float32; a GPU's kernels read and write them.
class Classes {
 public:
  Classes(const Tensor& input, const Tensor& target, const Tensor& weight, int64_t ignored) {
    const DType type = compute_type(input.dtype());
    scores_ = input.device().type == DeviceType::kCuda ? input : cast(input, type);
    // After a convolution the classes of a pixel are adjacent in memory: every pixel is a row.
    const bool by_rows = input.dim() > 2 && is_channels_last(scores_);
    if (!by_rows) scores_ = contiguous(scores_);
    targets_ = contiguous(cast(target, DType::kInt64));
    if (weight) weights_ = contiguous(cast(weight, type));
    const IntSpan sizes = input.sizes();
    const int64_t outer = sizes.size() == 1 ? 1 : sizes[0];
    const int64_t inner = sizes.size() > 2 ? numel_of(sizes.last(sizes.size() - 2)) : 1;
    call_ = {.dtype = type,
             .scores = scores_.dtype(),
             .outer = by_rows ? outer * inner : outer,
             .classes = sizes[static_cast<size_t>(class_dim(input))],
             .inner = by_rows ? 1 : inner,
             .targets = targets_.data_as<int64_t>(),
             .weights = weight ? weights_.data() : nullptr,
             .ignored = ignored};
  }

  const kernel::ClassTargets& call() const { return call_; }
  const void* scores() const { return scores_.data(); }
  // A tensor for the gradient of the scores, with their strides.
  Tensor like_scores() const { return make_like(scores_, scores_.dtype()); }

 private:
  Tensor scores_, targets_, weights_;
  kernel::ClassTargets call_;
};

// The losses, or what they are reduced to, from compute(where they go); the weight of the samples
// that count goes to `weight`.
template <class Compute>
Tensor losses_of(const Classes& classes, const Tensor& input, const Tensor& target,
                 Reduction reduction, void* weight, Compute compute) {
  const bool reduces = reduction != Reduction::kNone;
  const bool scalar = reduces || input.dim() == 1;
  Tensor out =
      make_tensor(scalar ? IntSpan() : target.sizes(), classes.call().dtype, input.device());
  compute(kernel::ClassLosses{.each = reduces ? nullptr : out.data(),
                              .total = reduces ? out.data() : nullptr,
                              .mean = reduction == Reduction::kMean,
                              .weight = weight});
  return cast(out, input.dtype());
}

// Cross entropy keeps two numbers for each sample, then the weight of all that count.
void* weight_in(const Tensor& statistics) {
  const auto last = static_cast<size_t>(statistics.numel() - 1);
  return static_cast<char*>(statistics.data()) + last * statistics.element_size();
}

std::tuple<Tensor, Tensor> cross_entropy(const Tensor& input, const Tensor& target,
                                         const Tensor& weight, int64_t ignore_index,
                                         double label_smoothing, int64_t reduction) {
  const Classes classes(input, target, weight, ignore_index);
  const kernel::ClassTargets& call = classes.call();
  const kernel::Table& table = kernel::of(input);
  const Tensor statistics = make_tensor({2 * call.samples() + 1}, call.dtype, input.device());
  const Tensor losses = losses_of(
      classes, input, target, numbered_reduction(reduction), weight_in(statistics),
      [&](const kernel::ClassLosses& out) {
        if (label_smoothing == 0)
          return table.cross_entropy_losses(call, classes.scores(), statistics.data(), out);
        const Tensor all_classes = make_tensor({call.samples()}, call.dtype, input.device());
        table.score_statistics(call, classes.scores(), statistics.data());
        table.all_class_losses(call, classes.scores(), statistics.data(), all_classes.data());
        table.class_losses(call, classes.scores(), statistics.data(), label_smoothing,
                           all_classes.data(), out);
      });
  return {losses, statistics};
}

std::tuple<Tensor, Tensor> nll_loss(const Tensor& input, const Tensor& target, const Tensor& weight,
                                    int64_t ignore_index, int64_t reduction) {
  const Classes classes(input, target, weight, ignore_index);
  const Tensor total_weight = make_tensor({}, classes.call().dtype, input.device());
  const Tensor losses = losses_of(classes, input, target, numbered_reduction(reduction),
                                  total_weight.data(), [&](const kernel::ClassLosses& out) {
                                    kernel::of(input).class_losses(classes.call(), classes.scores(),
                                                                   nullptr, 0, nullptr, out);
                                  });
  return {losses, total_weight};
}

// --- what the arguments must be

void check_shapes(const Tensor& input, const Tensor& target) {
  FB_CHECK_VALUE(input.dim() >= 1, "Expected 1 or more dimensions (got ", input.dim(), ")");
  if (input.dim() == 1) {
    FB_CHECK_VALUE(
        target.dim() <= 1 && target.numel() == 1,
        "For 1D input, 1D target must have size 1, but got target size: ", target.numel());
    return;
  }
  FB_CHECK_VALUE(target.dim() >= 1, "Expected a target for each of the ", input.sizes()[0],
                 " samples of input ", input.sizes(), ", got a single one");
  FB_CHECK_VALUE(input.sizes()[0] == target.sizes()[0], "Expected input batch_size (",
                 input.sizes()[0], ") to match target batch_size (", target.sizes()[0], ").");
  FB_CHECK(input.dim() != 2 || target.dim() == 1,
           "0D or 1D target tensor expected, multi-target not supported; input has shape ",
           input.sizes(), ", target ", target.sizes());
  FB_CHECK(input.dim() != 4 || target.dim() == 3,
           "only batches of spatial targets supported (3D tensors) but got targets of dimension: ",
           target.dim());
  Dims expected{input.sizes()[0]};
  for (const int64_t size : input.sizes().last(static_cast<size_t>(input.dim() - 2)))
    expected.push_back(size);
  FB_CHECK(target.sizes() == IntSpan(expected), "size mismatch: for input ", ListOf{input.sizes()},
           " expected target size ", ListOf{expected}, ", got ", ListOf{target.sizes()});
}

void check_classes(const Tensor& input, const Tensor& target, const Tensor& weight) {
  check_shapes(input, target);
  FB_CHECK(target.dtype() == DType::kInt64 || target.dtype() == DType::kUInt8,
           "expected target dtype to be Long or Byte, but got ", legacy_name_of(target.dtype()));
  check_class_weight(weight, input.sizes()[static_cast<size_t>(class_dim(input))]);
  FB_CHECK(!weight || weight.dtype() == input.dtype(), "expected scalar type ",
           legacy_name_of(input.dtype()), " but found ", legacy_name_of(weight.dtype()),
           " in weight");
}

}  // namespace

std::tuple<Tensor, Tensor> compute::_cross_entropy(const Tensor& input, const Tensor& target,
                                                   const Tensor& weight, int64_t ignore_index,
                                                   double label_smoothing, int64_t reduction) {
  return cross_entropy(input, target, weight, ignore_index, label_smoothing, reduction);
}

std::tuple<Tensor, Tensor> compute::_cross_entropy2d(const Tensor& input, const Tensor& target,
                                                     const Tensor& weight, int64_t ignore_index,
                                                     double label_smoothing, int64_t reduction) {
  return cross_entropy(input, target, weight, ignore_index, label_smoothing, reduction);
}

std::tuple<Tensor, Tensor> compute::_nll_loss(const Tensor& input, const Tensor& target,
                                              const Tensor& weight, int64_t ignore_index,
                                              int64_t reduction) {
  return nll_loss(input, target, weight, ignore_index, reduction);
}

std::tuple<Tensor, Tensor> compute::_nll_loss2d(const Tensor& input, const Tensor& target,
                                                const Tensor& weight, int64_t ignore_index,
                                                int64_t reduction) {
  return nll_loss(input, target, weight, ignore_index, reduction);
}

Tensor compute::cross_entropy_gradient(const Tensor& gradient, const Tensor& input,
                                       const Tensor& target, const Tensor& weight,
                                       const Tensor& statistics, int64_t ignore_index,
                                       double label_smoothing, int64_t reduction) {
  const Classes classes(input, target, weight, ignore_index);
  const Reduction how = numbered_reduction(reduction);
  const Tensor g = contiguous(cast(gradient, classes.call().dtype));
  const Tensor out = classes.like_scores();
  kernel::of(out).cross_entropy_gradient(
      classes.call(), classes.scores(), statistics.data(), label_smoothing,
      {g.data(), how != Reduction::kNone, 1,
       how == Reduction::kMean ? weight_in(statistics) : nullptr},
      out.data());
  return cast(out, input.dtype());
}

Tensor compute::nll_loss_gradient(const Tensor& gradient, const Tensor& input, const Tensor& target,
                                  const Tensor& weight, const Tensor& total_weight,
                                  int64_t ignore_index, int64_t reduction) {
  const Classes classes(input, target, weight, ignore_index);
  const Reduction how = numbered_reduction(reduction);
  const Tensor g = contiguous(cast(gradient, classes.call().dtype));
  const Tensor out = classes.like_scores();
  kernel::of(out).nll_gradient(classes.call(),
                               {g.data(), how != Reduction::kNone, 1,
                                how == Reduction::kMean ? total_weight.data() : nullptr},
                               out.data());
  return cast(out, input.dtype());
}

Tensor composed::nn_functional_cross_entropy(const Tensor& input, const Tensor& target,
                                             const Tensor& weight, std::optional<bool> size_average,
                                             int64_t ignore_index, std::optional<bool> reduce,
                                             const std::string& reduction, double label_smoothing) {
  const Reduction how = read_reduction(reduction, size_average, reduce);
  FB_CHECK(label_smoothing >= 0 && label_smoothing <= 1,
           "label_smoothing must be between 0.0 and 1.0. Got: ", label_smoothing);
  if (target.sizes() == input.sizes())
    return soft_target_loss(input, target, weight, ignore_index, label_smoothing, how);
  class_dim(input);  // refuses 0-dimensional input before all other checks
  check_classes(input, target, weight);
  const auto recorded = input.dim() > 2 ? ops::_cross_entropy2d : ops::_cross_entropy;
  return std::get<0>(
      recorded(input, target, weight, ignore_index, label_smoothing, number_of(how)));
}

Tensor composed::nn_functional_nll_loss(const Tensor& input, const Tensor& target,
                                        const Tensor& weight, std::optional<bool> size_average,
                                        int64_t ignore_index, std::optional<bool> reduce,
                                        const std::string& reduction) {
  const Reduction how = read_reduction(reduction, size_average, reduce);
  check_classes(input, target, weight);
  const auto recorded = input.dim() > 2 ? ops::_nll_loss2d : ops::_nll_loss;
  return std::get<0>(recorded(input, target, weight, ignore_index, number_of(how)));
}

Tensor compute::nn_functional_one_hot(const Tensor& tensor, int64_t num_classes) {
  FB_CHECK(tensor.dtype() == DType::kInt64,
           "one_hot is only applicable to index tensor of type LongTensor, got ", tensor.dtype());
  FB_CHECK(tensor.numel() > 0 || num_classes > 0,
           "Can not infer total number of classes from empty tensor.");
  FB_CHECK(num_classes >= -1, "Class values must be smaller than num_classes, which is ",
           num_classes);
  const Tensor numbers = contiguous(tensor);
  int64_t classes = num_classes;
  if (num_classes == -1) {
    const int64_t largest = host_number(compute::max(numbers)).to<int64_t>();
    FB_CHECK(largest < std::numeric_limits<int64_t>::max(),
             "expected fewer than 2^63 classes, got a class value of ", largest);
    classes = std::max<int64_t>(largest, -1) + 1;  // the kernel refuses negative numbers
  }
  Dims sizes = tensor.sizes().vec();
  sizes.push_back(classes);
  const Tensor out = compute::zeros(sizes, DType::kInt64, tensor.device());
  kernel::of(out).mark_classes(numbers.data_as<int64_t>(), numbers.numel(), classes,
                               out.data_as<int64_t>());
  return out;
}

}  // namespace fb::ops
