// Accesses of the host to the memory of the device `shadow`, as errors.
#pragma once

namespace fb::shadow {

#if defined(FB_SHADOW)
// Raises if the host touched the device's memory since it was last asked.
void check_access();
#else
inline void check_access() {}
#endif

}  // namespace fb::shadow
