// Divides the sequences of a recurrent layer among threads: each takes its own through all steps.
#pragma once

#include <algorithm>
#include <vector>

#include "cpu/rnn.h"
#include "cpu/threads.h"

namespace fb::cpu {

// Divides the batch into `parts` of about equal numbers of steps; long sequences come first.
inline std::vector<int64_t> even_cuts(const RnnSteps& steps, int64_t parts) {
  int64_t total = 0;
  for (int64_t t = 0; t < steps.count; ++t) total += steps.active[t];
  std::vector<int64_t> cuts{0};
  int64_t length = steps.count, done = 0;
  for (int64_t b = 0; b < steps.batch; ++b) {
    while (length > 0 && steps.active[length - 1] <= b) --length;
    if (done * parts >= total * static_cast<int64_t>(cuts.size())) cuts.push_back(b);
    done += length;
  }
  cuts.push_back(steps.batch);
  return cuts;
}

// Calls run(direction, first, last) over all directions and sequences. `work`: multiplications of
// one sequence in one step of one direction. If there are few sequences and steps are expensive,
// the threads divide each step instead: see `product` in kernels/rnn.cpp.
template <class F>
void for_sequences(const RnnSteps& steps, int64_t rows, int64_t directions, int64_t work, F&& run) {
  constexpr int64_t kWorthThread = 64 * 64 * 64;
  constexpr int64_t kFewSequences = 6;
  const int64_t threads =
      std::clamp<int64_t>(rows * work * directions / kWorthThread, 1, num_threads());
  const bool shares_steps = directions == 1 && steps.batch < kFewSequences * threads &&
                            steps.batch * work >= kSharedProduct;
  const int64_t wanted = shares_steps ? 1 : (threads + directions - 1) / directions;
  const int64_t parts = std::clamp<int64_t>(wanted, 1, steps.batch);
  const std::vector<int64_t> cuts = even_cuts(steps, parts);
  const auto pieces = static_cast<int64_t>(cuts.size()) - 1;
  const BlockingRegion unlocked(rows * work > kWorthThread);
  const int64_t grain = threads == 1 ? pieces * directions : 1;
  parallel_for(pieces * directions, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto piece = static_cast<size_t>(i % pieces);
      run(i / pieces, cuts[piece], cuts[piece + 1]);
    }
  });
}

}  // namespace fb::cpu
