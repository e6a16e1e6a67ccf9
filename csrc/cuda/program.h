// Kernels from their sources: compiled, or taken from the disk, and loaded.
#pragma once

#include <atomic>
#include <string>

#include "cuda/driver.h"

namespace fb::cuda {

// The kernel of that name in a program, on a device that is in use. Slow, with a lock: callers keep
// what they get, which stays valid.
Function find_kernel(int device, const std::string& source, const char* name);

// A kernel of a fixed program, once for each device. The usual way takes no lock.
class Kernel {
 public:
  constexpr Kernel(const char* source, const char* name) : source_(source), name_(name) {}
  Function on(int device);

 private:
  const char* source_;
  const char* name_;
  std::atomic<Function> loaded_[32] = {};
};

struct ProgramStatistics {
  int64_t compiled = 0, from_disk = 0;
  double seconds = 0;  // of compiling
};
ProgramStatistics program_statistics();

}  // namespace fb::cuda
