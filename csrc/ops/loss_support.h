// What losses have in common: how they are reduced, and what they ask of their arguments.
#pragma once

#include <span>

#include "ops/types.h"

namespace fb::ops {

enum class Reduction : int64_t { kNone, kMean, kSum };

// Of the public name, unless one of the two arguments that came before it is given.
Reduction read_reduction(const std::string& name, std::optional<bool> size_average,
                         std::optional<bool> reduce);
// Of PyTorch's number; one that means nothing leaves the elements alone.
inline Reduction numbered_reduction(int64_t number) {
  return number == 1 || number == 2 ? static_cast<Reduction>(number) : Reduction::kNone;
}
inline int64_t number_of(Reduction reduction) { return static_cast<int64_t>(reduction); }

// Differentiable.
Tensor reduced(const Tensor& losses, Reduction reduction);

// Brings floating-point operands to one type and shape. Differentiable.
void make_alike(std::span<Tensor> operands);

// As PyTorch writes them: [4, 3], torch.Size([4, 3]).
struct ListOf {
  IntSpan sizes;
};
std::ostream& operator<<(std::ostream& out, const ListOf& list);
struct SizeOf {
  IntSpan sizes;
};
std::ostream& operator<<(std::ostream& out, const SizeOf& size);

}  // namespace fb::ops
