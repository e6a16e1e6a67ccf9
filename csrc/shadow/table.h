// The kernels of the device `shadow`: the CPU's, with the pages open while they run.
#pragma once

namespace fb::shadow {

void register_kernels();

// Whether the device has its kernels, or none, so that operators on it are refused.
void set_kernels(bool present);

}  // namespace fb::shadow
