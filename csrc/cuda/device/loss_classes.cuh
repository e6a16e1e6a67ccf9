// Losses of scores for classes, and their gradients. Elements are float or double.
#pragma once

#include "cuda/device/exponentials.cuh"
#include "cuda/device/loss_classes_args.h"

namespace fb::device {

// The lanes of a sample: neighbouring threads have neighbouring samples if the scores of one are
// not neighbours.
struct SamplePlace : LanePlace {
  bool inside;
  long long first;  // where its scores begin

  __device__ explicit SamplePlace(const ClassArguments& args)
      : LanePlace(args.lanes, args.inner > 1), inside(item < args.outer * args.inner), first(0) {
    if (!inside) return;
    const long long outer = args.inner > 1 ? item / args.inner : item;
    first = outer * args.classes * args.inner + (item - outer * args.inner);
  }
};

template <class T>
__device__ inline T class_weight(const void* weights, long long c) {
  return weights ? static_cast<const T*>(weights)[c] : T(1);
}

template <class T, int pack>
__device__ inline void score_statistics(const ClassArguments& args) {
  const SamplePlace place(args);
  const ExponentialSum<T> sum = sum_exponentials<pack, T>(
      place, place.inside, static_cast<const T*>(args.scores) + place.first, args.classes / pack,
      args.inner * pack);
  if (!place.inside || place.lane != 0) return;
  auto* statistics = static_cast<T*>(args.statistics);
  statistics[place.item] = sum.shift();
  statistics[args.outer * args.inner + place.item] = math::log(sum.total);
}

// The logarithm of softmax of the scores of a sample.
template <class T>
struct LogSoftmax {
  T shift, rest;

  __device__ LogSoftmax(const ClassArguments& args, long long sample)
      : shift(static_cast<const T*>(args.statistics)[sample]),
        rest(static_cast<const T*>(args.statistics)[args.outer * args.inner + sample]) {}
  __device__ T operator()(T score) const { return (score - shift) - rest; }
};

// The weighted losses of all classes of each sample.
template <class T>
__device__ inline void all_class_losses(const ClassArguments& args) {
  const SamplePlace place(args);
  const auto* x = static_cast<const T*>(args.scores) + place.first;
  T total = T(0);
  if (place.inside) {
    const LogSoftmax<T> log_softmax(args, place.item);
    for (long long c = place.lane; c < args.classes; c += place.lanes)
      total -= class_weight<T>(args.weights, c) * log_softmax(x[c * args.inner]);
  }
  total = join_lanes(place, total, Sum<T>());
  if (place.inside && place.lane == 0) static_cast<T*>(args.out)[place.item] = total;
}

// The sums of losses and of weights: of a segment, or of all.
template <class T>
__device__ inline void write_sums(const ClassArguments& args, double sum, double weights,
                                  bool all) {
  const LanePlace block(kThreads, false);
  sum = sum_lanes(block, sum);
  weights = sum_lanes(block, weights);
  if (threadIdx.x != 0) return;
  if (!all) {
    args.partial[2 * blockIdx.x] = sum;
    args.partial[2 * blockIdx.x + 1] = weights;
    return;
  }
  if (args.total) *static_cast<T*>(args.total) = static_cast<T>(args.mean ? sum / weights : sum);
  *static_cast<T*>(args.weight) = static_cast<T>(weights);
}

// A block for each segment of the samples.
template <class T>
__device__ inline void class_losses(const ClassArguments& args) {
  const long long samples = args.outer * args.inner, plane = args.classes * args.inner;
  const long long begin = blockIdx.x * args.segment_length;
  const long long end =
      begin + args.segment_length < samples ? begin + args.segment_length : samples;
  const auto picked_share = static_cast<T>(1 - args.smoothing);
  const auto spread_share = static_cast<T>(args.smoothing / static_cast<double>(args.classes));
  double sum = 0, weights = 0;
  for (long long i = begin + threadIdx.x; i < end; i += kThreads) {
    const long long target = args.targets[i];
    auto* each = static_cast<T*>(args.each);
    const bool counts = target != args.ignored;
    const bool bad = counts && (target < 0 || target >= args.classes);
    if (bad) note_bad_index(args.error, target, args.classes, 1);
    if (!counts || bad) {
      if (each) each[i] = T(0);
      continue;
    }
    const T weight = class_weight<T>(args.weights, target);
    const long long outer = i / args.inner;
    const T score = static_cast<const T*>(
        args.scores)[outer * plane + target * args.inner + (i - outer * args.inner)];
    T loss = args.statistics ? -LogSoftmax<T>(args, i)(score) : -score;
    loss *= weight;
    if (args.all_classes)
      loss = loss * picked_share + static_cast<const T*>(args.all_classes)[i] * spread_share;
    if (each) each[i] = loss;
    sum += static_cast<double>(loss);
    weights += static_cast<double>(weight);
  }
  write_sums<T>(args, sum, weights, args.partial == nullptr);
}

// One block joins the segments.
template <class T>
__device__ inline void finish_class_losses(const ClassArguments& args) {
  double sum = 0, weights = 0;
  for (long long i = threadIdx.x; i < args.segments; i += kThreads) {
    sum += args.partial[2 * i];
    weights += args.partial[2 * i + 1];
  }
  write_sums<T>(args, sum, weights, true);
}

template <class T>
__device__ inline double gradient_of(const ClassArguments& args, long long sample) {
  const double scale =
      args.divisor ? args.scale / static_cast<double>(*static_cast<const T*>(args.divisor))
                   : args.scale;
  return static_cast<double>(static_cast<const T*>(args.gradients)[args.single ? 0 : sample]) *
         scale;
}

// Whether a sample counts.
__device__ inline bool counts(const ClassArguments& args, long long target) {
  return target != args.ignored && target >= 0 && target < args.classes;
}

template <class T, int pack>
__device__ inline void cross_entropy_gradient(const ClassArguments& args) {
  const SamplePlace place(args);
  double whole = static_cast<double>(args.classes);
  if (args.smoothing != 0 && args.weights) {
    whole = 0;
    for (long long c = place.lane; c < args.classes; c += place.lanes)
      whole += static_cast<double>(class_weight<T>(args.weights, c));
    whole = join_lanes(place, whole, Sum<double>());
  }
  if (!place.inside) return;
  const long long sample = place.item, target = args.targets[sample];
  const bool used = counts(args, target);
  const double gradient = used ? gradient_of<T>(args, sample) : 0;
  const double pick =
      used ? gradient * static_cast<double>(class_weight<T>(args.weights, target)) *
                 (1 - args.smoothing)
           : 0;
  const auto spread = static_cast<T>(gradient * args.smoothing / static_cast<double>(args.classes));
  const auto scale = static_cast<T>(
      pick + gradient * args.smoothing / static_cast<double>(args.classes) * whole);
  const auto picked = static_cast<T>(pick);
  const LogSoftmax<T> log_softmax(args, sample);
  const auto* x = static_cast<const T*>(args.scores) + place.first;
  auto* out = static_cast<T*>(args.out) + place.first;
  const long long packs = args.classes / pack, step = args.inner * pack;
  long long at = place.lane;
  for_packs<pack>(place, x, packs, step, T(0), [&](const auto& scores) {
#pragma unroll
    for (int h = 0; h < kPacksTogether; ++h, at += place.lanes) {
      if (at >= packs) continue;
      T part[pack];
#pragma unroll
      for (int p = 0; p < pack; ++p) {
        const long long c = at * pack + p;
        // Scores of NaN do not matter where nothing depends on them.
        T value = scale == T(0) ? T(0) : scale * math::exp(log_softmax(scores[h * pack + p]));
        if (spread != T(0)) value -= spread * class_weight<T>(args.weights, c);
        part[p] = c == target ? value - picked : value;
      }
      store_pack<pack>(out + at * step, 0, part);
    }
  });
}

// A thread for each sample; `out` is zero.
template <class T>
__device__ inline void nll_gradient(const ClassArguments& args) {
  const SamplePlace place(args);
  if (!place.inside) return;
  const long long target = args.targets[place.item];
  if (!counts(args, target)) return;
  static_cast<T*>(args.out)[place.first + target * args.inner] =
      static_cast<T>(-gradient_of<T>(args, place.item) *
                     static_cast<double>(class_weight<T>(args.weights, target)));
}

// --- probabilities of classes as targets

template <class T>
struct SoftRow : LanePlace {
  const T *x, *y;
  const void* weights;
  T kept, spread;
  bool inside;

