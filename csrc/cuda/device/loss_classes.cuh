// Losses of scores for classes, and their gradients. T is the type of scores and of their
// gradients; everything else is Wide<T>.
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

// The logarithm of softmax of the scores of a sample.
template <class V>
struct LogSoftmax {
  V shift, rest;

  __device__ explicit LogSoftmax(const ExponentialSum<V>& sum)
      : shift(sum.shift()), rest(math::log(sum.total)) {}
  __device__ LogSoftmax(const ClassArguments& args, long long sample)
      : shift(static_cast<const V*>(args.statistics)[sample]),
        rest(static_cast<const V*>(args.statistics)[args.outer * args.inner + sample]) {}
  __device__ V operator()(V score) const { return (score - shift) - rest; }
  __device__ void store(const ClassArguments& args, long long sample) const {
    static_cast<V*>(args.statistics)[sample] = shift;
    static_cast<V*>(args.statistics)[args.outer * args.inner + sample] = rest;
  }
};

template <class T, int pack, bool ragged>
__device__ inline LogSoftmax<Wide<T>> log_softmax_of(const ClassArguments& args,
                                                     const SamplePlace& place) {
  const auto* x = static_cast<const T*>(args.scores) + place.first;
  const RowPacks<T, pack, ragged> row(x, args.classes, args.inner);
  return LogSoftmax<Wide<T>>(
      sum_exponentials<kPacksToRead<pack>, Wide<T>>(place, place.inside, x, row));
}

template <class T, int pack, bool ragged>
__device__ inline void score_statistics(const ClassArguments& args) {
  const SamplePlace place(args);
  const auto log_softmax = log_softmax_of<T, pack, ragged>(args, place);
  if (place.inside && place.lane == 0) log_softmax.store(args, place.item);
}

// The weighted losses of all classes of each sample.
template <class T>
__device__ inline void all_class_losses(const ClassArguments& args) {
  using V = Wide<T>;
  const SamplePlace place(args);
  const auto* x = static_cast<const T*>(args.scores) + place.first;
  V total = V(0);
  if (place.inside) {
    const LogSoftmax<V> log_softmax(args, place.item);
    for (long long c = place.lane; c < args.classes; c += place.lanes)
      total -= class_weight<V>(args.weights, c) * log_softmax(convert<V>(x[c * args.inner]));
  }
  total = join_lanes(place, total, Sum<V>());
  if (place.inside && place.lane == 0) static_cast<V*>(args.out)[place.item] = total;
}

// The sums of losses and of weights: those of a block go to `partial`, or, if that is null, they
// are the sums of all.
template <class V>
__device__ inline void write_sums(const ClassArguments& args, double sum, double weights,
                                  double* partial) {
  const LanePlace block(kThreads, false);
  sum = sum_lanes(block, sum);
  weights = sum_lanes(block, weights);
  if (threadIdx.x != 0) return;
  if (partial) {
    partial[2 * blockIdx.x] = sum;
    partial[2 * blockIdx.x + 1] = weights;
    return;
  }
  if (args.total) *static_cast<V*>(args.total) = static_cast<V>(args.mean ? sum / weights : sum);
  *static_cast<V*>(args.weight) = static_cast<V>(weights);
}

// Whether a sample counts.
__device__ inline bool counts(const ClassArguments& args, long long target) {
  return target != args.ignored && target >= 0 && target < args.classes;
}
// The same; notes a target that is no class.
__device__ inline bool counts_or_noted(const ClassArguments& args, long long target) {
  if (counts(args, target)) return true;
  if (target != args.ignored) note_bad_index(args.error, target, args.classes, 1);
  return false;
}

// The statistics and losses of cross entropy without smoothing.
template <class T, int pack, bool ragged>
__device__ inline void cross_entropy_losses(const ClassArguments& args) {
  using V = Wide<T>;
  const SamplePlace place(args);
  const bool writes = place.inside && place.lane == 0;
  // The target's score is on its way while all are read.
  bool used = false;
  V score = V(0), weight = V(0);
  if (writes) {
    const long long target = args.targets[place.item];
    used = counts_or_noted(args, target);
    if (used) {
      score = convert<V>(
          static_cast<const T*>(args.scores)[place.first + target * args.inner]);
      weight = class_weight<V>(args.weights, target);
    }
  }
  const auto log_softmax = log_softmax_of<T, pack, ragged>(args, place);
  V loss = V(0);
  if (writes) {
    log_softmax.store(args, place.item);
    if (used) loss = -log_softmax(score) * weight;
    if (args.each) static_cast<V*>(args.each)[place.item] = loss;
  }
  write_sums<V>(args, static_cast<double>(loss), static_cast<double>(weight), args.partial);
}

