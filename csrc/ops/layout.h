// Deferred layouts end where somebody looks: see Note [Deferred layouts] in core/layout.h.
#pragma once

#include "core/layout.h"

namespace fb::ops {

void settle_free(const Tensor& t);

// Puts the elements in the order of the dimensions, which is what the user takes them to be in.
inline void settle(const Tensor& t) {
  if (t->deferred_layout) [[unlikely]]
    settle_free(t);
}

}  // namespace fb::ops
