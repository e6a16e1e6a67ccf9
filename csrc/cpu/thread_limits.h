// What the system and the user say about how many threads may compute.
#pragma once

#include <string>

namespace fb::cpu {

// The processors that this process may run on.
int affinity_count();

// The processors' worth of time that the control groups of this process allow, the least along the
// way from its own group to the root; 0 where nothing limits it. The paths are those of Linux
// unless a test says otherwise.
double cgroup_quota(const std::string& membership = "/proc/self/cgroup",
                    const std::string& mount = "/sys/fs/cgroup");

// The variable of the environment that asks for a number of threads: MKL_NUM_THREADS or, where that
// says nothing, OMP_NUM_THREADS. The number is 0 where both do.
struct RequestedThreads {
  const char* variable;
  int count;
};
RequestedThreads requested_threads();

}  // namespace fb::cpu