// A block for each segment of the samples.
template <class T>
__device__ inline void class_losses(const ClassArguments& args) {
  const long long samples = args.outer * args.inner, plane = args.classes * args.inner;
  const long long begin = blockIdx.x * args.segment_length;
  const long long end =
      begin + args.segment_length < samples ? begin + args.segment_length : samples;
  using V = Wide<T>;
  const auto picked_share = static_cast<V>(1 - args.smoothing);
  const auto spread_share = static_cast<V>(args.smoothing / static_cast<double>(args.classes));
  double sum = 0, weights = 0;
  for (long long i = begin + threadIdx.x; i < end; i += kThreads) {
    const long long target = args.targets[i];
    auto* each = static_cast<V*>(args.each);
    if (!counts_or_noted(args, target)) {
      if (each) each[i] = V(0);
      continue;
    }
    const V weight = class_weight<V>(args.weights, target);
    const long long outer = i / args.inner;
    const V score = convert<V>(static_cast<const T*>(
        args.scores)[outer * plane + target * args.inner + (i - outer * args.inner)]);
    V loss = args.statistics ? -LogSoftmax<V>(args, i)(score) : -score;
    loss *= weight;
    if (args.all_classes)
      loss = loss * picked_share + static_cast<const V*>(args.all_classes)[i] * spread_share;
    if (each) each[i] = loss;
    sum += static_cast<double>(loss);
    weights += static_cast<double>(weight);
  }
  write_sums<V>(args, sum, weights, args.partial);
}

// Joins `segments` sums, a block `segment_length` of them. V is the type of the losses.
template <class V>
__device__ inline void finish_class_losses(const ClassArguments& args) {
  const long long begin = blockIdx.x * args.segment_length;
  const long long end =
      begin + args.segment_length < args.segments ? begin + args.segment_length : args.segments;
  double sum = 0, weights = 0;
#pragma unroll 4
  for (long long i = begin + threadIdx.x; i < end; i += kThreads) {
    sum += args.partial[2 * i];
    weights += args.partial[2 * i + 1];
  }
  write_sums<V>(args, sum, weights, args.joined);
}

template <class V>
__device__ inline double gradient_of(const ClassArguments& args, long long sample) {
  const double scale =
      args.divisor ? args.scale / static_cast<double>(*static_cast<const V*>(args.divisor))
                   : args.scale;
  return static_cast<double>(static_cast<const V*>(args.gradients)[args.single ? 0 : sample]) *
         scale;
}

template <class T, int pack, bool ragged>
__device__ inline void cross_entropy_gradient(const ClassArguments& args) {
  using V = Wide<T>;
  const SamplePlace place(args);
  double whole = static_cast<double>(args.classes);
  if (args.smoothing != 0 && args.weights) {
    whole = 0;
    for (long long c = place.lane; c < args.classes; c += place.lanes)
      whole += static_cast<double>(class_weight<V>(args.weights, c));
    whole = join_lanes(place, whole, Sum<double>());
  }
  if (!place.inside) return;
  const long long sample = place.item, target = args.targets[sample];
  const bool used = counts(args, target);
  const double gradient = used ? gradient_of<V>(args, sample) : 0;
  const double pick =
      used ? gradient * static_cast<double>(class_weight<V>(args.weights, target)) *
                 (1 - args.smoothing)
           : 0;
  const auto spread = static_cast<V>(gradient * args.smoothing / static_cast<double>(args.classes));
  const auto scale = static_cast<V>(
      pick + gradient * args.smoothing / static_cast<double>(args.classes) * whole);
  const auto picked = static_cast<V>(pick);
  const LogSoftmax<V> log_softmax(args, sample);
  const auto* x = static_cast<const T*>(args.scores) + place.first;
  auto* out = static_cast<T*>(args.out) + place.first;
  const RowPacks<T, pack, ragged> row(x, args.classes, args.inner);
  for_packs<kPacksTogether>(place, x, row, V(0), [&](auto& scores, auto at) {
#pragma unroll
    for (int h = 0; h < kPacksTogether; ++h) {
      const auto number = at + h * place.lanes, c = row.first(number);
#pragma unroll
      for (int p = 0; p < pack; ++p) {
        V& score = scores[h][p];
        // Scores of NaN do not matter where nothing depends on them.
        V value = scale == V(0) ? V(0) : scale * math::exp(log_softmax(score));
        if (spread != V(0) && c + p >= 0 && c + p < row.n)
          value -= spread * class_weight<V>(args.weights, c + p);
        score = c + p == target ? value - picked : value;
      }
      row.store(out, number, scores[h]);
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
  static_cast<T*>(args.out)[place.first + target * args.inner] = convert<T>(
      static_cast<Wide<T>>(-gradient_of<Wide<T>>(args, place.item) *
                           static_cast<double>(class_weight<Wide<T>>(args.weights, target))));
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
  const ExponentialSum<T> sum = sum_exponentials<kPacksTogether, T>(
      row, row.inside, row.x, RowPacks<T, 1, false>(row.x, args.classes, 1));
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
