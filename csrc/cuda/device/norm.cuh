// Normalisation: moments of sets, their application, and gradients. Everything is computed in
// Wide<T>, which the numbers beside the elements have in memory, too.
#pragma once

#include "cuda/device/lanes.cuh"
#include "cuda/device/norm_args.h"

namespace fb::device {

// --- moments

// The mean of some elements and their squared deviations from it.
template <class V>
struct Spread {
  V count, mean, squares;
};

template <class V>
struct JoinSpreads {
  __device__ Spread<V> operator()(const Spread<V>& a, const Spread<V>& b) const {
    if (a.count == V(0)) return b;
    if (b.count == V(0)) return a;
    const V all = a.count + b.count, apart = b.mean - a.mean, share = b.count / all;
    return {all, a.mean + apart * share, a.squares + b.squares + apart * apart * share * a.count};
  }
};

// Several at once: each by itself would cost a division.
template <int count, class V>
__device__ inline void add_values(Spread<V>& to, const V (&values)[count]) {
  V mean = values[0], squares = V(0);
#pragma unroll
  for (int i = 1; i < count; ++i) mean += values[i];
  mean /= V(count);
#pragma unroll
  for (int i = 0; i < count; ++i) squares += (values[i] - mean) * (values[i] - mean);
  to = JoinSpreads<V>()(to, {V(count), mean, squares});
}

template <class V>
__device__ inline V deviation_of(V variance, double eps) {
  return V(1) / math::sqrt(variance + static_cast<V>(eps));
}

// Returns 1 / sqrt(variance + eps).
template <class V>
__device__ inline V write_statistics(const NormArguments& args, long long set,
                                     const Spread<V>& all, bool writes) {
  const V variance = all.squares / all.count, rstd = deviation_of(variance, args.eps);
  if (writes) {
    static_cast<V*>(args.mean)[set] = all.mean;
    static_cast<V*>(args.rstd)[set] = rstd;
    if (args.variance) args.variance[set] = static_cast<double>(variance);
  }
  return rstd;
}

// Two sums over elements: of the gradient, and of the gradient times the deviation.
template <class V>
struct GradientSums {
  V total, moment;
};
template <class V>
struct JoinSums {
  __device__ GradientSums<V> operator()(const GradientSums<V>& a, const GradientSums<V>& b) const {
    return {a.total + b.total, a.moment + b.moment};
  }
};

// --- units: what their parts have collected

// Calls f(unit, what its segment has collected) for lanes of the segments of `count` units.
template <class Partial, class F>
__device__ inline void for_partials(const NormArguments& args, const LanePlace& place,
                                    long long first, long long step, long long count, F f) {
  const auto* partial = static_cast<const Partial*>(args.partial);
  if (count == 1) {
    partial += first * args.unit_step;
#pragma unroll 8
    for (long long i = place.lane; i < args.segments; i += place.lanes)
      f(first, partial[i * args.segment_step]);
    return;
  }
  for (long long i = place.lane; i < count * args.segments; i += place.lanes) {
    const long long unit = first + i / args.segments * step, segment = i % args.segments;
    f(unit, partial[unit * args.unit_step + segment * args.segment_step]);
  }
}

__device__ inline LanePlace place_of_units(const NormArguments& args) {
  return LanePlace(args.lanes, args.unit_step == 1 && args.units_per_set == 1);
}

// The statistics of sets.
template <class T>
__device__ inline void finish_moments(const NormArguments& args) {
  using V = Wide<T>;
  const LanePlace place = place_of_units(args);
  const bool inside = place.item < args.sets;
  Spread<V> own{};
  if (inside)
    for_partials<Spread<V>>(args, place, place.item * args.units_per_set, 1, args.units_per_set,
                            [&](long long, const Spread<V>& part) {
                              own = JoinSpreads<V>()(own, part);
                            });
  own = join_lanes(place, own, JoinSpreads<V>());
  if (inside) write_statistics(args, place.item, own, place.lane == 0);
}

// The gradient of an input is g * weight * rstd + (x - mean) * slope + shift. Items are the sets,
// which get their slope and shift, and then the channels, which get the gradients of weight and
// bias.
template <class T>
__device__ inline void finish_sums(const NormArguments& args) {
  using V = Wide<T>;
  using Part = GradientSums<V>;
  using Sums = GradientSums<double>;
  const LanePlace place = place_of_units(args);
  const long long channel = place.item - args.sets;
  const bool is_set = channel < 0, is_channel = !is_set && channel < args.channels;
  const auto* weight = static_cast<const V*>(args.weight);
  const auto* rstd = static_cast<const V*>(args.rstd);
  Sums own{};
  if (is_set)
    for_partials<Part>(args, place, place.item * args.units_per_set, 1, args.units_per_set,
                       [&](long long unit, const Part& part) {
                         const auto w = static_cast<double>(weight[unit % args.channels]);
                         own.total += w * static_cast<double>(part.total);
                         own.moment += w * static_cast<double>(part.moment);
                       });
  if (is_channel)
    for_partials<Part>(args, place, channel, args.channels, args.units / args.channels,
                       [&](long long unit, const Part& part) {
                         const V scale = rstd ? rstd[unit / args.units_per_set] : V(1);
                         own.total += static_cast<double>(part.total);
                         own.moment += static_cast<double>(part.moment * scale);
                       });
  own = join_lanes(place, own, JoinSums<double>());
  if (place.lane != 0) return;
  if (is_set) {
    const auto r = static_cast<double>(rstd[place.item]), n = static_cast<double>(args.set_size);
    V* const slopes = static_cast<V*>(args.slopes) + 2 * place.item;
    slopes[0] = args.given ? V(0) : static_cast<V>(-r * r * r * own.moment / n);
    slopes[1] = args.given ? V(0) : static_cast<V>(-r * own.total / n);
  }
  if (is_channel) {
    static_cast<V*>(args.weight_grad)[channel] = static_cast<V>(own.moment);
    if (args.bias_grad) static_cast<V*>(args.bias_grad)[channel] = static_cast<V>(own.total);
  }
}

// --- planes

struct Spot {
  long long at, run;
};

// Calls f(spots) for the packs of a unit in a segment, `count` at once and the last ones singly.
template <int count, class F>
__device__ inline void walk_runs(const NormArguments& args, const LanePlace& place, F f) {
  const long long begin = blockIdx.y * args.segment_length, all = args.runs * args.run_length;
  const long long end = begin + args.segment_length < all ? begin + args.segment_length : all;
  long long i = begin + place.lane;
  if (i >= end) return;
  long long run = i / args.run_length, inside = i - run * args.run_length;
  const long long runs = place.lanes / args.run_length,
                  rest = place.lanes - runs * args.run_length;
  const long long start = place.item * args.start_step;
  const auto next = [&] {
    const Spot spot{start + run * args.run_step + inside, run};
    run += runs;
    inside += rest;
    if (inside >= args.run_length) {
      inside -= args.run_length;
      ++run;
    }
    return spot;
  };
  for (; i + (count - 1) * place.lanes < end; i += count * place.lanes) {
    Spot spots[count];
#pragma unroll
    for (int k = 0; k < count; ++k) spots[k] = next();
    f(spots);
  }
  for (; i < end; i += place.lanes) {
    const Spot spots[1] = {next()};
    f(spots);
  }
}

template <int pack>
inline constexpr int kSpots = pack >= 4 ? 2 : 4;

// The channel of a set's first run; with groups each run is a channel.
__device__ inline long long first_channel(const NormArguments& args, long long set) {
  return args.groups ? set % args.groups * args.runs : set;
}

template <class T, int pack>
__device__ inline void planar_norm(const NormArguments& args) {
  using V = Wide<T>;
  const LanePlace place(args.lanes, false);
  const bool inside = place.item < args.items;
  const auto* x = static_cast<const T*>(args.x);
  V mean = V(0), rstd = V(0);
  if (args.pass != NormPass::kApply) {
    Spread<V> own{};
    if (inside)
      walk_runs<kSpots<pack>>(args, place, [&]<int count>(const Spot (&spots)[count]) {
        V values[count * pack];
#pragma unroll
        for (int k = 0; k < count; ++k) {
          V part[pack];
          load_pack<pack>(x, spots[k].at, part);
#pragma unroll
          for (int p = 0; p < pack; ++p) values[k * pack + p] = part[p];
        }
        add_values(own, values);
      });
    own = join_lanes(place, own, JoinSpreads<V>());
    if (args.pass == NormPass::kCollect) {
      if (inside && place.lane == 0)
        static_cast<Spread<V>*>(
            args.partial)[place.item * args.unit_step + blockIdx.y * args.segment_step] = own;
      return;
    }
    mean = own.mean;
    rstd = write_statistics(args, place.item, own, inside && place.lane == 0);
  } else if (inside) {
    mean = static_cast<const V*>(args.mean)[place.item];
    rstd = static_cast<const V*>(args.rstd)[place.item];
  }
  if (!inside) return;
  const long long channel = first_channel(args, place.item);
  const V* const weight = static_cast<const V*>(args.weight) + channel;
  const V* const bias = static_cast<const V*>(args.bias) + channel;
  auto* out = static_cast<T*>(args.out);
  walk_runs<kSpots<pack>>(args, place, [&]<int count>(const Spot (&spots)[count]) {
    V values[count][pack];
#pragma unroll
    for (int k = 0; k < count; ++k) load_pack<pack>(x, spots[k].at, values[k]);
#pragma unroll
    for (int k = 0; k < count; ++k) {
      const long long run = args.groups ? spots[k].run : 0;
      const V scale = rstd * weight[run], shift = bias[run];
#pragma unroll
      for (int p = 0; p < pack; ++p) values[k][p] = (values[k][p] - mean) * scale + shift;
      store_pack<pack>(out, spots[k].at, values[k]);
    }
  });
}

// The sums of units.
template <class T, int pack>
__device__ inline void planar_sums(const NormArguments& args) {
  using V = Wide<T>;
  const LanePlace place(args.lanes, false);
  const bool inside = place.item < args.items;
  const auto* x = static_cast<const T*>(args.x);
  const auto* gradient = static_cast<const T*>(args.gradient);
  GradientSums<V> own{};
  if (inside) {
    const V mean = static_cast<const V*>(args.mean)[place.item / args.units_per_set];
    walk_runs<kSpots<pack>>(args, place, [&]<int count>(const Spot (&spots)[count]) {
      V values[count][pack], gradients[count][pack];
#pragma unroll
      for (int k = 0; k < count; ++k) {
        load_pack<pack>(x, spots[k].at, values[k]);
        load_pack<pack>(gradient, spots[k].at, gradients[k]);
      }
      GradientSums<V> near{};
#pragma unroll
      for (int k = 0; k < count; ++k)
#pragma unroll
        for (int p = 0; p < pack; ++p) {
          near.total += gradients[k][p];
          near.moment += gradients[k][p] * (values[k][p] - mean);
        }
      own = JoinSums<V>()(own, near);
    });
  }
  own = join_lanes(place, own, JoinSums<V>());
  if (inside && place.lane == 0)
    static_cast<GradientSums<V>*>(
        args.partial)[place.item * args.unit_step + blockIdx.y * args.segment_step] = own;
}

template <class T, int pack>
__device__ inline void planar_gradient(const NormArguments& args) {
  using V = Wide<T>;
  const LanePlace place(args.lanes, false);
  if (place.item >= args.items) return;
  const auto* x = static_cast<const T*>(args.x);
  const auto* gradient = static_cast<const T*>(args.gradient);
  auto* out = static_cast<T*>(args.out);
  const V mean = static_cast<const V*>(args.mean)[place.item];
  const V rstd = static_cast<const V*>(args.rstd)[place.item];
  const V* const slopes = static_cast<const V*>(args.slopes) + 2 * place.item;
  const V slope = slopes[0], shift = slopes[1];
  const V* const weight =
      static_cast<const V*>(args.weight) + first_channel(args, place.item);
  walk_runs<kSpots<pack>>(args, place, [&]<int count>(const Spot (&spots)[count]) {
    V values[count][pack], gradients[count][pack];
#pragma unroll
    for (int k = 0; k < count; ++k) {
      load_pack<pack>(x, spots[k].at, values[k]);
      load_pack<pack>(gradient, spots[k].at, gradients[k]);
    }
#pragma unroll
    for (int k = 0; k < count; ++k) {
      const V scale = rstd * weight[args.groups ? spots[k].run : 0];
#pragma unroll
      for (int p = 0; p < pack; ++p)
        values[k][p] = gradients[k][p] * scale + (values[k][p] - mean) * slope + shift;
      store_pack<pack>(out, spots[k].at, values[k]);
    }
  });
}

// --- channels that are neighbours: a block has some columns of packs and some of their rows

struct TilePlace {
  LanePlace lanes;
  bool inside;
  long long sample, segment, begin, end;

