// Whether the program asked for the same results in every run.
#pragma once

#include <atomic>

#include "core/error.h"
#include "core/warning.h"

namespace fb {

enum class Determinism : int { kAny, kWarn, kRequire };
inline std::atomic<Determinism> determinism{Determinism::kAny};

// For a kernel whose sums depend on which thread comes first; `what` has no other form there.
inline void alert_any_order(const char* what) {
  const Determinism wanted = determinism.load(std::memory_order_relaxed);
  if (wanted == Determinism::kAny) [[likely]]
    return;
  constexpr const char* kText =
      " does not have a deterministic implementation on a GPU, but you set "
      "'torch.use_deterministic_algorithms(True)'; compute it on the CPU, or pass warn_only=True";
  FB_CHECK(wanted == Determinism::kWarn, what, kText);
  warn(what, kText);
}

}  // namespace fb
