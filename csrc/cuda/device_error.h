// Errors that kernels find: a bad index must not end the process.
//
// Note [Errors of kernels]: each device has one record in the host's memory that its kernels can
// write. A kernel that meets a bad number writes the record, once, and does nothing with that
// number. Whoever waits for the device next, reads the record, clears it and raises. Other results
// of the kernel are worthless, but the program may go on.
#pragma once

#include "cuda/device/error.cuh"

namespace fb::cuda {

// The record of a device, for kernels.
device::ErrorRecord* error_record(int device);
// Raises what was recorded. The device must have been waited for.
void raise_device_error(int device);

}  // namespace fb::cuda
