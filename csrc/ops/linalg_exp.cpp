// The matrix exponential by scaling and squaring: exp(A) = exp(A / 2^s)^(2^s).
#include <array>
#include <cmath>

#include "gen/ops/arith.h"
#include "gen/ops/create.h"
#include "gen/ops/linalg.h"
#include "gen/ops/matmul.h"
#include "gen/ops/reduce.h"
#include "gen/ops/view.h"
#include "ops/host.h"
#include "ops/linalg_support.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

// Degree 18 of the Taylor polynomial is exact to a double's last digit up to this 1-norm. It is
// evaluated as a polynomial of degree 3 in A^6 (Paterson and Stockmeyer): 8 products.
constexpr int kDegree = 18;
constexpr int kBlock = 6;
constexpr double kLargestNorm = 1.09;

Tensor taylor(const Tensor& a) {
  std::array<Tensor, kBlock + 1> powers;
  powers[0] = ops::expand(ops::eye(a.size(-1), a.dtype(), a.device()), a.sizes());
  powers[1] = a;
  for (int i = 2; i <= kBlock; ++i) powers[i] = ops::matmul(powers[i - 1], a);
  Tensor result = ops::zeros_like(a);
  double coefficient = 1 / std::tgamma(kDegree + 1.0);  // 1 / k! for k from the degree down
  for (int k = kDegree; k >= 0; --k) {
    ops::add_(result, powers[k % kBlock], coefficient);
    if (k > 0 && k % kBlock == 0) result = ops::matmul(result, powers[kBlock]);
    coefficient *= k;
  }
  return result;
}

double largest_norm(const Tensor& a) {
  return host_number(ops::amax(ops::sum(ops::abs(a), IntSpan{-2}))).to<double>();
}

}  // namespace

Tensor compute::linalg_matrix_exp(const Tensor& A) {
  check_square(A);
  FB_CHECK(!is_integral(A.dtype()), "expected a floating point or complex tensor, got ", A.dtype());
  if (A.numel() == 0) return copy_of(A);
  if (is_reduced_float(A.dtype()))
    return cast(compute::linalg_matrix_exp(cast(A, DType::kFloat32)), A.dtype());
  const double size = largest_norm(A);
  if (!std::isfinite(size)) return compute::full_like(A, std::nan(""));
  const int squarings =
      size > kLargestNorm ? static_cast<int>(std::ceil(std::log2(size / kLargestNorm))) : 0;
  Tensor result = taylor(compute::mul(A, std::ldexp(1.0, -squarings)));
  for (int i = 0; i < squarings; ++i) result = ops::matmul(result, result);
  return result;
}

}  // namespace fb::ops
