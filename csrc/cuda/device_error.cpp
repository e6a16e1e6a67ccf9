// Errors that kernels find.
#include "cuda/device_error.h"

#include <atomic>
#include <deque>
#include <map>
#include <mutex>

#include "core/error.h"
#include "core/once.h"
#include "core/source_location.h"
#include "cuda/context.h"

namespace fb::cuda {
namespace {

struct Record {
  Once make;
  std::atomic<device::ErrorRecord*> on_host{nullptr};
  device::ErrorRecord* on_device = nullptr;
};
Record records[kMaxDevices];

// --- sites: 0 is unknown

struct Site {
  const char* by;
  const SourceLocation* location;
};

// Never freed: threads may launch until the process ends.
struct Sites {
  std::mutex mutex;
  std::deque<Site> all{{nullptr, nullptr}};
  std::map<std::pair<const char*, const SourceLocation*>, int> known;

  static Sites& get() {
    static auto* const sites = new Sites;
    return *sites;
  }
  int number_of(const char* by) {
    const SourceLocation* const location = interned_location();
    const std::lock_guard lock(mutex);
    const auto [found, is_new] = known.try_emplace({by, location}, static_cast<int>(all.size()));
    if (is_new) all.push_back({by, location});
    return found->second;
  }
  Site at(int number) {
    const std::lock_guard lock(mutex);
    return number < static_cast<int>(all.size()) ? all[static_cast<size_t>(number)] : all[0];
  }
};

// The sites that a thread used last, found without a lock. An entry's code is kept alive by the
// site that it was found for.
struct Recent {
  const char* by = nullptr;
  const void* code = nullptr;
  int32_t position = 0;
  int site = 0;
};
constexpr size_t kRecent = 64;
thread_local Recent* recent_here = nullptr;

// What a bad parameter of random numbers is called on the CPU.
const char* message_for(device::ErrorCode code) {
  switch (code) {
    case device::ErrorCode::kProbability: return "expected probabilities in [0, 1]";
    case device::ErrorCode::kRate: return "invalid Poisson rate, expected rate to be non-negative";
    case device::ErrorCode::kWeight:
      return "probability tensor contains either `inf`, `nan` or element < 0";
    case device::ErrorCode::kNoWeight:
      return "invalid multinomial distribution (sum of probabilities <= 0)";
    default: return nullptr;
  }
}

// The record of a device, as its kernels see it.
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

}  // namespace

device::ErrorSite error_site(int device, const char* by) {
  const SourceLocation here = SourceLocation::here();
  const size_t hash = (reinterpret_cast<uintptr_t>(here.code()) >> 4) +
                      (reinterpret_cast<uintptr_t>(by) >> 3) +
                      static_cast<size_t>(here.position()) / 2;
  if (!recent_here) recent_here = new Recent[kRecent];  // as long as the thread's own memory
  Recent& found = recent_here[hash % kRecent];
  if (found.by != by || found.code != here.code() || found.position != here.position())
    found = {by, here.code(), here.position(), Sites::get().number_of(by)};
  return {error_record(device), found.site};
}

void raise_device_error(int device) {
  device::ErrorRecord* const record = records[device].on_host.load(std::memory_order_acquire);
  if (!record) return;
  const std::atomic_ref<int> code(record->code);
  if (code.load(std::memory_order_acquire) == 0) return;
  // Of several threads that have waited, one takes it: another might clear what came after.
  static std::mutex mutex;
  std::unique_lock lock(mutex);
  if (code.load(std::memory_order_acquire) == 0) return;
  const device::ErrorRecord found = *record;
  code.store(0);
  std::atomic_ref<int>(record->claimed).store(0);
  lock.unlock();
  const Site site = Sites::get().at(found.site);
  const std::string by =
      (site.by ? site.by : "a kernel") + (site.location ? site.location->text() : std::string());
  constexpr const char* kRest = "; results since the last synchronisation may be wrong";
  const auto kind = static_cast<device::ErrorCode>(found.code);
  switch (kind) {
    case device::ErrorCode::kOffset:
      fail(ErrorKind::kRuntime, by, " met offsets that do not rise from 0 to at most ", found.bound,
           ", the number of indices: got ", found.value, kRest);
    case device::ErrorCode::kOutsideOfUnit:
      fail(ErrorKind::kRuntime, by, " met ", found.number,
           " where all elements should be between 0 and 1", kRest);
    case device::ErrorCode::kVariance:
      fail(ErrorKind::kValue, by, " met the negative variance ", found.number, kRest);
    default: break;
  }
  if (const char* const message = message_for(kind))
    fail(ErrorKind::kRuntime, by, ": ", message, kRest);
  fail(ErrorKind::kIndex, by, " met the index ", found.value,
       ", which is out of bounds for dimension ", found.dimension, " with size ", found.bound,
       kRest);
}

}  // namespace fb::cuda
