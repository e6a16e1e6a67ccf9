// Pixel shuffle and its inverse: `factor` rows interleaved into one.
#include "cpu/resample_shuffle.h"

#include "cpu/kernels/loops.h"
#include "cpu/threads.h"
#include "scalar/types.h"

namespace fb::cpu::FB_ISA {
namespace {

struct Wide {
  uint64_t low, high;
};

// Interleaves `factor` rows, `apart` elements from each other, into one, or separates them.
template <bool kWeave, class Rows, class Woven>
FB_FN void weave(Rows* rows, int64_t apart, Woven* woven, int64_t n, int64_t factor) {
  if (factor == 2) {  // known to the compiler, so that it shuffles whole vectors
    Rows* const second = rows + apart;
    FB_IVDEP
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (kWeave) {
        woven[2 * i] = rows[i];
        woven[2 * i + 1] = second[i];
      } else {
        rows[i] = woven[2 * i];
        second[i] = woven[2 * i + 1];
      }
    }
    return;
  }
  for (int64_t j = 0; j < factor; ++j, rows += apart)
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (kWeave)
        woven[i * factor + j] = rows[i];
      else
        rows[i] = woven[i * factor + j];
    }
}

template <bool kWeave, class Rows, class Woven>
void run(const PixelPlan& plan, Rows* channels, Woven* pixels) {
  const int64_t factor = plan.factor, columns = plan.columns;
  const int64_t plane = plan.rows * columns;
  const int64_t woven_rows = plan.rows * factor;
  const int64_t cost = columns * factor;
  parallel_for(plan.planes * woven_rows, cost < kGrain ? kGrain / cost : 1,
               [&](int64_t begin, int64_t end) {
                 for (int64_t r = begin; r < end; ++r) {
                   const int64_t p = r / woven_rows, row = r % woven_rows / factor;
                   const int64_t channel = (p * factor + r % factor) * factor;
                   weave<kWeave>(channels + channel * plane + row * columns, plane,
                                 pixels + r * cost, columns, factor);
                 }
               });
}

template <class F>
void visit_width(int64_t width, F&& f) {
  switch (width) {
    case 1: return f(uint8_t{});
    case 2: return f(uint16_t{});
    case 4: return f(uint32_t{});
    case 8: return f(uint64_t{});
    default: return f(Wide{});
  }
}

}  // namespace

void channels_to_pixels(const PixelPlan& plan, const void* channels, void* pixels) {
  visit_width(plan.width, [&](auto element) {
    using E = decltype(element);
    run<true>(plan, static_cast<const E*>(channels), static_cast<E*>(pixels));
  });
}

void pixels_to_channels(const PixelPlan& plan, const void* pixels, void* channels) {
  visit_width(plan.width, [&](auto element) {
    using E = decltype(element);
    run<false>(plan, static_cast<E*>(channels), static_cast<const E*>(pixels));
  });
}

}  // namespace fb::cpu::FB_ISA
