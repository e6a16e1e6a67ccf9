// Steps scaled by past squares of the gradient: RMSprop, Adagrad and Adadelta.
#include "cpu/kernels/optim.h"

namespace fb::cpu::FB_ISA {

void optim_rmsprop(std::span<const OptimTensor> tensors) {
  for_all_tensors(tensors, [](const OptimTensor& t, int64_t begin, int64_t n) {
    const bool centered = t.state[1], momentum = t.state[2];
    if (centered && momentum)
      update_part<RmspropOf<true, true>::Rule, RmspropNumbers>(t, begin, n);
    else if (centered)
      update_part<RmspropOf<true, false>::Rule, RmspropNumbers>(t, begin, n);
    else if (momentum)
      update_part<RmspropOf<false, true>::Rule, RmspropNumbers>(t, begin, n);
    else
      update_part<RmspropOf<false, false>::Rule, RmspropNumbers>(t, begin, n);
  });
}

void optim_adagrad(std::span<const OptimTensor> tensors) {
  for_all_tensors(tensors, update_part<Adagrad, AdagradNumbers>);
}

void optim_adadelta(std::span<const OptimTensor> tensors) {
  for_all_tensors(tensors, update_part<Adadelta, AdadeltaNumbers>);
}

}  // namespace fb::cpu::FB_ISA
