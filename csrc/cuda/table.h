// The kernels and the memory of the device `cuda`.
#pragma once

namespace fb::cuda {

// Lets programs ask for the device; nothing is opened before they do.
void register_device();

}  // namespace fb::cuda
