// Converts deferred layouts: see Note [Deferred layouts] in core/layout.h.
#pragma once

#include "core/layout.h"

namespace fb::ops {

void settle_free(const Tensor& t);

// Puts the elements into the order of the dimensions, as users expect.
inline void settle(const Tensor& t) {
  if (t->deferred_layout) [[unlikely]]
    settle_free(t);
}

}  // namespace fb::ops
