// The pixels of an image as points.
#include "cpu/resample_grid.h"

namespace fb::cpu {

void pixel_points(const GridPlan& plan, double* out) {
  for (int64_t p = 0; p < plan.pixels(); ++p) {
    int64_t rest = p;
    for (int64_t a = 0; a < plan.rank; ++a) {
      const int64_t length = plan.size[a];
      const auto i = static_cast<double>(rest % length), n = static_cast<double>(length);
      rest /= length;
      *out++ = !plan.align_corners ? (2 * i + 1) / n - 1 : length > 1 ? 2 * i / (n - 1) - 1 : 0;
    }
    *out++ = 1;
  }
}

}  // namespace fb::cpu
