// NVIDIA's driver, libcuda: opened when a program first asks for a GPU, and reached through one
// table of functions. Nothing of CUDA's is needed to build: the few types of its interface are
// below.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace fb::cuda {

using Status = int;
inline constexpr Status kSuccess = 0, kOutOfMemory = 2, kNotInitialized = 3, kNotReady = 600,
                        kPeerAlreadyEnabled = 704;

using Address = unsigned long long;  // of a device's memory
struct ContextTag;
struct ModuleTag;
struct FunctionTag;
struct StreamTag;
struct EventTag;
using Context = ContextTag*;
using Module = ModuleTag*;
using Function = FunctionTag*;
using Stream = StreamTag*;  // null: the default stream
using Event = EventTag*;

// What a device can do, by the driver's numbers.
enum class Attribute : int {
  kWarpSize = 10,
  kMaxThreadsPerBlock = 1,
  kSharedMemoryPerBlock = 8,
  kRegistersPerSm = 82,
  kSharedMemoryPerSm = 81,
  kSharedMemoryOptIn = 97,
  kProcessors = 16,
  kIntegrated = 18,
  kClockRate = 13,
  kMemoryClockRate = 36,
  kMemoryBusWidth = 37,
  kL2CacheSize = 38,
  kThreadsPerSm = 39,
  kPciBus = 33,
  kPciDevice = 34,
  kPciDomain = 50,
  kMajor = 75,
  kMinor = 76,
  kMultiGpuBoard = 84,
  kVirtualMemory = 102,
};

// Of physical memory that is mapped to addresses. `kind` and `place` say: pinned, on a device.
struct MemoryPlace {
  int kind = 1;
  int device = 0;
};
struct MemoryProperties {
  int kind = 1;
  int handle_kinds = 0;
  MemoryPlace place;
  void* windows_security = nullptr;
  struct {
    unsigned char compression = 0, rdma = 0;
    unsigned short usage = 0;
    unsigned char reserved[4] = {};
  } flags;
};
struct MemoryAccess {
  MemoryPlace place;
  int allowed = 3;  // reading and writing
};
using MemoryHandle = unsigned long long;

struct Uuid {
  unsigned char bytes[16];
};

