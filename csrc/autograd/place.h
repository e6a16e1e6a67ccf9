// Where in the user's program something happened.
//
// Note [Cheap places]: a place is captured for every recorded operator, so capturing only notes the
// code object and the position in it; file and line are worked out when a message needs them. The
// core does not know Python: the binding installs the functions.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace fb::autograd {

struct PlaceHooks {
  // The innermost code of the user's that is running, with a reference to it; null if there is
  // none.
  void* (*capture)(int32_t* position) = nullptr;
  void (*release)(void* code) = nullptr;
  std::string (*describe)(void* code, int32_t position) = nullptr;  // "file.py:12"
};
inline PlaceHooks place_hooks;

class Place {
 public:
  Place() = default;
  Place(Place&& other) noexcept
      : code_(std::exchange(other.code_, nullptr)), position_(other.position_) {}
  Place& operator=(Place&& other) noexcept {
    std::swap(code_, other.code_);
    std::swap(position_, other.position_);
    return *this;
  }
  ~Place() {
    if (code_) place_hooks.release(code_);
  }

  static Place here() {
    Place place;
    if (place_hooks.capture) place.code_ = place_hooks.capture(&place.position_);
    return place;
  }

  bool known() const { return code_ != nullptr; }
  // " at file.py:12", or nothing.
  std::string text() const {
    return code_ ? " at " + place_hooks.describe(code_, position_) : std::string();
  }
  const void* code() const { return code_; }
  int32_t position() const { return position_; }

 private:
  void* code_ = nullptr;
  int32_t position_ = 0;
};

// A place that is kept for good, one for each position in the program.
const Place* interned_place();

}  // namespace fb::autograd
