// Conjugation, which is never put off.
#include "gen/ops/complex.h"

namespace fb::ops {

Tensor conj(const Tensor& input) {
  return is_complex(input.dtype()) ? conj_physical(input) : input;
}

Tensor resolve_conj(const Tensor& input) { return input; }

Tensor resolve_neg(const Tensor& input) { return input; }

}  // namespace fb::ops
