// Connectionist temporal classification: the sum over all alignments of a target with a sequence
// (Graves et al., "Connectionist temporal classification", 2006).
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "kernel/slot.h"

namespace fb::kernel {

struct CtcCall {
  DType dtype;                    // float32 or float64
  int64_t steps, batch, classes;  // log_probs is contiguous (steps, batch, classes)
  const void* log_probs;
  const int64_t* targets;
  // Host memory, one number for each sequence:
  const int64_t* target_starts;  // where its target begins
  const int64_t* target_lengths;
  const int64_t* input_lengths;
  int64_t blank;
  int64_t states;  // 2 * the longest target + 1: labels with blanks around them
};

struct Ctc {
  // log_alpha (batch, steps, states): the log probability of the alignments that are in a state
  // after a step. losses (batch): -log of that of all. An error for a label that is no class.
  Slot<void(const CtcCall& call, void* log_alpha, void* losses)> ctc_forward;
  // The gradient of log_probs, taken as normalised; 0 for infinite losses if zero_infinity.
  Slot<void(const CtcCall& call, const void* log_alpha, const void* losses, const void* gradients,
            bool zero_infinity, void* out)>
      ctc_backward;
};

}  // namespace fb::kernel
