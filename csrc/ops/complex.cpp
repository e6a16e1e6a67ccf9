// Conjugation and the checks of complex numbers put together from parts.
#include "gen/ops/complex.h"

namespace fb::ops {

void check_same_type(std::span<const Operand> inputs, std::span<const Scalar>, DType) {
  const DType first = inputs[0].tensor().dtype(), second = inputs[1].tensor().dtype();
  FB_CHECK(first == second, "both parts must have one dtype, got ", first, " and ", second);
}

Tensor conj(const Tensor& input) {
  return is_complex(input.dtype()) ? conj_physical(input) : input;
}

Tensor resolve_conj(const Tensor& input) { return input; }

Tensor resolve_neg(const Tensor& input) { return input; }

}  // namespace fb::ops
