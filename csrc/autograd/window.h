// What a tensor shows of its storage.
#pragma once

#include "core/dims.h"

namespace fb::autograd {

struct Window {
  Dims sizes;
  Dims strides;
  int64_t offset = 0;
};

}  // namespace fb::autograd
