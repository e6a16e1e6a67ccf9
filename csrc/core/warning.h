// Warnings that become Python's, without core knowing that there is an interpreter.
#pragma once

#include <string>

#include "core/text.h"

namespace fb {

// Set once by the Python binding; null while the core is used from C++ alone. Throws if the user's
// filters turn the warning into an error.
struct WarningHooks {
  void (*warn)(const std::string& text) = nullptr;
};
inline WarningHooks warning_hooks;

// A UserWarning at the line that called the operator.
template <class... Parts>
[[gnu::cold, gnu::noinline]] void warn(const Parts&... parts) {
  if (!warning_hooks.warn) return;
  warning_hooks.warn(message_of(parts...));
}

}  // namespace fb
