// The GPUs of this process: which there are, and which one a thread uses.
#pragma once

#include <cstdint>
#include <string>

#include "core/device.h"
#include "cuda/driver.h"

namespace fb::cuda {

inline constexpr int kMaxDevices = 32;

struct Properties {
  std::string name;
  std::string uuid;  // as hexadecimal digits in groups
  size_t memory = 0;
  int major = 0, minor = 0;
  int processors = 0;
  int warp_size = 0, max_threads_per_block = 0, threads_per_processor = 0;
  int registers_per_processor = 0;
  int shared_memory_per_block = 0, shared_memory_per_processor = 0, shared_memory_opt_in = 0;
  int l2_cache = 0, clock_rate = 0, memory_clock_rate = 0, memory_bus_width = 0;
  int pci_bus = 0, pci_device = 0, pci_domain = 0;
  bool integrated = false, multi_gpu_board = false, virtual_memory = false;

  int architecture() const { return 10 * major + minor; }  // 90
};

// How many there are; 0 where none can be used. Never raises.
int device_count();
// Whether a GPU has been used in this process.
bool is_started();
// Raises unless there is such a device and this process can use it.
void start(Device device);
const Properties& properties(int device);
Context context_of(int device);

// --- of the calling thread

// The state that launches read, without locks.
struct ThreadState {
  int device = 0;                    // the current one
  int bound = -1;                    // whose context the driver has for this thread
  Stream streams[kMaxDevices] = {};  // the current one of each device
};
inline constinit thread_local ThreadState thread_state;

void bind_context(int device);
// Makes a device the driver's own current one, for the calls that follow.
inline void use(int device) {
  if (thread_state.bound != device) [[unlikely]]
    bind_context(device);
}
void set_current_device(int device);

inline Stream current_stream(int device) { return thread_state.streams[device]; }

}  // namespace fb::cuda
