// Distances of one row to many: see pairwise_distances in kernel/distance.h.
#include "cpu/cdist.h"

#include <math.h>

namespace fb::cpu::FB_ISA {
namespace {

template <class T>
FB_FN T magnitude(T x) {
  return x < T(0) ? -x : x;
}

// A norm: how a difference is added to the running value, and the final step.
struct Count {
  template <class T>
  FB_FN T add(T sum, T difference) const {
    return sum + (difference != T(0) ? T(1) : T(0));
  }
  template <class T>
  FB_FN T finish(T sum) const {
    return sum;
  }
};
struct Manhattan {
  template <class T>
  FB_FN T add(T sum, T difference) const {
    return sum + magnitude(difference);
  }
  template <class T>
  FB_FN T finish(T sum) const {
    return sum;
  }
};
struct Euclidean {
  template <class T>
  FB_FN T add(T sum, T difference) const {
    return sum + difference * difference;
  }
  FB_FN float finish(float sum) const { return sqrtf(sum); }
  FB_FN double finish(double sum) const { return sqrt(sum); }
};
struct Largest {
  template <class T>
  FB_FN T add(T largest, T difference) const {
    const T size = magnitude(difference);
    return size > largest || size != size ? size : largest;  // NaN stays
  }
  template <class T>
  FB_FN T finish(T largest) const {
    return largest;
  }
};
struct General {
  double p;
  FB_FN float add(float sum, float difference) const {
    return sum + powf(magnitude(difference), static_cast<float>(p));
  }
  FB_FN double add(double sum, double difference) const {
    return sum + pow(magnitude(difference), p);
  }
  FB_FN float finish(float sum) const { return powf(sum, static_cast<float>(1 / p)); }
  FB_FN double finish(double sum) const { return pow(sum, 1 / p); }
};

// Sixteen running values let the compiler vectorise, as it does not change the order of a sum by
// itself.
template <class T, class Norm>
FB_FN void distances(const RowDistances<T>& r, Norm norm) {
  constexpr int kLanes = 16;
  for (int64_t c = 0; c < r.columns; ++c) {
    const T* __restrict b = r.b + c * r.depth;
    T lanes[kLanes] = {};
    int64_t k = 0;
    for (; k + kLanes <= r.depth; k += kLanes) {
      for (int l = 0; l < kLanes; ++l) lanes[l] = norm.add(lanes[l], r.a[k + l] - b[k + l]);
    }
    for (; k < r.depth; ++k) lanes[0] = norm.add(lanes[0], r.a[k] - b[k]);
    T total = lanes[0];
    for (int l = 1; l < kLanes; ++l) {
      if constexpr (__is_same(Norm, Largest))
        total = norm.add(total, lanes[l]);
      else
        total += lanes[l];
    }
    r.out[c] = norm.finish(total);
  }
}

}  // namespace

template <class T>
void row_distances(const RowDistances<T>& r) {
  if (r.p == 0) return distances(r, Count{});
  if (r.p == 1) return distances(r, Manhattan{});
  if (r.p == 2) return distances(r, Euclidean{});
  if (r.p == HUGE_VAL) return distances(r, Largest{});
  distances(r, General{r.p});
}

template void row_distances(const RowDistances<float>&);
template void row_distances(const RowDistances<double>&);

}  // namespace fb::cpu::FB_ISA