  __device__ TilePlace(const NormArguments& args, long long rest)
      : lanes(args.lanes, true, blockIdx.x - rest * args.column_blocks),
        inside(lanes.item < args.columns),
        sample(rest / args.segments),
        segment(rest - sample * args.segments),
        begin(segment * args.segment_length),
        end(begin + args.segment_length < args.rows ? begin + args.segment_length : args.rows) {}
  __device__ explicit TilePlace(const NormArguments& args)
      : TilePlace(args, blockIdx.x / args.column_blocks) {}

  template <int pack>
  __device__ long long channel(int p) const {
    return lanes.item * pack + p;
  }
  __device__ long long set(const NormArguments& args, long long channel) const {
    return args.groups ? sample * args.groups + channel / args.units_per_set : channel;
  }
  // Calls f(count, first row, distance of the others) for the rows of this thread.
  template <int count, class F>
  __device__ void walk(F f) const {
    long long row = begin + lanes.lane;
    for (; row + (count - 1) * lanes.lanes < end; row += count * lanes.lanes)
      f.template operator()<count>(row);
    for (; row < end; row += lanes.lanes) f.template operator()<1>(row);
  }
  __device__ long long at(const NormArguments& args, long long row) const {
    return (sample * args.rows + row) * args.columns + lanes.item;
  }
  template <int count, int pack, class T, class V>
  __device__ void load(const NormArguments& args, const void* from, long long row,
                       V (&to)[count][pack], const T*) const {
#pragma unroll
    for (int k = 0; k < count; ++k)
      load_pack<pack>(static_cast<const T*>(from), at(args, row + k * lanes.lanes), to[k]);
  }
  template <int pack, class Part>
  __device__ void store_part(const NormArguments& args, int p, const Part& part) const {
    if (inside && lanes.lane == 0)
      static_cast<Part*>(args.partial)[(sample * args.channels + channel<pack>(p)) *
                                           args.unit_step +
                                       segment * args.segment_step] = part;
  }
};

template <class T, int pack>
__device__ inline void interleaved_moments(const NormArguments& args) {
  using V = Wide<T>;
  const TilePlace place(args);
  Spread<V> own[pack] = {};
  if (place.inside)
    place.walk<4>([&]<int count>(long long row) {
      V values[count][pack];
      place.load(args, args.x, row, values, static_cast<const T*>(nullptr));
#pragma unroll
      for (int p = 0; p < pack; ++p) {
        V column[count];
#pragma unroll
        for (int k = 0; k < count; ++k) column[k] = values[k][p];
        add_values(own[p], column);
      }
    });
#pragma unroll
  for (int p = 0; p < pack; ++p)
    place.store_part<pack>(args, p, join_lanes(place.lanes, own[p], JoinSpreads<V>()));
}

template <class T, int pack>
__device__ inline void interleaved_norm(const NormArguments& args) {
  using V = Wide<T>;
  const TilePlace place(args);
  if (!place.inside) return;
  V mean[pack], scale[pack], shift[pack];
#pragma unroll
  for (int p = 0; p < pack; ++p) {
    const long long channel = place.channel<pack>(p), set = place.set(args, channel);
    mean[p] = static_cast<const V*>(args.mean)[set];
    scale[p] = static_cast<const V*>(args.rstd)[set] * static_cast<const V*>(args.weight)[channel];
    shift[p] = static_cast<const V*>(args.bias)[channel];
  }
  auto* out = static_cast<T*>(args.out);
  place.walk<4>([&]<int count>(long long row) {
    V values[count][pack];
    place.load(args, args.x, row, values, static_cast<const T*>(nullptr));
#pragma unroll
    for (int k = 0; k < count; ++k) {
#pragma unroll
      for (int p = 0; p < pack; ++p) values[k][p] = (values[k][p] - mean[p]) * scale[p] + shift[p];
      store_pack<pack>(out, place.at(args, row + k * place.lanes.lanes), values[k]);
    }
  });
}

// The sums of units: channels of a sample or of the batch. With `by_row` rows are the sets, the
// columns are summed, and a deviation is divided by that of its row.
template <class T, int pack, bool by_row>
__device__ inline void column_gradients(const NormArguments& args) {
  using V = Wide<T>;
  const TilePlace place(args);
  const auto* means = static_cast<const V*>(args.mean);
  const auto* rstds = static_cast<const V*>(args.rstd);
  GradientSums<V> own[pack] = {};
  if (place.inside) {
    V mean[pack];
#pragma unroll
    for (int p = 0; p < pack; ++p)
      mean[p] = by_row ? V(0) : means[place.set(args, place.channel<pack>(p))];
    place.walk<4>([&]<int count>(long long row) {
      V values[count][pack], gradients[count][pack];
      place.load(args, args.x, row, values, static_cast<const T*>(nullptr));
      place.load(args, args.gradient, row, gradients, static_cast<const T*>(nullptr));
      V centre[count], scale[count];
#pragma unroll
      for (int k = 0; k < count; ++k) {
        const long long set = row + k * place.lanes.lanes;
        centre[k] = by_row && means ? means[set] : V(0);
        scale[k] = by_row ? rstds[set] : V(1);
      }
#pragma unroll
      for (int p = 0; p < pack; ++p) {
        GradientSums<V> near{};
#pragma unroll
        for (int k = 0; k < count; ++k) {
          const V deviation = values[k][p] - (by_row ? centre[k] : mean[p]);
          near.total += gradients[k][p];
          near.moment += gradients[k][p] * (deviation * scale[k]);
        }
        own[p] = JoinSums<V>()(own[p], near);
      }
    });
  }
#pragma unroll
  for (int p = 0; p < pack; ++p)
    place.store_part<pack>(args, p, join_lanes(place.lanes, own[p], JoinSums<V>()));
}

template <class T, int pack>
__device__ inline void interleaved_gradient(const NormArguments& args) {
  using V = Wide<T>;
  const TilePlace place(args);
  if (!place.inside) return;
  V mean[pack], scale[pack], slope[pack], shift[pack];
#pragma unroll
  for (int p = 0; p < pack; ++p) {
    const long long channel = place.channel<pack>(p), set = place.set(args, channel);
    mean[p] = static_cast<const V*>(args.mean)[set];
    scale[p] = static_cast<const V*>(args.rstd)[set] * static_cast<const V*>(args.weight)[channel];
    slope[p] = static_cast<const V*>(args.slopes)[2 * set];
    shift[p] = static_cast<const V*>(args.slopes)[2 * set + 1];
  }
  auto* out = static_cast<T*>(args.out);
  place.walk<4>([&]<int count>(long long row) {
    V values[count][pack], gradients[count][pack];
    place.load(args, args.x, row, values, static_cast<const T*>(nullptr));
    place.load(args, args.gradient, row, gradients, static_cast<const T*>(nullptr));
#pragma unroll
    for (int k = 0; k < count; ++k) {
#pragma unroll
      for (int p = 0; p < pack; ++p)
        values[k][p] =
            gradients[k][p] * scale[p] + (values[k][p] - mean[p]) * slope[p] + shift[p];
      store_pack<pack>(out, place.at(args, row + k * place.lanes.lanes), values[k]);
    }
  });
}

// --- rows

// The packs of a row that a thread holds in registers, or reads again and again if `held` is 0.
template <class T, int pack, int held>
struct RowParts {
  using V = Wide<T>;
  static constexpr int kHeld = held ? held : 1;

