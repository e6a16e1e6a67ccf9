// Fills contiguous memory with random numbers, drawing from the generator as PyTorch's CPU kernels
// do: the same number of words per element, in element order, through the same formulas. Every
// function takes the generator's lock for as long as it draws.
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "core/generator.h"

namespace fb::cpu {

// Continuous distributions; `out` holds `n` elements of a floating type.
void fill_uniform(Generator& generator, DType dtype, void* out, int64_t n, double from, double to);
// In blocks of 16, which is how PyTorch fills contiguous tensors of at least 16 elements: eight
// uniforms give the radii and eight the angles, and a last incomplete block is drawn anew,
// overlapping the one before it.
void fill_normal_blocks(Generator& generator, DType dtype, void* out, int64_t n, double mean,
                        double std);
// One after the other in double precision, which is how PyTorch fills all other tensors.
void fill_normal(Generator& generator, DType dtype, void* out, int64_t n, double mean, double std);
void fill_log_normal(Generator& generator, DType dtype, void* out, int64_t n, double mean,
                     double std);
void fill_exponential(Generator& generator, DType dtype, void* out, int64_t n, double rate);
void fill_cauchy(Generator& generator, DType dtype, void* out, int64_t n, double median,
                 double sigma);

// Discrete distributions; `dtype` is any but complex.
void fill_geometric(Generator& generator, DType dtype, void* out, int64_t n, double p);
void fill_bernoulli(Generator& generator, DType dtype, void* out, int64_t n, double p);
// A probability per element, of a floating type; fails at one outside [0, 1].
void fill_bernoulli(Generator& generator, DType dtype, void* out, int64_t n, DType p_dtype,
                    const void* p);
// base + draw % range, where a range of 0 stands for 2^64. A draw is one word, or two if `wide`.
void fill_integers(Generator& generator, DType dtype, void* out, int64_t n, uint64_t range,
                   int64_t base, bool wide);
// The numbers 0 to n - 1, shuffled.
void fill_permutation(Generator& generator, DType dtype, void* out, int64_t n);

// Distributions whose parameters are tensors: one draw per element, input and output of the same
// floating type.
void sample_poisson(Generator& generator, DType dtype, void* out, int64_t n, const void* rate);
void sample_binomial(Generator& generator, DType dtype, void* out, int64_t n, const void* count,
                     const void* p);
void sample_gamma(Generator& generator, DType dtype, void* out, int64_t n, const void* shape);
// Draws `samples` categories with replacement for each of the `rows`, in proportion to `weights`
// (rows x categories, floating). Fails at a weight that is negative or not finite, and at a row
// that sums to zero.
void sample_categories(Generator& generator, DType dtype, int64_t* out, int64_t samples,
                       const void* weights, int64_t rows, int64_t categories);

// How the samples above move with their parameters: the derivative of a gamma number by its shape;
// that of a Dirichlet number by its own concentration, divided by one minus the number.
void gamma_gradient(DType dtype, void* out, int64_t n, const void* shape, const void* sample);
void dirichlet_gradient(DType dtype, void* out, int64_t n, const void* sample,
                        const void* concentration, const void* total);

}  // namespace fb::cpu
