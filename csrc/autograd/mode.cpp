// Thread-local switches, and the places where histories are cut.
#include "autograd/mode.h"

#include <map>
#include <mutex>

namespace fb::autograd {

constinit thread_local Mode mode;

namespace {
constinit thread_local const Cut* number_taken = nullptr;
}

void note_number_taken(const char* by) { number_taken = cut_here(by); }
const Cut* last_number_taken() { return number_taken; }

const Cut* cut_here(const char* by) {
  // Never freed: a pointer to one may sit in any tensor.
  struct Known {
    std::mutex lock;
    std::map<std::pair<const char*, const SourceLocation*>, Cut> cuts;
  };
  static Known* const known = new Known;
  const SourceLocation* const location = interned_location();
  const std::lock_guard guard(known->lock);
  return &known->cuts.try_emplace({by, location}, Cut{by, location}).first->second;
}

bool set_grad_enabled(bool enabled) {
  if (!enabled) mode.cut = cut_here("no_grad");
  return std::exchange(mode.grad_enabled, enabled);
}

}  // namespace fb::autograd
