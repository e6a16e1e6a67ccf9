// The part of its storage that a tensor shows.
#pragma once

#include "core/dims.h"

namespace fb::autograd {

struct Window {
  Dims sizes;
  Dims strides;
  int64_t offset = 0;
};

}  // namespace fb::autograd
