// Divides a recurrent layer among threads: by sequences, each of which a thread takes through all
// steps, or every step by hidden units.
#pragma once

#include <algorithm>
#include <vector>

#include "cpu/pack_on_threads.h"
#include "cpu/rnn.h"
#include "cpu/threads.h"
#include "cpu/workers.h"

namespace fb::cpu {

// Threads that can run at the same time.
inline int64_t rnn_threads() { return std::min(num_threads(), useful_threads()); }

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

// Multiplications of all steps that are worth another thread.
inline constexpr int64_t kRnnWorthThread = 64 * 64 * 64;

// How the threads divide the steps, by estimates in nanoseconds. A thread that has some sequences
// to itself reads the whole matrix in every step; threads that have some units of all sequences
// read their part of it, but meet after every step. Both give the same result.
class RnnCut {
 public:
  RnnCut(const RnnSteps& steps, const RnnLayerSizes& sizes, size_t element) {
    const int64_t work = sizes.weights() * sizes.outputs;
    threads_ = std::clamp<int64_t>(sizes.rows * work * sizes.directions / kRnnWorthThread, 1,
                                   rnn_threads());
    const int64_t wanted = (threads_ + sizes.directions - 1) / sizes.directions;
    parts_ = std::clamp<int64_t>(wanted, 1, steps.batch);
    units_ = std::clamp<int64_t>(sizes.hidden / threads_ / kUnits * kUnits, kUnits, kMostUnits);
    const auto bytes = static_cast<double>(work) * static_cast<double>(element);
    const double rows = static_cast<double>(sizes.rows) / static_cast<double>(steps.count);
    const double per_row =
        static_cast<double>(work) / kRate + static_cast<double>(sizes.hidden) * kUnitTime;
    const double reading = bytes / (bytes <= kNear ? kNearRate : kFarRate);
    const double turns = static_cast<double>((parts_ * sizes.directions + threads_ - 1) / threads_);
    const double alone = std::max(rows / static_cast<double>(parts_) * per_row, reading) * turns;
    const auto sharing = static_cast<double>(std::min(threads_, blocks(sizes.hidden)));
    const double shared = rows * per_row / sharing + kMeeting;
    shares_steps_ = threads_ > 1 && kGain * shared * static_cast<double>(sizes.directions) < alone;
  }

  bool shares_steps() const { return shares_steps_; }
  int64_t units() const { return units_; }
  int64_t blocks(int64_t hidden) const { return (hidden + units_ - 1) / units_; }

  // Calls run(block) over all blocks of units.
  template <class F>
  void for_blocks(int64_t hidden, F&& run) const {
    parallel_for(blocks(hidden), 1, [&](int64_t begin, int64_t end) {
      for (int64_t block = begin; block < end; ++block) run(block);
    });
  }

  // Calls run(direction, first, last) over all directions and sequences.
  template <class F>
  void for_sequences(const RnnSteps& steps, int64_t directions, F&& run) const {
    const std::vector<int64_t> cuts = even_cuts(steps, shares_steps_ ? 1 : parts_);
    const auto pieces = static_cast<int64_t>(cuts.size()) - 1;
    const int64_t all = pieces * directions;
    parallel_for(all, threads_ == 1 || shares_steps_ ? all : 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const auto piece = static_cast<size_t>(i % pieces);
        run(i / pieces, cuts[piece], cuts[piece + 1]);
      }
    });
  }

 private:
  // A block is a multiple of every vector; with more units than this it gains nothing.
  static constexpr int64_t kUnits = 16, kMostUnits = 64;
  static constexpr double kRate = 32;     // multiplications of a thread
  static constexpr double kUnitTime = 4;  // activations of a unit
  static constexpr double kMeeting =
      25e3;                             // calling 4 to 16 threads and waiting for them: measured
  static constexpr double kGain = 1.2;  // worth depending on the others in every step
  // A matrix that stays in a second-level cache, bytes that a thread reads from there, and from
  // beyond, where others read as well.
  static constexpr double kNear = 1.25e6, kNearRate = 50, kFarRate = 20;

  int64_t threads_, parts_, units_;
  bool shares_steps_;
};

}  // namespace fb::cpu
