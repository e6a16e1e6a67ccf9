// The CPU's table of kernels.
#pragma once

namespace fb::cpu {

// Makes kernel::of answer for tensors in the host's memory.
void register_kernels();

}  // namespace fb::cpu
