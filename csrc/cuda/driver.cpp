// Opening libcuda, and the errors of its calls.
#include "cuda/driver.h"

#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <string_view>

#include "core/error.h"
#include "cuda/library.h"

namespace fb::cuda {
namespace {

constexpr int kOldestDriver = 12000;
constexpr Status kNoDevice = 100;

std::atomic<bool> forked{false};

const char* describe(const Driver& functions, Status status) {
  const char* text = nullptr;
  functions.error_text(status, &text);
  return text ? text : "an unknown error";
}

bool is_wanted() {
  const char* const wanted = std::getenv("FLAMBEAU_CUDA");
  return !wanted || std::string_view(wanted) != "0";
}

DriverState open_driver() {
  DriverState state;
  if (!is_wanted()) {
    state.missing = {"FLAMBEAU_CUDA=0 switches GPUs off", "unset FLAMBEAU_CUDA"};
    return state;
  }
  const char* const files[] = {"libcuda.so.1", "libcuda.so"};
  const Library library = open_library("FLAMBEAU_LIBCUDA", files, {});
  if (!library.handle) {
    state.missing = {
        message_of("no NVIDIA driver: ", library.path.empty() ? files[0] : library.path.c_str(),
                   " was not found"),
        "install it (apt-get install nvidia-driver) and try nvidia-smi; in a "
        "container: docker run --gpus all"};
    return state;
  }
  Symbols symbols(library);
#define FB_LOAD(member, symbol, signature) state.functions.member = symbols.find(symbol);
  FB_CUDA_DRIVER(FB_LOAD)
#undef FB_LOAD
  if (state.functions.version) state.functions.version(&state.version);
  const char* const absent = symbols.absent();
  if (absent || state.version < kOldestDriver) {
    state.missing = {message_of("the NVIDIA driver is too old: it is for CUDA ",
                                version_text(static_cast<size_t>(state.version)), ", and CUDA ",
                                version_text(kOldestDriver), " is needed",
                                absent ? message_of(" (it has no ", absent, ")") : std::string()),
                     "install a newer one: apt-get install nvidia-driver"};
    return state;
  }
  // Before the driver starts threads and counts references of this process.
  pthread_atfork(nullptr, nullptr, [] { forked = true; });
  Status status = state.functions.init(0);
  if (status == kSuccess) status = state.functions.device_count(&state.devices);
  if (status == kNoDevice || (status == kSuccess && state.devices == 0)) {
    state.devices = 0;
    state.missing = {
        "no NVIDIA GPU is visible",
        std::getenv("CUDA_VISIBLE_DEVICES")
            ? "unset CUDA_VISIBLE_DEVICES, or give it a number that nvidia-smi -L lists"
            : "see what nvidia-smi -L lists; in a container: docker run --gpus all"};
  } else if (status != kSuccess) {
    state.devices = 0;
    state.missing = {message_of("the NVIDIA driver does not start: ",
                                describe(state.functions, status), " (code ", status, ")"),
                     "try nvidia-smi; after an update of the driver, restart the machine"};
  }
  return state;
}

}  // namespace

const DriverState& driver_state() {
  static const DriverState state = open_driver();
  return state;
}

bool is_forked() { return forked.load(std::memory_order_relaxed); }

void fail_forked() {
  fail(ErrorKind::kRuntime,
       "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must "
       "use the 'spawn' start method");
}

void fail_call(Status status, const char* call) {
  if (is_forked()) fail_forked();
  const char* name = nullptr;
  driver().error_name(status, &name);
  fail(status == kOutOfMemory ? ErrorKind::kOutOfMemory : ErrorKind::kRuntime,
       "CUDA error: ", describe(driver(), status), " (", name ? name : "unknown", ", code ", status,
       ", from ", call, ")");
}

}  // namespace fb::cuda
