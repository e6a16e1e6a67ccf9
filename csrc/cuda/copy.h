// Copies between the host and a device, and on a device.
#pragma once

#include "cuda/slots.h"
#include "kernel/copy.h"

namespace fb::cuda {

FB_DECLARE_CUDA(kernel::Copy, copy)
FB_DECLARE_CUDA(kernel::Copy, to_host)
FB_DECLARE_CUDA(kernel::Copy, copy_strided)
FB_DECLARE_CUDA(kernel::Copy, fill)
FB_DECLARE_CUDA(kernel::Copy, concatenate)
FB_DECLARE_CUDA(kernel::Copy, flip)

// Bytes on one device, as core/device_memory.h wants them.
void copy_bytes_here(void* out, const void* in, size_t bytes);

}  // namespace fb::cuda
