// Margins between the scores of classes. Elements are float or double.
#pragma once

#include "cuda/device/lanes.cuh"
#include "cuda/device/loss_margin_args.h"

namespace fb::device {

struct Smaller {
  __device__ long long operator()(long long a, long long b) const { return a < b ? a : b; }
};

// The lanes of a sample: each has every so many classes. A target that is no class is noted and
// left out.
template <class T, bool many, bool squared>
struct MarginPlace : LanePlace {
  const MarginArguments& args;
  const bool inside;
  const T* x;
  const long long* targets;
  unsigned char* marks;
  long long count;  // of targets

  __device__ explicit MarginPlace(const MarginArguments& args)
      : LanePlace(args.lanes, false),
        args(args),
        inside(item < args.samples),
        x(static_cast<const T*>(args.scores) + item * args.classes),
        targets(args.targets + (many ? item * args.classes : item)),
        marks(args.marks + item * args.classes),
        count(1) {
    if constexpr (many) {
      count = args.classes;
      if (inside)
        for (long long i = lane; i < args.classes; i += lanes)
          if (targets[i] == -1 && i < count) count = i;
      count = join_lanes(*this, count, Smaller());
      if (inside)
        for (long long i = lane; i < count; i += lanes)
          if (is_class(targets[i])) marks[targets[i]] = 1;
      __syncthreads();
    }
  }
  __device__ bool is_class(long long target) const {
    return target >= 0 && target < args.classes;
  }
  __device__ bool is_target(long long c) const {
    if constexpr (many)
      return marks[c];
    else
      return c == targets[0];
  }
  // Calls f(target, weight, margin less the target's score) for the targets that are classes. The
  // lanes of several samples do not walk alike: f must not wait.
  template <class F>
  __device__ void for_targets(F f) const {
    if (!inside) return;
    for (long long i = 0; i < count; ++i) {
      const long long t = targets[i];
      if (is_class(t))
        f(t, args.weights ? static_cast<const T*>(args.weights)[t] : T(1),
          static_cast<T>(args.margin) - x[t]);
      else if (lane == 0)
        note_bad_index(args.error, t, args.classes, 1);
    }
  }
};

template <class T, bool many, bool squared>
__device__ inline void margin_losses(const MarginArguments& args) {
  const MarginPlace<T, many, squared> place(args);
  T total = T(0);
  place.for_targets([&](long long, T weight, T least) {
    T sum = T(0);
    for (long long c = place.lane; c < args.classes; c += place.lanes) {
      const T excess = least + place.x[c];
      if (excess > T(0) && !place.is_target(c)) sum += squared ? excess * excess : excess;
    }
    total += sum * weight;
  });
  total = sum_lanes(place, total);
  if (place.inside && place.lane == 0)
    static_cast<T*>(args.out)[place.item] = total / static_cast<T>(args.classes);
}

// The gradient of a class is what all targets push it down by, or what all other classes push it
// up by if it is a target.
template <class T, bool many, bool squared>
__device__ inline void margin_gradient(const MarginArguments& args) {
  const MarginPlace<T, many, squared> place(args);
  const T scale = place.inside
                      ? static_cast<const T*>(args.gradients)[args.single ? 0 : place.item] *
                            static_cast<T>(args.scale) / static_cast<T>(args.classes)
                      : T(0);
  auto* out = static_cast<T*>(args.out) + place.item * args.classes;
  const auto slope = [&](T excess, T unit) {
    return excess > T(0) ? (squared ? T(2) * excess * unit : unit) : T(0);
  };
  T own = T(0);  // of all classes of this lane
  if (place.inside)
    for (long long c = place.lane; c < args.classes; c += place.lanes) {
      T sum = T(0);
      place.for_targets([&](long long t, T weight, T least) {
        const T unit = scale * weight;
        if (!place.is_target(c)) sum += slope(least + place.x[c], unit);
        if (!many || t != c) return;
        T up = T(0);
        for (long long other = 0; other < args.classes; ++other)
          if (!place.is_target(other)) up += slope(least + place.x[other], unit);
        sum -= up;
      });
      out[c] = sum;
      own += sum;
    }
  if constexpr (!many) {
    own = sum_lanes(place, own);
    // The lane that has written 0 there.
    if (place.inside && place.is_class(place.targets[0]) &&
        place.targets[0] % place.lanes == place.lane)
      out[place.targets[0]] = -own;
  }
}

}  // namespace fb::device
