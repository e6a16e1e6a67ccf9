// Dropout's element function.
#pragma once

#include "scalar/types.h"

namespace fb::scalar {

// A product even where the mask is 0, so that NaN stays visible.
template <class T>
FB_FN T masked_scale(bool kept, T x, T scale) {
  return x * (kept ? scale : T(0));
}

}  // namespace fb::scalar
