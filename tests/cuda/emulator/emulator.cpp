// libcuda and NVRTC for the tests of machines without a GPU, in one library.
//
// "Compiling" a kernel is compiling it with the machine's C++ compiler into a shared library, and
// launching it is calling it for each thread of each block. Threads of a block are fibers: they
// change where they wait for each other. So the kernels' own sources run, and so does everything
// around them; what is not there is anything about speed or about memory models.
//
// FB_EMULATOR_ROOT: csrc. _MEMORY: bytes of a device. _DEVICES, _CAPABILITY (90), _VIRTUAL (0 or 1),
// _DRIVER (13000), _STARTS (0, or the code of an error). With the real NVRTC kernels are loaded and
// not run.
#include <dlfcn.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "kernel.h"

#undef threadIdx
#undef blockIdx
#undef blockDim
#undef gridDim

namespace {

long number_of(const char* name, long otherwise) {
  const char* const text = std::getenv(name);
  return text ? std::atol(text) : otherwise;
}

constexpr int kOutOfMemory = 2, kInvalid = 1, kNotFound = 500, kNotReady = 600;
std::mutex mutex;
size_t in_use = 0;
std::map<unsigned long long, size_t> allocations;
// Of addresses, by where they end: where they begin, and of which device they are.
std::map<unsigned long long, std::pair<unsigned long long, int>> owners;
thread_local int current_device = 0;

void note_owner(unsigned long long address, size_t bytes) {
  const std::lock_guard lock(mutex);
  owners[address + bytes] = {address, current_device};
}
long long calls = 0;

size_t memory_of_device() {
  return static_cast<size_t>(number_of("FB_EMULATOR_MEMORY", 1l << 30));
}

// --- fibers

constexpr size_t kStack = 256 << 10;
struct Fiber {
  ucontext_t context;
  std::unique_ptr<char[]> stack;
  bool done = true;
  unsigned met_block = 0, met_warp = 0;  // how often it has waited
};
Fiber fibers[1024];
ucontext_t scheduler;
FbState state;
unsigned running = 0, threads = 0;
void (*kernel)(const void*) = nullptr;
const void* arguments = nullptr;

void run_fiber() {
  kernel(arguments);
  fibers[running].done = true;
}

void meet(bool warp) {
  const unsigned self = running;
  Fiber& own = fibers[self];
  const unsigned count = warp ? ++own.met_warp : ++own.met_block;
  const unsigned first = warp ? self / 32 * 32 : 0;
  const unsigned last = warp ? std::min(first + 32, threads) : threads;
  for (;;) {
    bool all = true;
    for (unsigned t = first; t < last && all; ++t)
      all = fibers[t].done || (warp ? fibers[t].met_warp : fibers[t].met_block) >= count;
    if (all) return;
    swapcontext(&own.context, &scheduler);
    state.thread = {self, 0, 0};
  }
}

void run_block() {
  for (unsigned t = 0; t < threads; ++t) {
    Fiber& fiber = fibers[t];
    if (!fiber.stack) fiber.stack.reset(new char[kStack]);
    getcontext(&fiber.context);
    fiber.context.uc_stack = {fiber.stack.get(), 0, kStack};
    fiber.context.uc_link = &scheduler;
    fiber.done = false;
    fiber.met_block = fiber.met_warp = 0;
    makecontext(&fiber.context, run_fiber, 0);
  }
  for (bool any = true; any;) {
    any = false;
    for (unsigned t = 0; t < threads; ++t) {
      if (fibers[t].done) continue;
      any = true;
      running = t;
      state.thread = {t, 0, 0};
      swapcontext(&scheduler, &fibers[t].context);
    }
  }
}

struct Module {
  void* library = nullptr;
};
struct Event {
  std::chrono::steady_clock::time_point time;
  bool recorded = false;
};
int context_tags[32];

}  // namespace

#define API extern "C" __attribute__((visibility("default")))

// --- libcuda

