// The GPUs of this process: which there are, and which one a thread uses.
#include "cuda/context.h"

#include <algorithm>
#include <atomic>

#include "core/no_device.h"
#include "core/once.h"

namespace fb::cuda {
namespace {

struct DeviceState {
  Once look, start;
  Properties properties;
  Context context = nullptr;
};

DeviceState* const states = new DeviceState[kMaxDevices];
std::atomic<bool> any_started{false};

void look(int device) {
  Properties& p = states[device].properties;
  int handle = 0;
  FB_CUDA(device_get, &handle, device);
  char name[256] = {};
  FB_CUDA(device_name, name, sizeof name, handle);
  p.name = name;
  Uuid uuid;
  FB_CUDA(device_uuid, &uuid, handle);
  for (int i = 0; i < 16; ++i) {
    constexpr char digits[] = "0123456789abcdef";
    if (i == 4 || i == 6 || i == 8 || i == 10) p.uuid += '-';
    p.uuid += {digits[uuid.bytes[i] >> 4], digits[uuid.bytes[i] & 15]};
  }
  FB_CUDA(device_memory, &p.memory, handle);
  const auto read = [&](Attribute attribute) {
    int value = 0;
    FB_CUDA(device_attribute, &value, attribute, handle);
    return value;
  };
  p.major = read(Attribute::kMajor);
  p.minor = read(Attribute::kMinor);
  p.processors = read(Attribute::kProcessors);
  p.warp_size = read(Attribute::kWarpSize);
  p.max_threads_per_block = read(Attribute::kMaxThreadsPerBlock);
  p.threads_per_processor = read(Attribute::kThreadsPerSm);
  p.registers_per_processor = read(Attribute::kRegistersPerSm);
  p.shared_memory_per_block = read(Attribute::kSharedMemoryPerBlock);
  p.shared_memory_per_processor = read(Attribute::kSharedMemoryPerSm);
  p.shared_memory_opt_in = read(Attribute::kSharedMemoryOptIn);
  p.l2_cache = read(Attribute::kL2CacheSize);
  p.clock_rate = read(Attribute::kClockRate);
  p.memory_clock_rate = read(Attribute::kMemoryClockRate);
  p.memory_bus_width = read(Attribute::kMemoryBusWidth);
  p.pci_bus = read(Attribute::kPciBus);
  p.pci_device = read(Attribute::kPciDevice);
  p.pci_domain = read(Attribute::kPciDomain);
  p.integrated = read(Attribute::kIntegrated);
  p.multi_gpu_board = read(Attribute::kMultiGpuBoard);
  p.virtual_memory = read(Attribute::kVirtualMemory);
}

}  // namespace

int device_count() {
  if (is_forked()) return 0;
  return std::min(driver_state().devices, kMaxDevices);
}

bool is_started() { return any_started.load(std::memory_order_relaxed) && !is_forked(); }

void start(Device device) {
  if (is_forked()) [[unlikely]]
    fail_forked();
  const DriverState& state = driver_state();
  if (state.devices == 0)
    throw NoDevice(message_of("no device ", device, " here: ", state.missing.text, " (",
                              state.missing.remedy,
                              "); ask torch.cuda.is_available() first, or use device='cpu'"));
  FB_CHECK(device.index < device_count(), "CUDA error: invalid device ordinal: ", device,
           " is not there, ", device_count(), device_count() == 1 ? " GPU is" : " GPUs are",
           " visible");
}

const Properties& properties(int device) {
  start(Device(DeviceType::kCuda, static_cast<int8_t>(device)));
  states[device].look([device] { look(device); });
  return states[device].properties;
}

Context context_of(int device) {
  DeviceState& state = states[device];
  state.start([&] {
    int handle = 0;
    FB_CUDA(device_get, &handle, device);
    FB_CUDA(primary_context, &state.context, handle);
    any_started = true;
  });
  return state.context;
}

void bind_context(int device) {
  start(Device(DeviceType::kCuda, static_cast<int8_t>(device)));
  FB_CUDA(set_context, context_of(device));
  thread_state.bound = device;
}

void set_current_device(int device) {
  start(Device(DeviceType::kCuda, static_cast<int8_t>(device)));
  thread_state.device = device;
}

}  // namespace fb::cuda
