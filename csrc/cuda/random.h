// Random numbers. See docs/cuda.md for which of them are PyTorch's.
#pragma once

#include "cuda/slots.h"
#include "kernel/random.h"

namespace fb::cuda {

using kernel::WeightFault;

FB_DECLARE_CUDA(kernel::Random, fill_uniform)
FB_DECLARE_CUDA(kernel::Random, fill_normal_blocks)
FB_DECLARE_CUDA(kernel::Random, fill_normal)
FB_DECLARE_CUDA(kernel::Random, fill_log_normal)
FB_DECLARE_CUDA(kernel::Random, fill_exponential)
FB_DECLARE_CUDA(kernel::Random, fill_cauchy)
FB_DECLARE_CUDA(kernel::Random, fill_geometric)
FB_DECLARE_CUDA(kernel::Random, fill_bernoulli)
FB_DECLARE_CUDA(kernel::Random, fill_mask)
FB_DECLARE_CUDA(kernel::Random, fill_bernoulli_each)
FB_DECLARE_CUDA(kernel::Random, fill_integers)
FB_DECLARE_CUDA(kernel::Random, fill_permutation)
FB_DECLARE_CUDA(kernel::Random, sample_poisson)
FB_DECLARE_CUDA(kernel::Random, sample_binomial)
FB_DECLARE_CUDA(kernel::Random, sample_gamma)
FB_DECLARE_CUDA(kernel::Random, sample_categories)
FB_DECLARE_CUDA(kernel::Random, weight_fault)
FB_DECLARE_CUDA(kernel::Random, scale_negative)
FB_DECLARE_CUDA(kernel::Random, gamma_gradient)
FB_DECLARE_CUDA(kernel::Random, dirichlet_gradient)

}  // namespace fb::cuda
