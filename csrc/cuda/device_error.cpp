// Errors that kernels find.
#include "cuda/device_error.h"

#include <atomic>

#include "core/error.h"
#include "core/once.h"
#include "cuda/context.h"

namespace fb::cuda {
namespace {

struct Record {
  Once make;
  std::atomic<device::ErrorRecord*> on_host{nullptr};
  device::ErrorRecord* on_device = nullptr;
};
Record records[kMaxDevices];

}  // namespace

device::ErrorRecord* error_record(int device) {
  Record& record = records[device];
  record.make([&] {
    use(device);
    constexpr unsigned kPortable = 1, kMapped = 2;
    void* host = nullptr;
    FB_CUDA(host_allocate, &host, sizeof(device::ErrorRecord), kPortable | kMapped);
    auto* made = new (host) device::ErrorRecord{};
    Address address = 0;
    FB_CUDA(host_address, &address, host, 0);
    record.on_device = reinterpret_cast<device::ErrorRecord*>(address);
    record.on_host = made;
  });
  return record.on_device;
}

void raise_device_error(int device) {
  device::ErrorRecord* const record = records[device].on_host.load(std::memory_order_acquire);
  if (!record) return;
  const std::atomic_ref<int> code(record->code);
  if (code.load(std::memory_order_acquire) == 0) return;
  const device::ErrorRecord found = *record;
  code.store(0);
  fail(ErrorKind::kIndex, "a kernel met the index ", found.value,
       ", which is out of bounds for dimension ", found.dimension, " with size ", found.bound,
       "; results since the last synchronisation may be wrong");
}

}  // namespace fb::cuda
