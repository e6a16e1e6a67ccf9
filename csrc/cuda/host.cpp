// Arrays that go to the host for a kernel, and back.
#include "cuda/host.h"

#include <atomic>

#include "cuda/loop.h"
#include "cuda/pinned.h"
#include "cuda/stream.h"

namespace fb::cuda {
namespace {

std::atomic<int64_t> trips{0};

Address address_of(const void* pointer) { return reinterpret_cast<Address>(pointer); }

}  // namespace

void* RoundTrip::add(const void* array, size_t bytes, bool reads, bool writes) {
  if (bytes == 0) return nullptr;
  if (device_ < 0) device_ = place_of(array);
  parts_.push_back({const_cast<void*>(array), allocate_pinned(bytes), bytes, writes});
  void* const host = parts_.back().host->data;
  use(device_);
  if (reads) {
    const Stream stream = current_stream(device_);
    FB_CUDA(copy_to_host, host, address_of(array), bytes, stream);
    // If there is no memory for the next array, nobody waits for this one.
    hold_pinned(parts_.back().host, device_, stream);
  }
  return host;
}

void RoundTrip::wait() {
  trips.fetch_add(1, std::memory_order_relaxed);
  synchronize_stream(device_, current_stream(device_));
}

void RoundTrip::send_back() {
  const Stream stream = current_stream(device_);
  use(device_);
  for (const Part& part : parts_) {
    if (!part.changes) continue;
    FB_CUDA(copy_to_device, address_of(part.device), part.host->data, part.bytes, stream);
    hold_pinned(part.host, device_, stream);
  }
}

int64_t round_trips() { return trips.load(std::memory_order_relaxed); }

}  // namespace fb::cuda
