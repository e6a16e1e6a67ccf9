// Kernels from their sources: compiled, or taken from the disk, and loaded.
#include "cuda/program.h"

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <map>
#include <mutex>
#include <thread>

#include "cuda/code_cache.h"
#include "cuda/context.h"
#include "cuda/nvrtc.h"
#include "cuda/sources.h"

namespace fb::cuda {
namespace {

std::mutex mutex;
ProgramStatistics statistics;
// By device and source. Modules stay loaded: kernels may still be running when a program ends.
auto* const modules = new std::map<std::pair<int, std::string>, Module>;

// Says on stderr that kernels are being compiled, if that takes more than a second in all.
class Notice {
 public:
  Notice() : thread_([this] { wait(); }) {}
  ~Notice() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

 private:
  void wait() {
    static std::atomic<bool> said{false};
    std::unique_lock lock(mutex_);
    const double left = 1.0 - before_;
    if (left > 0 &&
        changed_.wait_for(lock, std::chrono::duration<double>(left), [&] { return done_; }))
      return;
    if (!said.exchange(true))
      std::fputs("flambeau: compiling kernels for this GPU; they are kept for the next time\n",
                 stderr);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  const double before_ = statistics.seconds;
  std::thread thread_;
};

std::string code_of(int device, const std::string& source) {
  const int architecture = properties(device).architecture();
  const std::string key =
      message_of(compiler_options(architecture), '\n', kSourcesDigest, '\n', source);
  if (std::optional<std::string> kept = load_code(key)) {
    ++statistics.from_disk;
    return *std::move(kept);
  }
  const auto begin = std::chrono::steady_clock::now();
  Compiled made = [&] {
    const Notice notice;
    return compile(source, architecture);
  }();
  statistics.seconds +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  ++statistics.compiled;
  store_code(key, made.code);
  return std::move(made.code);
}

}  // namespace

Function find_kernel(int device, const std::string& source, const char* name) {
  use(device);
  compiler();  // takes Python's lock when it opens: before ours
  const std::lock_guard lock(mutex);
  Module& module = (*modules)[{device, source}];
  if (!module) FB_CUDA(module_load, &module, code_of(device, source).data());
  Function function = nullptr;
  FB_CUDA(module_function, &function, module, name);
  return function;
}

Function Kernel::on(int device) {
  Function function = loaded_[device].load(std::memory_order_acquire);
  if (!function) [[unlikely]] {
    function = find_kernel(device, source_, name_);
    loaded_[device].store(function, std::memory_order_release);
  }
  return function;
}

ProgramStatistics program_statistics() {
  const std::lock_guard lock(mutex);
  return statistics;
}

}  // namespace fb::cuda
