// Affinity, control groups and variables of the environment.
#include "cpu/thread_limits.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace fb::cpu {
namespace {

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

// What a small file holds, or nothing if it cannot be read.
std::string text_of_file(const std::string& path) {
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "re"));
  std::string text;
  char part[512];
  while (file) {
    const size_t count = std::fread(part, 1, sizeof part, file.get());
    text.append(part, count);
    if (count < sizeof part) break;
  }
  return text;
}

// What comes before the next `end`, which is taken off `text` with it.
std::string_view take_until(std::string_view& text, char end) {
  const size_t size = std::min(text.find(end), text.size());
  const std::string_view part = text.substr(0, size);
  text.remove_prefix(std::min(size + 1, text.size()));
  return part;
}

// Of a text such as "100000"; 0 if it is none, as "max" is.
double number_in(std::string_view text) { return std::atof(std::string(text).c_str()); }

double quota_of(double quota, double period) {
  return quota > 0 && period > 0 ? quota / period : 0;
}

// cpu.max of version 2: "quota period", or "max period".
double quota_v2(const std::string& folder) {
  const std::string text = text_of_file(folder + "/cpu.max");
  std::string_view rest = text;
  const std::string_view quota = take_until(rest, ' ');
  return quota_of(number_in(quota), number_in(rest));
}

// Two files of version 1; a quota of -1 is none.
double quota_v1(const std::string& folder) {
  return quota_of(number_in(text_of_file(folder + "/cpu.cfs_quota_us")),
                  number_in(text_of_file(folder + "/cpu.cfs_period_us")));
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
bool names_cpu(std::string_view controllers) {
  while (!controllers.empty())
    if (take_until(controllers, ',') == "cpu") return true;
  return false;
}

}  // namespace

int affinity_count() {
  cpu_set_t set;
  // Fails where the machine has more processors than the set has room for.
  if (sched_getaffinity(0, sizeof(set), &set) != 0)
    return static_cast<int>(std::max(sysconf(_SC_NPROCESSORS_ONLN), 1L));
  return CPU_COUNT(&set);
}

double cgroup_quota(const std::string& membership, const std::string& mount) {
  const std::string text = text_of_file(membership);
  double least = 0;
  for (std::string_view rest = text; !rest.empty();) {
    // A line is "number:controllers:/path"; version 2 has no controllers.
    std::string_view line = take_until(rest, '\n');
    take_until(line, ':');
    const std::string controllers(take_until(line, ':'));
    const std::string group(line);
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

RequestedThreads requested_threads() {
  RequestedThreads request{};
  for (const char* variable : {"MKL_NUM_THREADS", "OMP_NUM_THREADS"}) {
    const char* wanted = std::getenv(variable);
    request = {variable, wanted ? std::max(std::atoi(wanted), 0) : 0};
    if (request.count > 0) break;
  }
  return request;
}

}  // namespace fb::cpu
