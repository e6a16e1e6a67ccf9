// The gradients of grid_sample: in one pass, or composed of operators where they are to be
// differentiated again.
#include "kernel/resample_grid.h"

#include "autograd/formula.h"
#include "autograd/formulas/resample.h"
#include "gen/ops/copy.h"
#include "gen/ops/create.h"
#include "gen/ops/index.h"
#include "gen/ops/reduce.h"
#include "gen/ops/resample.h"
#include "gen/ops/rounding.h"
#include "gen/ops/shape.h"
#include "gen/ops/view.h"

namespace fb::autograd::formula {
namespace {

using kernel::GridMode;
using kernel::GridPadding;

// A position on the image, and its derivative with respect to the coordinate it comes from.
struct Position {
  Tensor value, slope;
};

// A pixel that points are interpolated from, along one coordinate: its position, its weight, and
// the derivative of the weight.
struct Tap {
  Tensor pixel, weight, slope;
};

// The kernel's Axis (cpu/kernels/resample_grid.cpp), in operators.
class Axis {
 public:
  Axis(int64_t size, GridMode mode, GridPadding padding, bool align_corners)
      : size_(size),
        low_(align_corners ? 0 : -0.5),
        span_(static_cast<double>(align_corners ? size - 1 : size)),
        mode_(mode),
        padding_(padding) {}

  std::vector<Tap> taps(const Tensor& coordinate) const {
    const Tensor still = ops::new_zeros(coordinate, coordinate.sizes());
    const Position on_image{(coordinate + 1) * (span_ / 2) + low_, still + span_ / 2};
    if (mode_ == GridMode::kBicubic) return cubic(on_image, still);
    const Position p = padded(on_image);
    if (mode_ == GridMode::kNearest) return {tap(ops::round(p.value), still + 1, still)};
    const Tensor low = ops::floor(p.value);
    const Tensor right = p.value - low;
    return {tap(low, 1 - right, -p.slope), tap(low + 1, right, p.slope)};
  }

 private:
  // Pixels outside of the image have weight 0.
  Tap tap(const Tensor& pixel, const Tensor& weight, const Tensor& slope) const {
    const Tensor holds = ops::ge(pixel, 0) & ops::lt(pixel, static_cast<double>(size_));
    return {ops::to_dtype(ops::where(holds, pixel, 0), DType::kInt64), ops::where(holds, weight, 0),
            ops::where(holds, slope, 0)};
  }

  Position padded(Position p) const {
    if (padding_ == GridPadding::kZeros) return p;
    if (padding_ == GridPadding::kReflection) p = reflected(p);
    const auto last = static_cast<double>(size_ - 1);
    const Tensor inside = ops::gt(p.value, 0) & ops::lt(p.value, last);
    const Tensor value = ops::where(ops::isnan(p.value), 0, p.value);
    return {ops::clamp(value, Scalar(0.0), Scalar(last)), ops::where(inside, p.slope, 0)};
  }

  Position reflected(const Position& p) const {
    if (span_ == 0) return {p.value * 0, p.slope * 0};
    const Tensor from_low = p.value - low_;
    const Tensor distance = ops::abs(from_low);
    const Tensor reflections = ops::floor(distance / span_);
    const Tensor rest = distance - reflections * span_;
    const Tensor odd = ops::ne(reflections - ops::floor(reflections / 2) * 2, 0);
    const Tensor slope = ops::where(ops::lt(from_low, 0), -p.slope, p.slope);
    return {ops::where(odd, span_ - rest, rest) + low_, ops::where(odd, -slope, slope)};
  }

  std::vector<Tap> cubic(const Position& p, const Tensor& still) const {
    const auto near = [](const Tensor& x) { return (x * 1.25 - 2.25) * x * x + 1; };
    const auto far = [](const Tensor& x) { return (((x - 5) * x + 8) * x - 4) * -0.75; };
    const auto near_slope = [](const Tensor& x) { return (x * 3.75 - 4.5) * x; };
    const auto far_slope = [](const Tensor& x) { return ((x * 3 - 10) * x + 8) * -0.75; };
    const Tensor low = ops::floor(p.value);
    const Tensor t = p.value - low, rest = 1 - t;
    const auto at = [&](double k, const Tensor& weight, const Tensor& slope) {
      return tap(ops::round(padded({low + k, still}).value), weight, slope * p.slope);
    };
    return {at(-1, far(t + 1), far_slope(t + 1)), at(0, near(t), near_slope(t)),
            at(1, near(rest), -near_slope(rest)), at(2, far(rest + 1), -far_slope(rest + 1))};
  }

