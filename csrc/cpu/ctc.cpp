// Connectionist temporal classification: what labels must be.
#include "cpu/ctc.h"

#include "core/error.h"

namespace fb::cpu {

void ctc_forward(const CtcCall& call, void* log_alpha, void* losses) {
  for (int64_t b = 0; b < call.batch; ++b)
    for (int64_t i = 0; i < call.target_lengths[b]; ++i) {
      const int64_t label = call.targets[call.target_starts[b] + i];
      FB_CHECK(label >= 0 && label < call.classes, "target ", label, " of sequence ", b,
               " is not one of the ", call.classes, " classes");
    }
  FB_KERNEL(ctc_forward)(call, log_alpha, losses);
}

}  // namespace fb::cpu
