// Conjugation, which is never lazy.
#include "gen/ops/complex.h"

namespace fb::ops {

Tensor conj(const Tensor& input) {
  return is_complex(input.dtype()) ? ops::conj_now(input) : input;
}

Tensor conjugate(const Tensor& input) {
  return is_complex(input.dtype()) ? ops::conj_physical(input) : input;
}

Tensor compute::conj_now(const Tensor& input) { return compute::conj_physical(input); }

Tensor resolve_conj(const Tensor& input) { return input; }

Tensor resolve_neg(const Tensor& input) { return input; }

}  // namespace fb::ops