API int cuInit(unsigned) { return static_cast<int>(number_of("FB_EMULATOR_STARTS", 0)); }
API int cuDriverGetVersion(int* version) {
  *version = static_cast<int>(number_of("FB_EMULATOR_DRIVER", 13000));
  return 0;
}
API int cuGetErrorName(int status, const char** name) {
  *name = status == kOutOfMemory ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_EMULATED";
  return 0;
}
API int cuGetErrorString(int status, const char** text) {
  *text = status == kOutOfMemory ? "out of memory" : "an error of the emulator";
  return 0;
}
API int cuDeviceGetCount(int* count) {
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  *count = visible && !*visible ? 0 : static_cast<int>(number_of("FB_EMULATOR_DEVICES", 1));
  return 0;
}
API int cuDeviceGet(int* device, int number) {
  *device = number;
  return 0;
}
API int cuDeviceGetName(char* name, int length, int) {
  std::snprintf(name, static_cast<size_t>(length), "Emulated");
  return 0;
}
API int cuDeviceGetUuid(void* uuid, int device) {
  std::memset(uuid, 0x10 + device, 16);
  return 0;
}
API int cuDeviceTotalMem_v2(size_t* bytes, int) {
  *bytes = memory_of_device();
  return 0;
}
API int cuDeviceGetAttribute(int* value, int attribute, int) {
  const long capability = number_of("FB_EMULATOR_CAPABILITY", 90);
  switch (attribute) {
    case 75: *value = static_cast<int>(capability / 10); break;
    case 76: *value = static_cast<int>(capability % 10); break;
    case 16: *value = 4; break;
    case 10: *value = 32; break;
    case 39: *value = 2048; break;
    case 102: *value = static_cast<int>(number_of("FB_EMULATOR_VIRTUAL", 1)); break;
    default: *value = 0;
  }
  return 0;
}
API int cuDeviceCanAccessPeer(int* can, int, int) {
  *can = 1;
  return 0;
}
API int cuDevicePrimaryCtxRetain(void** context, int device) {
  *context = &context_tags[device];
  return 0;
}
API int cuCtxSetCurrent(void* context) {
  current_device = static_cast<int>(static_cast<int*>(context) - context_tags);
  return 0;
}
API int cuCtxSynchronize() { return 0; }
API int cuMemGetInfo_v2(size_t* free, size_t* total) {
  *total = memory_of_device();
  *free = *total - in_use;
  return 0;
}
API int cuMemAlloc_v2(unsigned long long* address, size_t bytes) {
  {
    const std::lock_guard lock(mutex);
    if (in_use + bytes > memory_of_device()) return kOutOfMemory;
    void* const made = std::aligned_alloc(512, (bytes + 511) / 512 * 512);
    *address = reinterpret_cast<unsigned long long>(made);
    allocations[*address] = bytes;
    in_use += bytes;
  }
  note_owner(*address, bytes);
  return 0;
}
API int cuMemFree_v2(unsigned long long address) {
  const std::lock_guard lock(mutex);
  const auto found = allocations.find(address);
  if (found == allocations.end()) return kInvalid;
  in_use -= found->second;
  owners.erase(address + found->second);
  std::free(reinterpret_cast<void*>(address));
  allocations.erase(found);
  return 0;
}
API int cuMemAddressReserve(unsigned long long* address, size_t bytes, size_t, unsigned long long,
                            unsigned long long) {
  void* const at = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return kOutOfMemory;
  *address = reinterpret_cast<unsigned long long>(at);
  note_owner(*address, bytes);
  return 0;
}
API int cuPointerGetAttribute(void* out, int attribute, unsigned long long address) {
  const std::lock_guard lock(mutex);
  const auto found = owners.upper_bound(address);
  if (attribute != 9 || found == owners.end() || address < found->second.first) return kInvalid;
  *static_cast<int*>(out) = found->second.second;
  return 0;
}
API int cuMemCreate(unsigned long long* handle, size_t bytes, const void*, unsigned long long) {
  const std::lock_guard lock(mutex);
  if (in_use + bytes > memory_of_device()) return kOutOfMemory;
  in_use += bytes;
  *handle = bytes;
  return 0;
}
API int cuMemRelease(unsigned long long handle) {
  const std::lock_guard lock(mutex);
  in_use -= handle;
  return 0;
}
API int cuMemMap(unsigned long long, size_t bytes, size_t, unsigned long long handle,
                 unsigned long long) {
  return handle == bytes ? 0 : kInvalid;
}
API int cuMemUnmap(unsigned long long address, size_t bytes) {
  // Gives the pages back, and faults on whoever still uses them.
  void* const at = reinterpret_cast<void*>(address);
  return mmap(at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
              0) == at
             ? 0
             : kInvalid;
}
API int cuMemSetAccess(unsigned long long address, size_t bytes, const void*, size_t) {
  return mprotect(reinterpret_cast<void*>(address), bytes, PROT_READ | PROT_WRITE) == 0 ? 0
                                                                                        : kInvalid;
}
API int cuMemGetAllocationGranularity(size_t* bytes, const void*, int) {
  *bytes = 2 << 20;
  return 0;
}
API int cuMemHostAlloc(void** address, size_t bytes, unsigned) {
  *address = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  return *address ? 0 : kOutOfMemory;
}
API int cuMemFreeHost(void* address) {
  std::free(address);
  return 0;
}
API int cuMemHostGetDevicePointer_v2(unsigned long long* device, void* host, unsigned) {
  *device = reinterpret_cast<unsigned long long>(host);
  return 0;
}
API int cuMemcpyHtoDAsync_v2(unsigned long long out, const void* in, size_t bytes, void*) {
  std::memcpy(reinterpret_cast<void*>(out), in, bytes);
  return 0;
}
API int cuMemcpyDtoHAsync_v2(void* out, unsigned long long in, size_t bytes, void*) {
  // Where no kernel has run, zeros are better than whatever lay there.
  if (std::getenv("FB_EMULATOR_LOADS_ONLY"))
    std::memset(out, 0, bytes);
  else
    std::memcpy(out, reinterpret_cast<void*>(in), bytes);
  return 0;
}
API int cuMemcpyDtoDAsync_v2(unsigned long long out, unsigned long long in, size_t bytes, void*) {
  std::memmove(reinterpret_cast<void*>(out), reinterpret_cast<void*>(in), bytes);
  return 0;
}
API int cuMemcpyPeerAsync(unsigned long long out, void*, unsigned long long in, void*, size_t bytes,
                          void* stream) {
  return cuMemcpyDtoDAsync_v2(out, in, bytes, stream);
}
API int cuMemsetD8Async(unsigned long long out, unsigned char value, size_t bytes, void*) {
  std::memset(reinterpret_cast<void*>(out), value, bytes);
  return 0;
}
API int cuStreamCreateWithPriority(void** stream, unsigned, int) {
  *stream = new int;
  return 0;
}
API int cuStreamSynchronize(void*) { return 0; }
API int cuStreamQuery(void*) { return 0; }
API int cuStreamWaitEvent(void*, void*, unsigned) { return 0; }
API int cuEventCreate(void** event, unsigned) {
  *event = new Event;
  return 0;
}
API int cuEventDestroy_v2(void* event) {
  delete static_cast<Event*>(event);
  return 0;
}
API int cuEventRecord(void* event, void*) {
  *static_cast<Event*>(event) = {std::chrono::steady_clock::now(), true};
  return 0;
}
// FB_EMULATOR_BUSY: work never ends until somebody waits for it.
API int cuEventQuery(void* event) {
  return static_cast<Event*>(event)->recorded && std::getenv("FB_EMULATOR_BUSY") ? kNotReady : 0;
}
API int cuEventSynchronize(void*) { return 0; }
API int cuEventElapsedTime(float* milliseconds, void* start, void* end) {
  const auto* a = static_cast<Event*>(start);
  const auto* b = static_cast<Event*>(end);
  if (!a->recorded || !b->recorded) return 400;
  *milliseconds = std::chrono::duration<float, std::milli>(b->time - a->time).count();
  return 0;
}
API int cuProfilerStart() { return 0; }
API int cuProfilerStop() { return 0; }
API int cuModuleLoadData(void** module, const void* image) {
  auto made = std::make_unique<Module>();
  const char* const path = static_cast<const char*>(image);
  if (path[0] == '/') {
    made->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!made->library) return kNotFound;
    reinterpret_cast<void (*)(FbState*)>(dlsym(made->library, "fb_bind"))(&state);
  }
  *module = made.release();
  return 0;
}
API int cuModuleUnload(void*) { return 0; }
API int cuModuleGetFunction(void** function, void* module, const char* name) {
  void* const library = static_cast<Module*>(module)->library;
  *function = library ? dlsym(library, name) : module;  // of code for a real GPU: nothing is run
  return *function ? 0 : kNotFound;
}
API int cuFuncSetAttribute(void*, int, int) { return 0; }
API int cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned, void*,
                       void** parameters, void**) {
  const std::lock_guard lock(mutex);
  ++calls;
  if (std::getenv("FB_EMULATOR_LOADS_ONLY")) return 0;
  if (block_y != 1 || block_z != 1 || block_x > 1024 || grid_x == 0 || grid_y == 0 || grid_z == 0 ||
      grid_y > 65535 || grid_z > 65535)
    return kInvalid;
  kernel = reinterpret_cast<void (*)(const void*)>(function);
  arguments = parameters[0];
  threads = block_x;
  state.meet = meet;
  state.block_size = {block_x, 1, 1};
  state.grid = {grid_x, grid_y, grid_z};
  for (unsigned z = 0; z < grid_z; ++z)
    for (unsigned y = 0; y < grid_y; ++y)
      for (unsigned x = 0; x < grid_x; ++x) {
        state.block = {x, y, z};
        run_block();
      }
  return 0;
}
API long long fb_emulator_launches() { return calls; }

