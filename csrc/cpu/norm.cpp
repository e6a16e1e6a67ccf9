// Updates of running statistics, one number for each channel.
#include "cpu/norm.h"

#include <cmath>

namespace fb::cpu {

void norm_deviations(DType dtype, double eps, int64_t n, void* numbers) {
  visit_floating(dtype, [&](auto tag) {
    using A = typename decltype(tag)::type;
    A* const number = static_cast<A*>(numbers);
    for (int64_t i = 0; i < n; ++i)
      number[i] = static_cast<A>(1 / std::sqrt(static_cast<double>(number[i]) + eps));
  });
}

void norm_running(const kernel::RunningStatistic& statistic) {
  const double size = statistic.size;
  for (int64_t c = 0; c < statistic.channels; ++c) {
    double total = 0;
    for (int64_t s = 0; s < statistic.samples; ++s) {
      const double now = statistic.now[s * statistic.channels + c];
      total += size == 0 ? now : now * size / (size - 1);
    }
    double& running = statistic.running[c];
    running += statistic.momentum * (total / static_cast<double>(statistic.samples) - running);
  }
}

}  // namespace fb::cpu
