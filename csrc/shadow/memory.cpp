// Pages that the host may not touch.
#include "shadow/memory.h"

#include <execinfo.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "core/device_memory.h"
#include "core/error.h"
#include "shadow/access.h"

namespace fb::shadow {
namespace {

constexpr size_t kRegion = size_t{1} << 36;  // address space, not memory
constexpr int kFrames = 24;
constexpr int kMostFaults = 64;

struct Fault {
  void* frames[kFrames];
  int count;
};

// The signal handler reads these, so they are plain.
char* region = nullptr;
std::atomic<size_t> used{0};  // bytes of the region that were ever allocated
Fault faults[kMostFaults];
std::atomic<int> fault_count{0};
struct sigaction previous;

std::mutex mutex;
int open_count = 0;
std::multimap<size_t, size_t> free_blocks;  // offsets by size

void protect(int allowed) { mprotect(region, used, allowed); }

void on_fault(int signal, siginfo_t* info, void* /*context*/) {
  auto* at = static_cast<char*>(info->si_addr);
  if (at < region || at >= region + used) {
    // Outside of the region: restores the previous handler.
    sigaction(signal, &previous, nullptr);
    return;
  }
  const int index = fault_count.fetch_add(1);
  if (index < kMostFaults) faults[index].count = backtrace(faults[index].frames, kFrames);
  protect(PROT_READ | PROT_WRITE);
}

struct Block {
  size_t offset, bytes;
};

void release(void* context) {
  auto* block = static_cast<Block*>(context);
  const std::lock_guard lock(mutex);
  free_blocks.emplace(block->bytes, block->offset);
  delete block;
}

Storage allocate(size_t bytes, Device device) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  FB_CHECK_AS(ErrorKind::kOutOfMemory, bytes < kRegion - page, "out of memory on shadow: ", bytes,
              " bytes");
  auto* block = new Block{0, (bytes / page + 1) * page};
  {
    const std::lock_guard lock(mutex);
    const auto found = free_blocks.lower_bound(block->bytes);
    if (found != free_blocks.end() && found->first <= 2 * block->bytes) {
      *block = {found->second, found->first};
      free_blocks.erase(found);
    } else {
      block->offset = used;
      if (block->offset + block->bytes > kRegion) {
        delete block;
        fail(ErrorKind::kOutOfMemory, "out of memory on shadow: ", bytes, " bytes");
      }
      used += block->bytes;
      if (open_count) protect(PROT_READ | PROT_WRITE);
    }
  }
  Storage storage = Storage::adopt(region + block->offset, bytes, release, block);
  storage->device = device;
  storage->resizable = true;
  return storage;
}

void copy(void* out, const void* in, size_t bytes) {
  const Opened opened;
  std::memcpy(out, in, bytes);
}

constexpr DeviceMemory kMemory{allocate, copy};

}  // namespace

Opened::Opened() {
  const std::lock_guard lock(mutex);
  if (open_count++ == 0) protect(PROT_READ | PROT_WRITE);
}

Opened::~Opened() {
  const std::lock_guard lock(mutex);
  if (--open_count == 0) protect(PROT_NONE);
}

void register_memory() {
  void* const reserved =
      mmap(nullptr, kRegion, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  FB_CHECK(reserved != MAP_FAILED, "shadow: no addresses");
  region = static_cast<char*>(reserved);
  void* frames[1];
  backtrace(frames, 1);  // loads the library now, as the handler must not
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGSEGV, &action, &previous);
  device_memory[static_cast<int>(DeviceType::kShadow)] = &kMemory;
}

std::vector<std::string> take_faults() {
  const int count = std::min(fault_count.exchange(0), kMostFaults);
  std::vector<std::string> result;
  for (int i = 0; i < count; ++i) {
    char** const names = backtrace_symbols(faults[i].frames, faults[i].count);
    std::string text;
    for (int f = 2; f < faults[i].count; ++f) text += std::string(names[f]) + "\n";
    std::free(names);
    result.push_back(std::move(text));
  }
  if (count) {
    const std::lock_guard lock(mutex);
    if (open_count == 0) protect(PROT_NONE);
  }
  return result;
}

void check_access() {
  if (fault_count.load() == 0) return;
  const std::vector<std::string> found = take_faults();
  fail(ErrorKind::kRuntime, "the host touched the memory of the device shadow ", found.size(),
       " times, first at\n", found.front());
}

}  // namespace fb::shadow
