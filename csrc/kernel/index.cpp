// Elements picked by position.
#include "kernel/index.h"

namespace fb::kernel {

Dims Picks::result_shape() const {
  Dims result = target.sizes().first(before).vec();
  for (const int64_t size : shape) result.push_back(size);
  for (size_t d = static_cast<size_t>(before) + positions.size(); d < target.sizes().size(); ++d)
    result.push_back(target.sizes()[d]);
  return result;
}

}  // namespace fb::kernel
