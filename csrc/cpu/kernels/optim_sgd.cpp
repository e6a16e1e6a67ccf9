// Steps along the gradient: SGD, ASGD and Rprop.
#include "cpu/kernels/optim.h"

namespace fb::cpu::FB_ISA {

void optim_sgd(std::span<const OptimTensor> tensors) {
  for_all_tensors(tensors, [](const OptimTensor& t, int64_t begin, int64_t n) {
    if (t.state[0])
      update_part<MomentumSgd, SgdNumbers>(t, begin, n);
    else
      update_part<PlainSgd, SgdNumbers>(t, begin, n);
  });
}

void optim_asgd(std::span<const OptimTensor> tensors) {
  for_all_tensors(tensors, update_part<Asgd, AsgdNumbers>);
}

void optim_rprop(std::span<const OptimTensor> tensors) {
  for_all_tensors(tensors, update_part<Rprop, RpropNumbers>);
}

}  // namespace fb::cpu::FB_ISA
