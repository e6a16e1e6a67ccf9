// Whether anybody watches the calls of operators.
//
// Note [Observers]: while nobody does, all that an operator does for observers is to read one word
// that never changes. While somebody does, it tells them (ops/observe.h) and calls itself; enters()
// tells the two calls apart. So the path without an observer has one more test and nothing to clean
// up, and the code for observers is out of line.
#pragma once

#include <atomic>
#include <cstdint>

namespace fb::observe {

enum Observer : uint32_t {
  kProfile = 1,  // core/profile.h
  kRecord = 2,   // tape/tape.h
  kCount = 4,    // tape/count.h
};

// Of all threads together.
extern constinit std::atomic<uint32_t> mask;
inline bool any() { return mask.load(std::memory_order_relaxed) != 0; }
inline bool watches(Observer who) { return mask.load(std::memory_order_relaxed) & who; }

void set(Observer who, bool is_on);

// Whether a call has to tell the observers; false for the inner call of one that has.
bool enters();
void enter();

}  // namespace fb::observe
