// Sums and checks of computed losses.
#include "cpu/loss.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace fb::cpu {
namespace {

template <class T>
double total_of(const T* losses, int64_t n) {
  double total = 0;
  for (int64_t i = 0; i < n; ++i) total += static_cast<double>(losses[i]);
  return total;
}

template <class T>
bool finds_nan(const void* losses, int64_t n) {
  const T* const first = static_cast<const T*>(losses);
  return std::any_of(first, first + n, [](T each) { return std::isnan(each); });
}

template <class T>
void check_probabilities(const LossCall& call, int operand, const char* name) {
  const T* const values = static_cast<const T*>(call.operands[operand]);
  for (int64_t i = 0; i < call.n; ++i)
    FB_CHECK(values[i] >= 0 && values[i] <= 1, "all elements of ", name,
             " should be between 0 and 1, but one is ", static_cast<double>(values[i]));
}

template <class T>
void check_operands(const LossCall& call) {
  if (call.kind == LossKind::kBinary) {
    check_probabilities<T>(call, 0, "input");
    check_probabilities<T>(call, 1, "target");
    return;
  }
  const T* const variances = static_cast<const T*>(call.operands[2]);
  for (int64_t i = 0; i < call.n; ++i)
    FB_CHECK_VALUE(!(variances[i] < 0), "var has negative entry/entries, as ",
                   static_cast<double>(variances[i]));
}

}  // namespace

void sum_losses(DType dtype, const void* losses, int64_t n, double divisor, void* out) {
  const double total = dtype == DType::kFloat32 ? total_of(static_cast<const float*>(losses), n)
                                                : total_of(static_cast<const double*>(losses), n);
  put_number(dtype, total / divisor, out);
}

void check_losses(const LossCall& call, const void* losses, int64_t n) {
  if (call.kind != LossKind::kBinary && call.kind != LossKind::kGaussian) return;
  const bool single = call.dtype == DType::kFloat32;
  // Only a NaN makes it worth searching for the operand that caused it.
  if ((single ? finds_nan<float> : finds_nan<double>)(losses, n)) [[unlikely]]
    (single ? check_operands<float> : check_operands<double>)(call);
}

}  // namespace fb::cpu
