// Errors that become Python exceptions. The operator's name is added by the entry point that the
// user called.
#pragma once

#include <exception>
#include <string>

#include "core/text.h"

namespace fb {

enum class ErrorKind { kRuntime, kIndex, kValue, kType, kNotImplemented, kOutOfMemory, kLinAlg };

class Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string message) : kind_(kind), message_(std::move(message)) {}
  ErrorKind kind() const { return kind_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  ErrorKind kind_;
  std::string message_;
};

template <class... Parts>
[[noreturn, gnu::cold, gnu::noinline]] void fail(ErrorKind kind, const Parts&... parts) {
  throw Error(kind, message_of(parts...));
}

}  // namespace fb

// The user's mistakes. The text is built only on failure.
#define FB_CHECK_AS(kind, condition, ...) \
  do {                                    \
    if (!(condition)) [[unlikely]]        \
      ::fb::fail(kind, __VA_ARGS__);      \
  } while (false)
#define FB_CHECK(condition, ...) FB_CHECK_AS(::fb::ErrorKind::kRuntime, condition, __VA_ARGS__)
#define FB_CHECK_INDEX(condition, ...) FB_CHECK_AS(::fb::ErrorKind::kIndex, condition, __VA_ARGS__)
#define FB_CHECK_VALUE(condition, ...) FB_CHECK_AS(::fb::ErrorKind::kValue, condition, __VA_ARGS__)
#define FB_CHECK_TYPE(condition, ...) FB_CHECK_AS(::fb::ErrorKind::kType, condition, __VA_ARGS__)

// Ours.
#define FB_ASSERT(condition)                                                                     \
  FB_CHECK(condition, "this is a bug in Flambeau: ", #condition, " does not hold at ", __FILE__, \
           ":", __LINE__)
