// Windows of images as columns, and back.
#pragma once

#include "core/dtype.h"
#include "kernel/slot.h"

namespace fb::kernel {

// Along one dimension of an image.
struct Sliding {
  int64_t size, kernel, dilation, padding, stride;
  int64_t windows() const {
    return (size + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1;
  }
};

struct Fold {
  // Planes of height x width: plane p of the image corresponds to a block columns[p] of (kernel,
  // kernel, windows, windows) elements. Outside of the image there are zeros.
  Slot<void(DType dtype, int64_t planes, const Sliding& y, const Sliding& x, const void* image,
            void* columns)>
      unfold_planes;
  // Adds columns to the image. No 16-bit floats.
  Slot<void(DType dtype, int64_t planes, const Sliding& y, const Sliding& x, const void* columns,
            void* image)>
      fold_planes;
};

}  // namespace fb::kernel
