// Sums and checks of computed losses.
#include "cpu/loss.h"

#include <algorithm>
#include <cmath>

namespace fb::cpu {
namespace {

template <class T>
double total_of(const T* losses, int64_t n) {
  double total = 0;
  for (int64_t i = 0; i < n; ++i) total += static_cast<double>(losses[i]);
  return total;
}

template <class T>
bool finds_nan(const T* losses, int64_t n) {
  return std::any_of(losses, losses + n, [](T each) { return std::isnan(each); });
}

}  // namespace

void sum_losses(DType dtype, const void* losses, int64_t n, double divisor, void* out) {
  const double total = dtype == DType::kFloat32 ? total_of(static_cast<const float*>(losses), n)
                                                : total_of(static_cast<const double*>(losses), n);
  put_number(dtype, total / divisor, out);
}

bool has_nan(DType dtype, const void* losses, int64_t n) {
  return dtype == DType::kFloat32 ? finds_nan(static_cast<const float*>(losses), n)
                                  : finds_nan(static_cast<const double*>(losses), n);
}

}  // namespace fb::cpu
