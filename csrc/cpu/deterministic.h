// Whether results must not depend on the number of threads, at the price of speed: what
// use_deterministic_algorithms() asks for.
#pragma once

#include <atomic>

namespace fb::cpu {

inline std::atomic<bool> is_deterministic{false};

}  // namespace fb::cpu
