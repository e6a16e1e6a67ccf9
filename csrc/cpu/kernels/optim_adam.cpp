// Adam and its variants: running averages of the gradient and of its magnitude.
#include "cpu/kernels/optim.h"

namespace fb::cpu::FB_ISA {

void optim_adam(std::span<const OptimTensor> tensors) {
  for_all_tensors(tensors, [](const OptimTensor& t, int64_t begin, int64_t n) {
    if (t.state[2])
      update_part<AdamOf<true>::Rule, AdamNumbers>(t, begin, n);
    else
      update_part<AdamOf<false>::Rule, AdamNumbers>(t, begin, n);
  });
}

void optim_adamax(std::span<const OptimTensor> tensors) {
  for_all_tensors(tensors, update_part<Adamax, AdamaxNumbers>);
}

void optim_nadam(std::span<const OptimTensor> tensors) {
  for_all_tensors(tensors, update_part<NAdam, NAdamNumbers>);
}

void optim_radam(std::span<const OptimTensor> tensors) {
  for_all_tensors(tensors, update_part<RAdam, RAdamNumbers>);
}

}  // namespace fb::cpu::FB_ISA
