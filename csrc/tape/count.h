// How often operators are called.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ops/operator.h"

namespace fb::tape {

// Counts the calls of all threads, also those within others, from now on.
void start_counting();
void stop_counting();
// The operators that were called since, by name, with their numbers of calls.
std::vector<std::pair<std::string, int64_t>> counted();

void count_call(const ops::Operator& op);

}  // namespace fb::tape
