// Errors for accesses of the host to the memory of the device `shadow`.
#pragma once

namespace fb::shadow {

#if defined(FB_SHADOW)
// Raises if the host touched the device's memory since the last call.
void check_access();
#else
inline void check_access() {}
#endif

}  // namespace fb::shadow
