// Fills contiguous memory with random numbers, drawing from the generator as PyTorch's CPU kernels
// do: the same number of words per element, in element order, through the same formulas.
#pragma once

#include "cpu/isa.h"
#include "kernel/random.h"

namespace fb::cpu {

using kernel::WeightFault;

FB_DECLARE_SLOT(kernel::Random, fill_uniform)
FB_DECLARE_SLOT(kernel::Random, fill_normal_blocks)
FB_DECLARE_SLOT(kernel::Random, fill_normal)
FB_DECLARE_SLOT(kernel::Random, fill_log_normal)
FB_DECLARE_SLOT(kernel::Random, fill_exponential)
FB_DECLARE_SLOT(kernel::Random, fill_cauchy)
FB_DECLARE_SLOT(kernel::Random, fill_geometric)
FB_DECLARE_SLOT(kernel::Random, fill_bernoulli)
FB_DECLARE_SLOT(kernel::Random, fill_mask)
FB_DECLARE_SLOT(kernel::Random, fill_bernoulli_each)
FB_DECLARE_SLOT(kernel::Random, fill_integers)
FB_DECLARE_SLOT(kernel::Random, fill_permutation)
FB_DECLARE_SLOT(kernel::Random, sample_poisson)
FB_DECLARE_SLOT(kernel::Random, sample_binomial)
FB_DECLARE_SLOT(kernel::Random, sample_gamma)
FB_DECLARE_SLOT(kernel::Random, sample_categories)
FB_DECLARE_SLOT(kernel::Random, weight_fault)
FB_DECLARE_SLOT(kernel::Random, scale_negative)
FB_DECLARE_SLOT(kernel::Random, gamma_gradient)
FB_DECLARE_SLOT(kernel::Random, dirichlet_gradient)

}  // namespace fb::cpu