  __device__ explicit SoftRow(const SoftTargetArguments& args)
      : LanePlace(args.lanes, false),
        x(static_cast<const T*>(args.scores) + item * args.classes),
        y(static_cast<const T*>(args.soft_targets) + item * args.classes),
        weights(args.weights),
        kept(static_cast<T>(1 - args.smoothing)),
        spread(static_cast<T>(args.smoothing / static_cast<double>(args.classes))),
        inside(item < args.rows) {}
  __device__ T share(long long c) const {
    return (y[c] * kept + spread) * class_weight<T>(weights, c);
  }
};

template <class T>
__device__ inline void soft_target_losses(const SoftTargetArguments& args) {
  const SoftRow<T> row(args);
  const ExponentialSum<T> sum = sum_exponentials<1, T>(row, row.inside, row.x, args.classes, 1);
  const T shift = sum.shift(), rest = math::log(sum.total);
  T total = T(0), targets = T(0);
  if (row.inside)
    for (long long c = row.lane; c < args.classes; c += row.lanes) {
      const T share = row.share(c);
      total += share * (rest - (row.x[c] - shift));
      targets += share;
    }
  total = sum_lanes(row, total);
  targets = sum_lanes(row, targets);
  if (!row.inside || row.lane != 0) return;
  auto* statistics = static_cast<T*>(args.statistics) + row.item;
  statistics[0] = shift;
  statistics[args.rows] = rest;
  statistics[2 * args.rows] = targets;
  static_cast<T*>(args.losses)[row.item] = total;
}

template <class T>
__device__ inline void soft_target_gradient(const SoftTargetArguments& args) {
  const SoftRow<T> row(args);
  if (!row.inside) return;
  const auto* statistics = static_cast<const T*>(args.statistics) + row.item;
  const T shift = statistics[0], rest = statistics[args.rows], targets = statistics[2 * args.rows];
  const T gradient = static_cast<const T*>(args.gradients)[args.single ? 0 : row.item] *
                     static_cast<T>(args.scale);
  auto* out = static_cast<T*>(args.out) + row.item * args.classes;
  for (long long c = row.lane; c < args.classes; c += row.lanes) {
    const T loss = rest - (row.x[c] - shift);
    out[c] = args.by_targets
                 ? gradient * row.kept * class_weight<T>(args.weights, c) * loss
                 : gradient * targets * math::exp(-loss) - gradient * row.share(c);
  }
}

// --- class numbers as vectors

// T is the type of the numbers.
template <class T>
__device__ inline void mark_classes(const MarkArguments& args) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.n) return;
  const long long number = args.numbers[i];
  if (number < 0 || number >= args.classes)
    note_bad_index(args.error, number, args.classes, -1);
  else
    args.out[i * args.classes + number] = 1;
}

}  // namespace fb::device
