// Where in the user's program something happened.
//
// Note [Cheap source locations]: one is captured for every recorded operator, so capturing only
// notes the code object and the position in it; file and line are worked out when a message needs
// them. The core does not know Python: the binding installs the functions.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace fb {

struct SourceLocationHooks {
  // The innermost running code that belongs to the user's program, with a reference to it; null if
  // there is none.
  void* (*capture)(int32_t* position) = nullptr;
  void (*release)(void* code) = nullptr;
  std::string (*describe)(void* code, int32_t position) = nullptr;  // "file.py:12"
};
inline SourceLocationHooks source_location_hooks;

class SourceLocation {
 public:
  SourceLocation() = default;
  SourceLocation(SourceLocation&& other) noexcept
      : code_(std::exchange(other.code_, nullptr)), position_(other.position_) {}
  SourceLocation& operator=(SourceLocation&& other) noexcept {
    std::swap(code_, other.code_);
    std::swap(position_, other.position_);
    return *this;
  }
  ~SourceLocation() {
    if (code_) source_location_hooks.release(code_);
  }

  static SourceLocation here() {
    SourceLocation location;
    if (source_location_hooks.capture)
      location.code_ = source_location_hooks.capture(&location.position_);
    return location;
  }

  bool known() const { return code_ != nullptr; }
  // " at file.py:12", or nothing.
  std::string text() const {
    return code_ ? " at " + source_location_hooks.describe(code_, position_) : std::string();
  }
  const void* code() const { return code_; }
  int32_t position() const { return position_; }

 private:
  void* code_ = nullptr;
  int32_t position_ = 0;
};

// A location that is kept for good, one for each position in the program.
const SourceLocation* interned_location();

}  // namespace fb
