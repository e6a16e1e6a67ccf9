// Counting elements by value and by interval.
#include "cpu/histogram.h"

#include <algorithm>
#include <vector>

#include "core/scalar.h"
#include "cpu/threads.h"

namespace fb::cpu {
namespace {

// For fewer elements or more bins, partial counts of several threads cost more than they save.
constexpr int64_t kParallelCount = 1 << 17;
constexpr int64_t kParallelBins = 1 << 14;

// The bin of a value in [low, high]; the upper bound belongs to the last bin. Values on edges are
// rounded as PyTorch rounds them, which multiplies first.
template <class T>
int64_t even_bin(T value, T low, T high, int64_t bins) {
  const T position = (value - low) * static_cast<T>(bins) / (high - low);
  return position < static_cast<T>(bins) ? std::min(static_cast<int64_t>(position), bins - 1)
                                         : bins - 1;
}

}  // namespace

void count_values(const int64_t* values, int64_t n, int64_t* counts, int64_t bins) {
  std::fill(counts, counts + bins, 0);
  if (n < kParallelCount || bins > kParallelBins) {
    for (int64_t i = 0; i < n; ++i) ++counts[values[i]];
    return;
  }
  const int64_t parts = num_threads();
  const int64_t length = (n + parts - 1) / parts;
  std::vector<int64_t> partial(static_cast<size_t>(parts * bins), 0);
  parallel_for(parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p)
      for (int64_t i = p * length; i < std::min(n, (p + 1) * length); ++i)
        ++partial[static_cast<size_t>(p * bins + values[i])];
  });
  for (int64_t p = 0; p < parts; ++p)
    for (int64_t b = 0; b < bins; ++b) counts[b] += partial[static_cast<size_t>(p * bins + b)];
}

void sum_weights(DType dtype, const int64_t* values, const void* weights, int64_t n, void* sums,
                 int64_t) {
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < n; ++i)
      static_cast<T*>(sums)[values[i]] += static_cast<const T*>(weights)[i];
  });
}

void histogram(const HistogramArgs& args, void* hist) {
  visit_floating(args.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* const edges = static_cast<const T*>(args.edges);
    const T* const weights = static_cast<const T*>(args.weights);
    const T low = edges[0];
    const T high = edges[args.bins];
    for (int64_t i = 0; i < args.n; ++i) {
      const T value = static_cast<const T*>(args.in)[i];
      if (!(value >= low && value <= high)) continue;
      int64_t bin;
      if (args.uniform) {
        // Rounding can put a value next to an edge on its wrong side.
        bin = even_bin(value, low, high, args.bins);
        if (value < edges[bin])
          --bin;
        else if (bin + 1 < args.bins && value >= edges[bin + 1])
          ++bin;
      } else {
        bin = std::min<int64_t>(std::upper_bound(edges, edges + args.bins + 1, value) - edges,
                                args.bins) -
              1;
      }
      static_cast<T*>(hist)[bin] += weights ? weights[i] : T(1);
    }
  });
}

void histogram_even(DType dtype, const void* in, int64_t n, double low, double high, int64_t bins,
                    void* hist) {
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < n; ++i) {
      const T value = static_cast<const T*>(in)[i];
      if (value >= static_cast<T>(low) && value <= static_cast<T>(high))
        ++static_cast<T*>(hist)[even_bin(value, static_cast<T>(low), static_cast<T>(high), bins)];
    }
  });
}

}  // namespace fb::cpu
