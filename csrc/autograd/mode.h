// Whether operators are recorded: thread-local switches.
#pragma once

#include "core/source_location.h"

namespace fb::autograd {

// Why and where a history was cut off: kept for good, one for each location and reason.
struct Cut {
  const char* by;  // "no_grad", "detach"
  const SourceLocation* location;
};
const Cut* cut_here(const char* by);
// item() and similar calls: the last one on this thread that was called on a tensor with a history.
void note_number_taken(const char* by);
const Cut* last_number_taken();

struct Mode {
  bool grad_enabled = true;
  bool inference = false;
  bool quiet = false;        // inside an operator that is recorded, or not, as a whole
  const Cut* cut = nullptr;  // where recording was switched off
};
extern constinit thread_local Mode mode;

inline bool is_recording() { return mode.grad_enabled && !mode.quiet && !mode.inference; }
// Returns what it was.
bool set_grad_enabled(bool enabled);

// The inner calls of an operator are not recorded.
class Quiet {
 public:
  Quiet() : before_(mode.quiet) { mode.quiet = true; }
  ~Quiet() { mode.quiet = before_; }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
  bool before_;
};

// Switches recording on or off for a scope of C++.
class GradMode {
 public:
  explicit GradMode(bool enabled) : before_(mode) {
    mode.grad_enabled = enabled;
    mode.quiet = false;
  }
  ~GradMode() { mode = before_; }
  GradMode(const GradMode&) = delete;
  GradMode& operator=(const GradMode&) = delete;

 private:
  Mode before_;
};

}  // namespace fb::autograd
