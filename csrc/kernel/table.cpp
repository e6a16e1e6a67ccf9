// The errors for a device without a kernel.
#include "kernel/table.h"

#include <functional>

#include "core/error.h"

namespace fb::kernel {

void refuse(Device device) {
  fail(ErrorKind::kNotImplemented, "no kernels on the device ", device);
}

void refuse(const void* slot) {
  // The device is the one whose table contains the slot.
  const std::less_equal<const void*> not_after;
  for (int type = 0; type < kDeviceTypes; ++type) {
    const Table* table = tables[type];
    if (table && not_after(table, slot) && not_after(slot, table + 1))
      fail(ErrorKind::kNotImplemented, "no kernel on ", Device(DeviceType(type)));
  }
  fail(ErrorKind::kNotImplemented, "no kernel");
}

}  // namespace fb::kernel