// --- NVRTC

namespace {
struct Program {
  std::string source, log, library;
  std::map<std::string, std::string> headers;
};

bool make_folders(const std::string& path) {
  return std::system(("mkdir -p '" + path.substr(0, path.rfind('/')) + "'").c_str()) == 0;
}

// Below FB_EMULATOR_FOLDER: libraries stay, as the cache of the package keeps their paths.
std::string write_folder(const Program& program) {
  std::string all;
  for (const auto& [name, text] : program.headers) all += name + text;
  const std::string root = std::string(std::getenv("FB_EMULATOR_FOLDER")) + "/" +
                           std::to_string(std::hash<std::string>()(all));
  if (access((root + "/complete").c_str(), R_OK) == 0) return root;
  for (const auto& [name, text] : program.headers) {
    make_folders(root + "/" + name);
    std::ofstream(root + "/" + name) << text;
  }
  std::ofstream(root + "/complete") << "";
  return root;
}
}  // namespace

API int nvrtcVersion(int* major, int* minor) {
  *major = 13, *minor = 0;
  return 0;
}
API const char* nvrtcGetErrorString(int) { return "an error of the emulator"; }
API int nvrtcGetNumSupportedArchs(int* count) {
  *count = 2;
  return 0;
}
API int nvrtcGetSupportedArchs(int* list) {
  list[0] = 75, list[1] = 90;
  return 0;
}
API int nvrtcCreateProgram(void** program, const char* source, const char*, int headers,
                           const char* const* texts, const char* const* names) {
  auto made = std::make_unique<Program>();
  made->source = source;
  for (int i = 0; i < headers; ++i) made->headers[names[i]] = texts[i];
  *program = made.release();
  return 0;
}
API int nvrtcDestroyProgram(void** program) {
  delete static_cast<Program*>(*program);
  return 0;
}
API int nvrtcCompileProgram(void* handle, int, const char* const*) {
  auto& program = *static_cast<Program*>(handle);
  const std::string root = write_folder(program);
  const std::string base = root + "/" + std::to_string(std::hash<std::string>()(program.source)) +
                           "-" + std::to_string(getpid());
  const std::string here = std::getenv("FB_EMULATOR_ROOT");
  std::ofstream(base + ".cpp") << program.source << "\n#include \"" << here
                               << "/scalar/opaque.cpp\"\n";
  const char* const compiler = std::getenv("CXX");
  // The compiler is not to be looked at by a sanitizer that looks at us.
  const std::string command = std::string("LD_PRELOAD= ") + (compiler ? compiler : "c++") +
                              " -std=c++20 -O1 -w -fPIC -shared -ffp-contract=off -I'" + root +
                              "' -I'" + here + "' -include '" + here +
                              "/../tests/cuda/emulator/kernel.h' '" + base + ".cpp' -o '" + base +
                              ".so' > '" + base + ".log' 2>&1";
  const int result = std::system(command.c_str());
  std::ifstream log(base + ".log");
  program.log.assign(std::istreambuf_iterator<char>(log), {});
  program.library = base + ".so";
  return result == 0 ? 0 : 6;
}
API int nvrtcGetProgramLogSize(void* handle, size_t* bytes) {
  *bytes = static_cast<Program*>(handle)->log.size() + 1;
  return 0;
}
API int nvrtcGetProgramLog(void* handle, char* out) {
  std::strcpy(out, static_cast<Program*>(handle)->log.c_str());
  return 0;
}
API int nvrtcGetCUBINSize(void* handle, size_t* bytes) {
  *bytes = static_cast<Program*>(handle)->library.size() + 1;
  return 0;
}
API int nvrtcGetCUBIN(void* handle, char* out) {
  std::strcpy(out, static_cast<Program*>(handle)->library.c_str());
  return 0;
}
API int nvrtcGetPTXSize(void* handle, size_t* bytes) { return nvrtcGetCUBINSize(handle, bytes); }
API int nvrtcGetPTX(void* handle, char* out) { return nvrtcGetCUBIN(handle, out); }
