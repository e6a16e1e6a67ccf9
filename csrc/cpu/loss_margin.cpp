// Margins between the scores of classes: what targets must be.
#include "cpu/loss_margin.h"

#include "core/error.h"

namespace fb::cpu {

void margin_losses(const MarginCall& call, void* out) {
  const int64_t count = call.many ? call.samples * call.classes : call.samples;
  const int64_t least = call.many ? -1 : 0;
  for (int64_t i = 0; i < count; ++i)
    FB_CHECK(call.targets[i] >= least && call.targets[i] < call.classes,
             "target out of range: ", call.targets[i], " is not one of ", call.classes, " classes");
  FB_KERNEL(margin_losses)(call, out);
}

}  // namespace fb::cpu