  const LanePlace& place;
  const long long first, packs;  // of the row
  const bool inside;

  __device__ RowParts(const NormArguments& args, const LanePlace& place)
      : place(place),
        first(place.item * args.columns),
        packs(args.columns),
        inside(place.item < args.rows) {}

  // f(number among those held, pack of the row) for each pack of this thread.
  template <class F>
  __device__ void walk(F f) const {
    if (!inside) return;
    if constexpr (held) {
#pragma unroll
      for (int h = 0; h < held; ++h)
        if (const long long i = place.lane + h * place.lanes; i < packs) f(h, i);
    } else {
      for (long long i = place.lane; i < packs; i += place.lanes) f(0, i);
    }
  }
};

template <class T, int pack, int held, bool centred>
__device__ inline void row_norm(const NormArguments& args) {
  using V = Wide<T>;
  const LanePlace place(args.lanes, false);
  const RowParts<T, pack, held> row(args, place);
  const auto* x = static_cast<const T*>(args.x);
  const V n = static_cast<V>(args.set_size);
  V values[row.kHeld][pack];
  V mean = V(0), variance = V(0);
  if constexpr (held) {
    V sum = V(0);
    row.walk([&](int h, long long i) {
      load_pack<pack>(x, row.first + i, values[h]);
#pragma unroll
      for (int p = 0; p < pack; ++p) sum += values[h][p];
    });
    if constexpr (centred) mean = sum_lanes(place, sum) / n;
  } else if constexpr (centred) {
    Spread<V> own{};
    row.walk([&](int, long long i) {
      load_pack<pack>(x, row.first + i, values[0]);
      add_values(own, values[0]);
    });
    own = join_lanes(place, own, JoinSpreads<V>());
    mean = own.mean;
    variance = own.squares / n;
  }
  if constexpr (held || !centred) {
    V squares = V(0);
    row.walk([&](int h, long long i) {
      if constexpr (!held) load_pack<pack>(x, row.first + i, values[0]);
#pragma unroll
      for (int p = 0; p < pack; ++p) squares += (values[h][p] - mean) * (values[h][p] - mean);
    });
    variance = sum_lanes(place, squares) / n;
  }
  const V rstd = deviation_of(variance, args.eps);
  if (row.inside && place.lane == 0) {
    if constexpr (centred) static_cast<V*>(args.mean)[place.item] = mean;
    static_cast<V*>(args.rstd)[place.item] = rstd;
  }
  row.walk([&](int h, long long i) {
    if constexpr (!held) load_pack<pack>(x, row.first + i, values[0]);
    V weight[pack], bias[pack];
    load_pack<pack>(static_cast<const V*>(args.weight), i, weight);
    if constexpr (centred) load_pack<pack>(static_cast<const V*>(args.bias), i, bias);
#pragma unroll
    for (int p = 0; p < pack; ++p) {
      values[h][p] = (values[h][p] - mean) * rstd * weight[p];
      if constexpr (centred) values[h][p] += bias[p];
    }
    store_pack<pack>(static_cast<T*>(args.out), row.first + i, values[h]);
  });
}

// The gradient of the elements; that of weight and bias is column_gradients'.
template <class T, int pack, int held, bool centred>
__device__ inline void row_gradient(const NormArguments& args) {
  using V = Wide<T>;
  const LanePlace place(args.lanes, false);
  const RowParts<T, pack, held> row(args, place);
  const V mean = centred && row.inside ? static_cast<const V*>(args.mean)[place.item] : V(0);
  const V rstd = row.inside ? static_cast<const V*>(args.rstd)[place.item] : V(0);
  V deviations[row.kHeld][pack], weighted[row.kHeld][pack];
  const auto load = [&](int h, long long i) {
    V weight[pack];
    load_pack<pack>(static_cast<const V*>(args.weight), i, weight);
    load_pack<pack>(static_cast<const T*>(args.x), row.first + i, deviations[h]);
    load_pack<pack>(static_cast<const T*>(args.gradient), row.first + i, weighted[h]);
#pragma unroll
    for (int p = 0; p < pack; ++p) {
      deviations[h][p] -= mean;
      weighted[h][p] *= weight[p];
    }
  };
  V total = V(0), moment = V(0);
  row.walk([&](int h, long long i) {
    load(h, i);
#pragma unroll
    for (int p = 0; p < pack; ++p) {
      total += weighted[h][p];
      moment += weighted[h][p] * deviations[h][p];
    }
  });
  const V n = static_cast<V>(args.set_size);
  moment = sum_lanes(place, moment);
  const V slope = -rstd * rstd * rstd * (moment / n);
  V shift = V(0);
  if constexpr (centred) shift = -rstd * (sum_lanes(place, total) / n);
  row.walk([&](int h, long long i) {
    if constexpr (!held) load(h, i);
#pragma unroll
    for (int p = 0; p < pack; ++p)
      deviations[h][p] = weighted[h][p] * rstd + deviations[h][p] * slope + shift;
    store_pack<pack>(static_cast<T*>(args.out), row.first + i, deviations[h]);
  });
}

// The sums of neighbouring columns.
template <class V, int pack>
struct ColumnSums {
  GradientSums<V> at[pack];
};
template <class V, int pack>
struct JoinColumns {
  __device__ ColumnSums<V, pack> operator()(ColumnSums<V, pack> a,
                                            const ColumnSums<V, pack>& b) const {
#pragma unroll
    for (int p = 0; p < pack; ++p) a.at[p] = JoinSums<V>()(a.at[p], b.at[p]);
    return a;
  }
};

// Both at once, for a segment of the rows in each block: a thread has the same columns of several
// rows and keeps their sums.
template <class T, int pack, int held, bool centred>
__device__ inline void row_gradients(const NormArguments& args) {
  using V = Wide<T>;
  const LanePlace place(args.lanes, false, 0);
  const long long begin = blockIdx.x * args.segment_length;
  const long long end =
      begin + args.segment_length < args.rows ? begin + args.segment_length : args.rows;
  const int packs = static_cast<int>(args.columns);
  const V n = static_cast<V>(args.set_size);
  V weight[held][pack];
  ColumnSums<V, pack> sums[held] = {};
#pragma unroll
  for (int h = 0; h < held; ++h)
    if (const int i = place.lane + h * place.lanes; i < packs)
      load_pack<pack>(static_cast<const V*>(args.weight), i, weight[h]);
  for (long long first = begin; first < end; first += place.per_block) {
    const long long row = first + place.local;
    const bool inside = row < end;
    V x[held][pack], gradients[held][pack], mean = V(0), rstd = V(0);
    if (inside) {
      if constexpr (centred) mean = static_cast<const V*>(args.mean)[row];
      rstd = static_cast<const V*>(args.rstd)[row];
#pragma unroll
      for (int h = 0; h < held; ++h)
        if (const int i = place.lane + h * place.lanes; i < packs) {
          load_pack<pack>(static_cast<const T*>(args.x) + row * packs * pack, i, x[h]);
          load_pack<pack>(static_cast<const T*>(args.gradient) + row * packs * pack, i,
                          gradients[h]);
        }
    }
    GradientSums<V> own{};
    if (inside)
#pragma unroll
      for (int h = 0; h < held; ++h)
        if (place.lane + h * place.lanes < packs)
#pragma unroll
          for (int p = 0; p < pack; ++p) {
            const V gradient = gradients[h][p], deviation = x[h][p] - mean;
            const V weighted = gradient * weight[h][p];
            sums[h].at[p].total += gradient;
            sums[h].at[p].moment += gradient * (deviation * rstd);
            own.total += weighted;
            own.moment += weighted * deviation;
            x[h][p] = deviation;
            gradients[h][p] = weighted;
          }
    own = join_neighbours(place, own, JoinSums<V>());
    if (!inside) continue;
    const V slope = -rstd * rstd * rstd * (own.moment / n);
    const V shift = centred ? -rstd * (own.total / n) : V(0);
#pragma unroll
    for (int h = 0; h < held; ++h)
      if (const int i = place.lane + h * place.lanes; i < packs) {
#pragma unroll
        for (int p = 0; p < pack; ++p)
          x[h][p] = gradients[h][p] * rstd + x[h][p] * slope + shift;
        store_pack<pack>(static_cast<T*>(args.out) + row * packs * pack, i, x[h]);
      }
  }
  const LanePlace across(place.per_block, true, 0);  // threads that have the same columns
#pragma unroll
  for (int h = 0; h < held; ++h) {
    const auto all = join_lanes(across, sums[h], JoinColumns<V, pack>());
    const int i = place.lane + h * place.lanes;
    if (place.local == 0 && i < packs)
      static_cast<ColumnSums<V, pack>*>(args.partial)[blockIdx.x * args.columns + i] = all;
  }
}

// --- statistics

template <class T>
__device__ inline void deviations(const DeviationArguments& args) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.n) return;
  T& number = static_cast<T*>(args.numbers)[i];
  number = static_cast<T>(1 / math::sqrt(static_cast<double>(number) + args.eps));
}

template <class T>
__device__ inline void move_running(const RunningArguments& args) {
  const long long c = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (c >= args.channels) return;
  double total = 0;
  for (long long s = 0; s < args.samples; ++s) total += args.now[s * args.channels + c];
  if (args.size != 0) total *= args.size / (args.size - 1);
  double& running = args.running[c];
  running += args.momentum * (total / static_cast<double>(args.samples) - running);
}

}  // namespace fb::device
