// Launching kernels. Each takes one structure by value, which is all the packing there is.
#pragma once

#include "cuda/context.h"

namespace fb::cuda {

struct Grid {
  unsigned x = 1, y = 1, z = 1;
};

// On the current stream of a device that is in use (see `use`).
template <class Arguments>
inline void launch(int device, Function function, Grid grid, unsigned threads,
                   const Arguments& arguments, unsigned shared_bytes = 0) {
  static_assert(sizeof(Arguments) <= 4000, "the parameters of a kernel");
  void* parameters[] = {const_cast<Arguments*>(&arguments)};
  check(driver().launch(function, grid.x, grid.y, grid.z, threads, 1, 1, shared_bytes,
                        current_stream(device), parameters, nullptr),
        names::launch);
}

inline unsigned blocks_for(int64_t n, int64_t per_block) {
  return static_cast<unsigned>((n + per_block - 1) / per_block);
}

}  // namespace fb::cuda
