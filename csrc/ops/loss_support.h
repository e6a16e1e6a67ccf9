// Helpers shared by losses: reductions and checks of arguments.
#pragma once

#include <span>

#include "ops/types.h"

namespace fb::ops {

enum class Reduction : int64_t { kNone, kMean, kSum };

// From the public name, unless one of the two older arguments is given.
Reduction read_reduction(const std::string& name, std::optional<bool> size_average,
                         std::optional<bool> reduce);
// From PyTorch's number; an unknown one means no reduction.
inline Reduction numbered_reduction(int64_t number) {
  return number == 1 || number == 2 ? static_cast<Reduction>(number) : Reduction::kNone;
}
inline int64_t number_of(Reduction reduction) { return static_cast<int64_t>(reduction); }

// Differentiable.
Tensor reduced(const Tensor& losses, Reduction reduction);

// Converts floating-point operands to a common type and shape. Differentiable.
void make_alike(std::span<Tensor> operands);

// The dimension of classes: the first for a single sample, else the second. IndexError for 0-d.
int64_t class_dim(const Tensor& input);
void check_class_weight(const Tensor& weight, int64_t classes);
// Cross entropy with class probabilities as targets. Differentiable.
Tensor soft_target_loss(const Tensor& input, const Tensor& target, const Tensor& weight,
                        int64_t ignore_index, double smoothing, Reduction reduction);

// As PyTorch writes them: [4, 3], torch.Size([4, 3]).
struct ListOf {
  IntSpan sizes;
};
Text& operator<<(Text& out, const ListOf& list);
struct SizeOf {
  IntSpan sizes;
};
Text& operator<<(Text& out, const SizeOf& size);

}  // namespace fb::ops
