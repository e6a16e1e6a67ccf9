// How often operators are called.
#include "tape/count.h"

#include <map>
#include <mutex>

#include "ops/observe.h"

namespace fb::tape {
namespace {

// Leaked on purpose: threads may end after static destruction.
struct Counts {
  std::mutex mutex;
  std::map<const ops::Operator*, int64_t> calls;
};
Counts& counts() {
  static auto* instance = new Counts;
  return *instance;
}

}  // namespace

void start_counting() {
  {
    const std::lock_guard lock(counts().mutex);
    counts().calls.clear();
  }
  observe::set(observe::kCount, true);
}

void stop_counting() { observe::set(observe::kCount, false); }

void count_call(const ops::Operator& op) {
  const std::lock_guard lock(counts().mutex);
  ++counts().calls[&op];
}

std::vector<std::pair<std::string, int64_t>> counted() {
  const std::lock_guard lock(counts().mutex);
  std::vector<std::pair<std::string, int64_t>> result;
  for (const auto& [op, calls] : counts().calls) result.emplace_back(ops::name_of(*op), calls);
  return result;
}

}  // namespace fb::tape
