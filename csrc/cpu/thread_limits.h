// Limits on the number of threads, set by the system and the user.
#pragma once

#include <string>

namespace fb::cpu {

// The processors that this process may run on.
int affinity_count();

// The processor time that the control groups of this process allow, in processors: the least from
// its own group up to the root; 0 if there is no limit. The paths are those of Linux unless a test
// says otherwise.
double cgroup_quota(const std::string& membership = "/proc/self/cgroup",
                    const std::string& mount = "/sys/fs/cgroup");

// The number in OMP_NUM_THREADS; 0 if it is not set.
int requested_threads();

}  // namespace fb::cpu
