#include "ops/loss_support.h"

#include "core/warning.h"
#include "gen/ops/copy.h"
#include "gen/ops/reduce.h"
#include "gen/ops/view.h"
#include "ops/promotion.h"

namespace fb::ops {
namespace {

Reduction legacy_reduction(std::optional<bool> size_average, std::optional<bool> reduce) {
  const bool summed = reduce.value_or(true);
  const bool averaged = summed && size_average.value_or(true);
  warn("size_average and reduce args will be deprecated, please use reduction='",
       averaged ? "mean"
       : summed ? "sum"
                : "none",
       "' instead.");
  return averaged ? Reduction::kMean : summed ? Reduction::kSum : Reduction::kNone;
}

}  // namespace

Reduction read_reduction(const std::string& name, std::optional<bool> size_average,
                         std::optional<bool> reduce) {
  if (size_average || reduce) [[unlikely]]
    return legacy_reduction(size_average, reduce);
  if (name == "mean") return Reduction::kMean;
  if (name == "sum") return Reduction::kSum;
  if (name == "none") return Reduction::kNone;
  FB_CHECK_VALUE(name == "elementwise_mean", name,
                 " is not a valid value for reduction; use none, mean or sum");
  warn("reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.");
  return Reduction::kMean;
}

Tensor reduced(const Tensor& losses, Reduction reduction) {
  switch (reduction) {
    case Reduction::kMean: return ops::mean_all(losses);
    case Reduction::kSum: return ops::sum_all(losses);
    default: return losses;
  }
}

void make_alike(std::span<Tensor> operands) {
  bool alike = true;
  for (const Tensor& each : operands.subspan(1))
    alike &= each.dtype() == operands[0].dtype() && each.sizes() == operands[0].sizes();
  if (!alike) {
    std::vector<Operand> given(operands.begin(), operands.end());
    const DType dtype = ops::result_type(given);
    Dims sizes = operands[0].sizes().vec();
    for (const Tensor& each : operands.subspan(1)) sizes = broadcast_shapes(sizes, each.sizes());
    for (Tensor& each : operands) {
      if (each.dtype() != dtype) each = ops::to_dtype(each, dtype);
      if (each.sizes() != IntSpan(sizes)) each = ops::expand(each, sizes);
    }
  }
}

int64_t class_dim(const Tensor& input) {
  FB_CHECK_INDEX(input.dim() >= 1, "expected input to have a dimension of classes, got shape ",
                 input.sizes());
  return input.dim() == 1 ? 0 : 1;
}

void check_class_weight(const Tensor& weight, int64_t classes) {
  FB_CHECK(!weight || (weight.dim() == 1 && weight.numel() == classes),
           "weight tensor should be defined either for all ", classes,
           " classes or no classes but got weight tensor of shape: ", ListOf{weight.sizes()});
}

Text& operator<<(Text& out, const ListOf& list) {
  out << '[';
  for (size_t i = 0; i < list.sizes.size(); ++i) out << (i ? ", " : "") << list.sizes[i];
  return out << ']';
}

Text& operator<<(Text& out, const SizeOf& size) {
  return out << "torch.Size(" << ListOf{size.sizes} << ')';
}

}  // namespace fb::ops
