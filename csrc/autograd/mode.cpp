// Thread-local switches, and the locations that are kept for good.
#include "autograd/mode.h"

#include <deque>
#include <map>
#include <mutex>

namespace fb::autograd {
namespace {

std::mutex lock;

// Never freed: a pointer to one may sit in any tensor, and there are as many as lines of code.
template <class T>
T& forever() {
  static T* value = new T;
  return *value;
}

using Key = std::pair<const void*, int32_t>;

const SourceLocation* intern(SourceLocation location) {
  auto& known = forever<std::map<Key, const SourceLocation*>>();
  const Key key(location.code(), location.position());
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  auto& locations = forever<std::deque<SourceLocation>>();
  locations.push_back(std::move(location));
  return known[key] = &locations.back();
}

}  // namespace

constinit thread_local Mode mode;

namespace {
constinit thread_local const Cut* number_taken = nullptr;
}

void note_number_taken(const char* by) { number_taken = cut_here(by); }
const Cut* last_number_taken() { return number_taken; }

const SourceLocation* interned_location() {
  SourceLocation location = SourceLocation::here();
  const std::lock_guard guard(lock);
  return intern(std::move(location));
}

const Cut* cut_here(const char* by) {
  SourceLocation here = SourceLocation::here();
  const std::lock_guard guard(lock);
  const SourceLocation* location = intern(std::move(here));
  auto& known = forever<std::map<std::pair<const char*, const SourceLocation*>, Cut>>();
  return &known.try_emplace({by, location}, Cut{by, location}).first->second;
}

bool set_grad_enabled(bool enabled) {
  if (!enabled) mode.cut = cut_here("no_grad");
  return std::exchange(mode.grad_enabled, enabled);
}

}  // namespace fb::autograd
