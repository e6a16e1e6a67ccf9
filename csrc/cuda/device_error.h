// Errors that kernels find: a bad index must not end the process.
//
// Note [Errors of kernels]: each device has one record in the host's memory that its kernels can
// write. A kernel that meets a bad number writes the record, once, and does nothing with that
// number. Whoever waits for the device next, reads the record, clears it and raises. Other results
// of the kernel are worthless, but the program may go on. So that the error can name the operator
// and the line that called it, a launch carries a number, its site: one for each operator and place
// in the user's program, kept for good.
#pragma once

#include "cuda/device/error.cuh"

namespace fb::cuda {

// Where a launch by the operator of this name, a literal, notes what it finds.
device::ErrorSite error_site(int device, const char* by);
// Raises what was recorded. The device must have been waited for.
void raise_device_error(int device);

}  // namespace fb::cuda
