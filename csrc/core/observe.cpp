// Whether anybody watches the calls of operators. See Note [Observers].
#include "core/observe.h"

namespace fb::observe {

constinit std::atomic<uint32_t> mask{0};

namespace {

// Incremented whenever observing starts. If observers leave between enter() and the inner call, the
// mark of `entered` stays; later observers must not take it for theirs.
constinit std::atomic<uint32_t> generation{0};
constinit thread_local uint32_t entered = 0;

}  // namespace

void set(Observer who, bool is_on) {
  if (!is_on) {
    mask.fetch_and(~static_cast<uint32_t>(who), std::memory_order_release);
    return;
  }
  if (!any()) generation.fetch_add(1, std::memory_order_release);
  mask.fetch_or(who, std::memory_order_release);
}

bool enters() {
  if (entered != generation.load(std::memory_order_relaxed)) return true;
  entered = 0;
  return false;
}

void enter() { entered = generation.load(std::memory_order_relaxed); }

}  // namespace fb::observe
