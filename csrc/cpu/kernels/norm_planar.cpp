// Normalisation of images that are stored plane by plane.
#include <vector>

#include "cpu/kernels/norm_sets.h"

namespace fb::cpu::FB_ISA {
namespace {

// The planes that make up each set.
struct Planes {
  explicit Planes(const ImageNorm& shape)
      : shape(shape), runs(shape.groups ? shape.channels / shape.groups : shape.batch) {}

  int64_t start(int64_t set, int64_t run) const {
    return (shape.groups ? set * runs + run : run * shape.channels + set) * shape.plane;
  }
  int64_t channel(int64_t set, int64_t run) const {
    return shape.groups ? set % shape.groups * runs + run : set;
  }

  const ImageNorm& shape;
  const int64_t runs;
};

template <class T>
void forward(const ImageNorm& shape, const T* x, T* y, const NormForward& numbers) {
  using A = AccOf<T>;
  const Planes planes(shape);
  std::vector<Moments> parts(numbers.variance ? shape.sets() * planes.runs : 0);
  over_sets(
      shape.sets(), planes.runs, shape.plane,
      [&](int64_t set, int64_t run) {
        if (numbers.variance)
          parts[set * planes.runs + run] = moments_of(x + planes.start(set, run), shape.plane);
      },
      [&](int64_t set) {
        if (!numbers.variance) return;
        Moments all{0, 0, 0};
        for (int64_t run = 0; run < planes.runs; ++run) all.join(parts[set * planes.runs + run]);
        write_statistics<A>(numbers, set, all);
      },
      [&](int64_t set, int64_t run) {
        const int64_t channel = planes.channel(set, run), start = planes.start(set, run);
        const A mean = static_cast<const A*>(numbers.mean)[set];
        const A scale = static_cast<const A*>(numbers.rstd)[set] *
                        static_cast<const A*>(numbers.weight)[channel];
        const A bias = static_cast<const A*>(numbers.bias)[channel];
        for_vectors<A>(shape.plane, [&](auto width, int64_t i) {
          constexpr int W = decltype(width)::value;
          put<W>(y + start + i, (load<A, W>(x + start + i) - mean) * scale + bias);
        });
      });
}

template <class T>
void backward(const ImageNorm& shape, const T* g, const T* x, T* out, const NormBackward& numbers) {
  using A = AccOf<T>;
  struct Sums {
    double total[2];  // of g and of g * (x - mean)
  };
  const Planes planes(shape);
  const A* const weight = static_cast<const A*>(numbers.weight);
  const A* const mean = static_cast<const A*>(numbers.mean);
  const A* const rstd = static_cast<const A*>(numbers.rstd);
  std::vector<Sums> parts(shape.sets() * planes.runs);
  std::vector<SetGradient<A>> gradients(shape.sets(), SetGradient<A>(0, 0, true, 0, 0, 0));
  over_sets(
      shape.sets(), planes.runs, shape.plane,
      [&](int64_t set, int64_t run) {
        const int64_t start = planes.start(set, run);
        const A centre = mean[set];
        Sums sums{};
        add_up<A>(shape.plane, sums.total, [&](auto width, int64_t i, auto& s) {
          constexpr int W = decltype(width)::value;
          const auto gradient = load<A, W>(g + start + i);
          s[0] += gradient;
          s[1] += gradient * (load<A, W>(x + start + i) - centre);
        });
        parts[set * planes.runs + run] = sums;
      },
      [&](int64_t set) {
        double total = 0, moment = 0;
        for (int64_t run = 0; run < planes.runs; ++run) {
          const Sums& part = parts[set * planes.runs + run];
          const double w = static_cast<double>(weight[planes.channel(set, run)]);
          total += w * part.total[0];
          moment += w * part.total[1];
        }
        gradients[set] =
            SetGradient<A>(mean[set], rstd[set], numbers.given, total, moment, shape.set_size());
      },
      [&](int64_t set, int64_t run) {
        const int64_t start = planes.start(set, run);
        const SetGradient<A> gradient = gradients[set];
        const A scale = gradient.rstd * weight[planes.channel(set, run)];
        for_vectors<A>(shape.plane, [&](auto width, int64_t i) {
          constexpr int W = decltype(width)::value;
          const auto deviation = load<A, W>(x + start + i) - gradient.mean;
          put<W>(out + start + i,
                 load<A, W>(g + start + i) * scale + deviation * gradient.slope + gradient.shift);
        });
      });
  std::vector<Sums> channels(shape.channels, Sums{});
  for (int64_t set = 0; set < shape.sets(); ++set)
    for (int64_t run = 0; run < planes.runs; ++run) {
      Sums& sums = channels[planes.channel(set, run)];
      const Sums& part = parts[set * planes.runs + run];
      sums.total[0] += part.total[0];
      sums.total[1] += part.total[1] * static_cast<double>(rstd[set]);
    }
  for (int64_t c = 0; c < shape.channels; ++c) {
    static_cast<A*>(numbers.bias_grad)[c] = static_cast<A>(channels[c].total[0]);
    static_cast<A*>(numbers.weight_grad)[c] = static_cast<A>(channels[c].total[1]);
  }
}

}  // namespace

void norm_planar(DType dtype, const ImageNorm& shape, const void* x, void* y,
                 const NormForward& numbers) {
  with_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    forward(shape, static_cast<const T*>(x), static_cast<T*>(y), numbers);
  });
}

void norm_planar_backward(DType dtype, const ImageNorm& shape, const void* gradient, const void* x,
                          void* out, const NormBackward& numbers) {
  with_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    backward(shape, static_cast<const T*>(gradient), static_cast<const T*>(x), static_cast<T*>(out),
             numbers);
  });
}

}  // namespace fb::cpu::FB_ISA
