// Random numbers of given distributions.
//
// Every kernel draws from a generator, an object of the host that belongs to the kernel's device.
// The CPU's draw in the order of the elements and hold its lock meanwhile; those of GPUs reserve
// what their threads will compute. All arrays are contiguous.
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "core/generator.h"
#include "kernel/slot.h"

namespace fb::kernel {

// Weights for which a choice without replacement would silently be wrong.
enum class WeightFault { kNone, kBadWeight, kZeroRow };

struct Random {
  // Continuous distributions; `out` holds `n` elements of a floating type.
  Slot<void(Generator& generator, DType dtype, void* out, int64_t n, double from, double to)>
      fill_uniform;
  // In blocks of 16, which is how PyTorch fills contiguous tensors of at least 16 elements: eight
  // uniforms give the radii and eight the angles, and a last incomplete block is drawn again,
  // overlapping the one before it.
  Slot<void(Generator& generator, DType dtype, void* out, int64_t n, double mean, double std)>
      fill_normal_blocks;
  // One after the other in double precision, which is how PyTorch fills all other tensors.
  Slot<void(Generator& generator, DType dtype, void* out, int64_t n, double mean, double std)>
      fill_normal;
  Slot<void(Generator& generator, DType dtype, void* out, int64_t n, double mean, double std)>
      fill_log_normal;
  Slot<void(Generator& generator, DType dtype, void* out, int64_t n, double rate)> fill_exponential;
  Slot<void(Generator& generator, DType dtype, void* out, int64_t n, double median, double sigma)>
      fill_cauchy;

  // Discrete distributions; `dtype` is any but complex.
  Slot<void(Generator& generator, DType dtype, void* out, int64_t n, double p)> fill_geometric;
  Slot<void(Generator& generator, DType dtype, void* out, int64_t n, double p)> fill_bernoulli;
  // A mask for dropout: bytes that are 1 with probability `keep`.
  Slot<void(Generator& generator, void* out, int64_t n, double keep)> fill_mask;
  // A probability per element, of a floating type; fails at one outside [0, 1].
  Slot<void(Generator& generator, DType dtype, void* out, int64_t n, DType p_dtype, const void* p)>
      fill_bernoulli_each;
  // base + draw % range, where a range of 0 stands for 2^64. A draw is one word, or two if `wide`.
  Slot<void(Generator& generator, DType dtype, void* out, int64_t n, uint64_t range, int64_t base,
            bool wide)>
      fill_integers;
  // The numbers 0 to n - 1, shuffled.
  Slot<void(Generator& generator, DType dtype, void* out, int64_t n)> fill_permutation;

  // Distributions whose parameters are tensors: one draw per element, input and output of the same
  // floating type.
  Slot<void(Generator& generator, DType dtype, void* out, int64_t n, const void* rate)>
      sample_poisson;
  Slot<void(Generator& generator, DType dtype, void* out, int64_t n, const void* count,
            const void* p)>
      sample_binomial;
  Slot<void(Generator& generator, DType dtype, void* out, int64_t n, const void* shape)>
      sample_gamma;
  // Draws `samples` categories with replacement for each of the `rows`, in proportion to `weights`
  // (rows x categories, floating). Fails at a weight that is negative or not finite, and at a row
  // that sums to zero.
  Slot<void(Generator& generator, DType dtype, int64_t* out, int64_t samples, const void* weights,
            int64_t rows, int64_t categories)>
      sample_categories;
  // The first fault of such weights, of float32 or float64: one that is negative or not finite, or
  // a row that sums to zero.
  Slot<WeightFault(DType dtype, const void* weights, int64_t rows, int64_t categories)>
      weight_fault;
  // Elements that are not positive times a slope drawn from [lower, upper), the others times 1; of
  // float32 or float64. Only the former draw, one after the other.
  Slot<void(Generator& generator, DType dtype, const void* in, void* out, void* slopes, int64_t n,
            double lower, double upper)>
      scale_negative;

  // Derivatives of the samples above: of a gamma number with respect to its shape; of a Dirichlet
  // number with respect to its own concentration, divided by one minus the number.
  Slot<void(DType dtype, void* out, int64_t n, const void* shape, const void* sample)>
      gamma_gradient;
  Slot<void(DType dtype, void* out, int64_t n, const void* sample, const void* concentration,
            const void* total)>
      dirichlet_gradient;
};

}  // namespace fb::kernel