// name of the member, name in the library, signature
#define FB_CUDA_DRIVER(X)                                                                          \
  X(init, "cuInit", (unsigned flags))                                                              \
  X(version, "cuDriverGetVersion", (int* version))                                                 \
  X(error_name, "cuGetErrorName", (Status status, const char** name))                              \
  X(error_text, "cuGetErrorString", (Status status, const char** text))                            \
  X(device_count, "cuDeviceGetCount", (int* count))                                                \
  X(device_get, "cuDeviceGet", (int* device, int number))                                          \
  X(device_name, "cuDeviceGetName", (char* name, int length, int device))                          \
  X(device_uuid, "cuDeviceGetUuid", (Uuid * uuid, int device))                                     \
  X(device_memory, "cuDeviceTotalMem_v2", (size_t* bytes, int device))                             \
  X(device_attribute, "cuDeviceGetAttribute", (int* value, Attribute attribute, int device))       \
  X(can_access_peer, "cuDeviceCanAccessPeer", (int* can, int device, int peer))                    \
  X(primary_context, "cuDevicePrimaryCtxRetain", (Context * context, int device))                  \
  X(set_context, "cuCtxSetCurrent", (Context context))                                             \
  X(synchronize_context, "cuCtxSynchronize", ())                                                   \
  X(memory_info, "cuMemGetInfo_v2", (size_t* free, size_t* total))                                 \
  X(allocate, "cuMemAlloc_v2", (Address * address, size_t bytes))                                  \
  X(release, "cuMemFree_v2", (Address address))                                                    \
  X(reserve_addresses, "cuMemAddressReserve",                                                      \
    (Address * address, size_t bytes, size_t alignment, Address wish, unsigned long long flags))   \
  X(create_memory, "cuMemCreate",                                                                  \
    (MemoryHandle * handle, size_t bytes, const MemoryProperties* properties,                      \
     unsigned long long flags))                                                                    \
  X(release_memory, "cuMemRelease", (MemoryHandle handle))                                         \
  X(map_memory, "cuMemMap",                                                                        \
    (Address address, size_t bytes, size_t offset, MemoryHandle handle, unsigned long long flags)) \
  X(unmap_memory, "cuMemUnmap", (Address address, size_t bytes))                                   \
  X(set_access, "cuMemSetAccess",                                                                  \
    (Address address, size_t bytes, const MemoryAccess* access, size_t count))                     \
  X(granularity, "cuMemGetAllocationGranularity",                                                  \
    (size_t* bytes, const MemoryProperties* properties, int option))                               \
  X(host_allocate, "cuMemHostAlloc", (void** address, size_t bytes, unsigned flags))               \
  X(host_release, "cuMemFreeHost", (void* address))                                                \
  X(pointer_attribute, "cuPointerGetAttribute", (void* out, int attribute, Address address))       \
  X(host_address, "cuMemHostGetDevicePointer_v2", (Address * device, void* host, unsigned flags))  \
  X(copy_to_device, "cuMemcpyHtoDAsync_v2",                                                        \
    (Address out, const void* in, size_t bytes, Stream stream))                                    \
  X(copy_to_host, "cuMemcpyDtoHAsync_v2", (void* out, Address in, size_t bytes, Stream stream))    \
  X(copy_on_device, "cuMemcpyDtoDAsync_v2",                                                        \
    (Address out, Address in, size_t bytes, Stream stream))                                        \
  X(copy_peer, "cuMemcpyPeerAsync",                                                                \
    (Address out, Context to, Address in, Context from, size_t bytes, Stream stream))              \
  X(set_bytes, "cuMemsetD8Async", (Address out, unsigned char value, size_t bytes, Stream stream)) \
  X(stream_create, "cuStreamCreateWithPriority", (Stream * stream, unsigned flags, int priority))  \
  X(stream_synchronize, "cuStreamSynchronize", (Stream stream))                                    \
  X(stream_query, "cuStreamQuery", (Stream stream))                                                \
  X(stream_wait, "cuStreamWaitEvent", (Stream stream, Event event, unsigned flags))                \
  X(event_create, "cuEventCreate", (Event * event, unsigned flags))                                \
  X(event_destroy, "cuEventDestroy_v2", (Event event))                                             \
  X(event_record, "cuEventRecord", (Event event, Stream stream))                                   \
  X(event_query, "cuEventQuery", (Event event))                                                    \
  X(event_synchronize, "cuEventSynchronize", (Event event))                                        \
  X(event_elapsed, "cuEventElapsedTime", (float* milliseconds, Event start, Event end))            \
  X(profiler_start, "cuProfilerStart", ())                                                         \
  X(profiler_stop, "cuProfilerStop", ())                                                           \
  X(module_load, "cuModuleLoadData", (Module * module, const void* image))                         \
  X(module_unload, "cuModuleUnload", (Module module))                                              \
  X(module_function, "cuModuleGetFunction",                                                        \
    (Function * function, Module module, const char* name))                                        \
  X(function_set, "cuFuncSetAttribute", (Function function, int attribute, int value))             \
  X(launch, "cuLaunchKernel",                                                                      \
    (Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,       \
     unsigned block_y, unsigned block_z, unsigned shared_bytes, Stream stream, void** parameters,  \
     void** extra))

struct Driver {
#define FB_MEMBER(member, symbol, signature) Status(*member) signature = nullptr;
  FB_CUDA_DRIVER(FB_MEMBER)
#undef FB_MEMBER
};

// Why there is no GPU to compute on, and what would help; `text` is empty where there is one.
struct Missing {
  std::string text;    // "no NVIDIA driver: libcuda.so.1 was not found"
  std::string remedy;  // what to do about it
};

// Opens the library and starts the driver, once, and counts the devices that this process may use.
// Never raises.
struct DriverState {
  Driver functions;
  int version = 0;  // 13000: what CUDA the driver is for
  int devices = 0;
  Missing missing;
};
const DriverState& driver_state();

inline const Driver& driver() { return driver_state().functions; }

// Raises the error of a call that failed: its name, the driver's code and what that means.
[[noreturn, gnu::cold]] void fail_call(Status status, const char* call);
inline void check(Status status, const char* call) {
  if (status != kSuccess) [[unlikely]]
    fail_call(status, call);
}
// FB_CUDA(stream_synchronize, stream): a call, checked.
#define FB_CUDA(member, ...) \
  ::fb::cuda::check(::fb::cuda::driver().member(__VA_ARGS__), ::fb::cuda::names::member)

namespace names {
#define FB_NAME(member, symbol, signature) inline constexpr const char* member = symbol;
FB_CUDA_DRIVER(FB_NAME)
#undef FB_NAME
}  // namespace names

// The error of a program that goes on with CUDA in a forked process.
[[noreturn, gnu::cold]] void fail_forked();
// Whether this process was forked from one that had started the driver.
bool is_forked();

}  // namespace fb::cuda