  const int64_t size_;
  const double low_, span_;
  const GridMode mode_;
  const GridPadding padding_;
};

// The gradients of one pixel of every point, summed up by the caller.
class Composed {
 public:
  Composed(const Tensor& grad, const Tensor& input, const Tensor& grid)
      : rank_(grid.size(-1)),
        grad_(ops::reshape(grad, {input.size(0), input.size(1), -1})),
        image_(ops::reshape(input, {input.size(0), input.size(1), -1})),
        of_image_(ops::new_zeros(image_, image_.sizes())),
        of_coordinates_(static_cast<size_t>(rank_)) {}

  // `taps` has one for each coordinate, `sizes` the image's sizes in the same order.
  void add(const std::vector<const Tap*>& taps, IntSpan sizes, std::array<bool, 2> needed) {
    Tensor pixel = taps.back()->pixel;
    Tensor weight = taps.back()->weight;
    for (size_t a = taps.size() - 1; a-- > 0;) {
      pixel = pixel * sizes[a] + taps[a]->pixel;
      weight = weight * taps[a]->weight;
    }
    const Tensor index = ops::expand(ops::unsqueeze(pixel, 1), grad_.sizes());
    if (needed[0])
      of_image_ = ops::scatter_add(of_image_, 2, index, grad_ * ops::unsqueeze(weight, 1));
    if (!needed[1]) return;
    const Tensor change = ops::sum(ops::gather(image_, 2, index) * grad_, IntSpan({1}));
    for (size_t a = 0; a < taps.size(); ++a) {
      Tensor term = change * taps[a]->slope;
      for (size_t b = 0; b < taps.size(); ++b)
        if (b != a) term = term * taps[b]->weight;
      of_coordinates_[a] = of_coordinates_[a] ? of_coordinates_[a] + term : term;
    }
  }

  Tensor of_image(IntSpan shape) const { return ops::reshape(of_image_, shape); }
  Tensor of_grid(IntSpan shape) const {
    return ops::reshape(ops::stack(of_coordinates_, -1), shape);
  }

 private:
  const int64_t rank_;
  const Tensor grad_, image_;
  Tensor of_image_;
  std::vector<Tensor> of_coordinates_;
};

std::array<Tensor, 2> composed(const Tensor& grad, const Tensor& input, const Tensor& grid,
                               GridMode mode, GridPadding padding, bool align_corners,
                               std::array<bool, 2> needed) {
  const int64_t rank = grid.size(-1);
  const Tensor points = ops::reshape(grid, {grid.size(0), -1, rank});
  Dims sizes;
  std::vector<std::vector<Tap>> axes;
  for (int64_t a = 0; a < rank; ++a) {
    sizes.push_back(input.size(-1 - a));
    axes.push_back(
        Axis(sizes.back(), mode, padding, align_corners).taps(ops::select(points, 2, a)));
  }
  Composed sums(grad, input, grid);
  const size_t count = axes[0].size();
  size_t combinations = 1;
  for (int64_t a = 0; a < rank; ++a) combinations *= count;
  for (size_t c = 0; c < combinations; ++c) {
    std::vector<const Tap*> taps;
    size_t rest = c;
    for (const std::vector<Tap>& axis : axes) {
      taps.push_back(&axis[rest % count]);
      rest /= count;
    }
    sums.add(taps, sizes, needed);
  }
  return {needed[0] ? sums.of_image(input.sizes()) : Tensor(),
          needed[1] ? sums.of_grid(grid.sizes()) : Tensor()};
}

}  // namespace

std::array<Tensor, 2> grid_sampler_backward(const Tensor& grad, const Tensor& input,
                                            const Tensor& grid, int64_t mode, int64_t padding,
                                            bool align_corners, std::array<bool, 2> needed) {
  if (is_differentiated(grad, input, grid))
    return composed(grad, input, grid, static_cast<GridMode>(mode),
                    static_cast<GridPadding>(padding), align_corners, needed);
  auto [of_input, of_grid] = ops::_grid_sampler_backward(grad, input, grid, mode, padding,
                                                         align_corners, needed[0], needed[1]);
  return {needed[0] ? of_input : Tensor(), needed[1] ? of_grid : Tensor()};
}

}  // namespace fb::autograd::formula
