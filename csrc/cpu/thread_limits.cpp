// Affinity, control groups and OMP_NUM_THREADS.
#include "cpu/thread_limits.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "cpu/openmp.h"

namespace fb::cpu {
namespace {

// cpu.max of version 2: "quota period", or "max period".
double quota_v2(const std::string& folder) {
  std::ifstream file(folder + "/cpu.max");
  double quota = 0, period = 0;
  return file >> quota >> period && quota > 0 && period > 0 ? quota / period : 0;
}

// Two files of version 1; a quota of -1 is none.
double quota_v1(const std::string& folder) {
  std::ifstream quota_file(folder + "/cpu.cfs_quota_us"),
      period_file(folder + "/cpu.cfs_period_us");
  double quota = 0, period = 0;
  return quota_file >> quota && period_file >> period && quota > 0 && period > 0 ? quota / period
                                                                                 : 0;
}

double smaller(double a, double b) {
  if (a == 0 || b == 0) return std::max(a, b);  // 0 is no limit
  return std::min(a, b);
}

// A group is held by the limits of all the groups that it is in. A container may show itself as the
// root while /proc names the path outside of it: folders that are not there limit nothing.
template <class Quota>
double least_on_path(const std::string& mount, std::string group, Quota quota) {
  double least = quota(mount);
  while (group.size() > 1) {
    least = smaller(least, quota(mount + group));
    group.resize(group.rfind('/'));
  }
  return least;
}

// Whether "cpu" is in a list such as "cpu,cpuacct".
bool names_cpu(const std::string& controllers) {
  std::istringstream list(controllers);
  for (std::string name; std::getline(list, name, ',');)
    if (name == "cpu") return true;
  return false;
}

}  // namespace

int affinity_count() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return omp_get_num_procs();
  return CPU_COUNT(&set);
}

double cgroup_quota(const std::string& membership, const std::string& mount) {
  std::ifstream file(membership);
  double least = 0;
  // A line is "number:controllers:/path"; version 2 has no controllers.
  for (std::string number, controllers, group; std::getline(file, number, ':') &&
                                               std::getline(file, controllers, ':') &&
                                               std::getline(file, group);) {
    if (group.empty() || group.front() != '/') continue;
    if (controllers.empty()) {
      least = smaller(least, least_on_path(mount, group, quota_v2));
    } else if (names_cpu(controllers)) {
      least = smaller(least, least_on_path(mount + "/cpu", group, quota_v1));
      least = smaller(least, least_on_path(mount + "/" + controllers, group, quota_v1));
    }
  }
  return least;
}

int requested_threads() {
  const char* wanted = std::getenv("OMP_NUM_THREADS");
  return wanted ? std::max(std::atoi(wanted), 0) : 0;
}

}  // namespace fb::cpu
