// Padding.
#include "gen/ops/padding.h"

#include "gen/ops/index.h"
#include "gen/ops/view.h"
#include "kernel/table.h"
#include "ops/held.h"
#include "ops/host.h"
#include "ops/output.h"
#include "ops/separable.h"

namespace fb::ops {
namespace {

enum class PadMode { kReflect, kReplicate, kCircular };

PadMode pad_mode(const std::string& name) {
  if (name == "reflect") return PadMode::kReflect;
  if (name == "replicate") return PadMode::kReplicate;
  FB_CHECK_AS(ErrorKind::kNotImplemented, name == "circular", "unrecognised padding mode '", name,
              "': expected constant, reflect, replicate or circular");
  return PadMode::kCircular;
}

void check_pairs(const Tensor& input, IntSpan pad) {
  FB_CHECK(pad.size() % 2 == 0, "pad must hold pairs, got ", pad);
  FB_CHECK(static_cast<int64_t>(pad.size()) <= 2 * input.dim(), "pad ", pad,
           " has more pairs than shape ", input.sizes(), " has dimensions");
  constexpr int64_t kMost = int64_t{1} << 60;  // sums of it stay within int64
  for (const int64_t width : pad)
    FB_CHECK(width >= -kMost && width <= kMost, "pad is out of range: ", pad);
}

// Before any memory is asked for, so that every machine says the same.
void check_border(int64_t size, int64_t before, int64_t after, PadMode mode) {
  const int64_t total = size + before + after;
  FB_CHECK(total > 0, "padding by ", before, " and ", after,
           " leaves nothing of a dimension of size ", size);
  if (mode == PadMode::kReflect)
    FB_CHECK(before < size && after < size,
             "reflection needs padding smaller than the dimension's size ", size, ", got ", before,
             " and ", after);
  if (mode == PadMode::kCircular)
    FB_CHECK(before <= size && after <= size &&
                 size > -std::min<int64_t>(before, 0) - std::min<int64_t>(after, 0),
             "circular padding must not wrap around more than once: got ", before, " and ", after,
             " for a dimension of size ", size);
  FB_CHECK(size > 0, "cannot pad an empty dimension from its elements");
  FB_CHECK(total <= std::numeric_limits<int32_t>::max(), "padding by ", before, " and ", after,
           " makes a dimension of size ", size, " longer than 2^31 - 1");
}

// For every position of a padded dimension the position of the source that it shows.
std::vector<int64_t> source_positions(int64_t size, int64_t before, int64_t after, PadMode mode) {
  check_border(size, before, after, mode);
  const int64_t total = size + before + after;
  // Circular padding does not reuse the elements that a negative width cuts off.
  const int64_t cut = std::max<int64_t>(-before, 0);
  const int64_t kept = size - cut - std::max<int64_t>(-after, 0);
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < total; ++i) {
    int64_t from = i - before;
    if (mode == PadMode::kReplicate) from = std::clamp<int64_t>(from, 0, size - 1);
    if (mode == PadMode::kCircular) from = cut + ((from - cut) % kept + kept) % kept;
    if (mode == PadMode::kReflect) {
      if (from < 0) from = -from;
      if (from >= size) from = 2 * (size - 1) - from;
    }
    positions.push_back(from);
  }
  return positions;
}

// The map of each padded dimension, in their order; `padding` starts with the last.
Separable padding_maps(IntSpan space, IntSpan padding, PadMode mode) {
  Separable maps;
  for (size_t i = 0; i < space.size(); ++i) {
    const size_t pair = space.size() - 1 - i;
    kernel::AxisMapMaker maker(space[i]);
    for (const int64_t position :
         source_positions(space[i], padding[2 * pair], padding[2 * pair + 1], mode)) {
      maker.begin_row();
      maker.add(position, 1);
    }
    maps.push_back(maker.finish());
  }
  return maps;
}

// The kernel's weighted sums take floats only: integers are picked, dimension by dimension.
Tensor picked(const Tensor& input, IntSpan padding, PadMode mode) {
  Tensor result = input;
  for (size_t pair = 0; pair < padding.size() / 2; ++pair) {
    const int64_t d = input.dim() - 1 - static_cast<int64_t>(pair);
    const std::vector<int64_t> positions =
        source_positions(input.sizes()[d], padding[2 * pair], padding[2 * pair + 1], mode);
    result = compute::index_select(result, d, device_integers(positions, input.device()));
  }
  if (mode == PadMode::kCircular) return result;
  Tensor out = make_image_of(input, result.sizes());
  kernel::copy(out, result);
  return out;
}

Tensor bordered(const Tensor& input, IntSpan padding, PadMode mode) {
  check_pairs(input, padding);
  Dims sizes = input.sizes().vec();
  for (size_t pair = 0; pair < padding.size() / 2; ++pair) {
    int64_t& size = sizes[sizes.size() - 1 - pair];
    check_border(size, padding[2 * pair], padding[2 * pair + 1], mode);
    size += padding[2 * pair] + padding[2 * pair + 1];
  }
  check_memory(sizes, input.dtype(), input.device());
  if (!is_floating(input.dtype()) && !is_complex(input.dtype()))
    return picked(input, padding, mode);
  const auto rank = static_cast<int64_t>(padding.size() / 2);
  // PyTorch keeps the order of the channels in all modes but this.
  const Image image =
      mode == PadMode::kCircular ? Image(input, rank, input->deferred_layout) : Image(input, rank);
  return run_separable(image, padding_maps(image.space(), padding, mode));
}

using Border = Tensor (*)(const Tensor&, IntSpan);
constexpr Border kBorders[3][3] = {
    {ops::_reflection_pad1d, ops::_reflection_pad2d, ops::_reflection_pad3d},
    {ops::_replication_pad1d, ops::_replication_pad2d, ops::_replication_pad3d},
    {ops::_circular_pad1d, ops::_circular_pad2d, ops::_circular_pad3d},
};

}  // namespace

Tensor compute::constant_pad_nd(const Tensor& input, IntSpan pad, const Scalar& value) {
  check_pairs(input, pad);
  check_held(input.dtype(), value);
  if (std::all_of(pad.begin(), pad.end(), [](int64_t size) { return size == 0; }))
    return copy_of(input);
  Dims shape = input.sizes().vec();
  // The part of the source that stays, and the part of the result that it fills.
  Tensor kept = input;
  Dims starts(shape.size(), 0);
  for (size_t pair = 0; pair < pad.size() / 2; ++pair) {
    const size_t d = shape.size() - 1 - pair;
    const int64_t before = pad[2 * pair], after = pad[2 * pair + 1];
    shape[d] += before + after;
    FB_CHECK(shape[d] >= 0, "padding ", pad, " removes more from shape ", input.sizes(),
             " than it has");
    const int64_t cut = std::max<int64_t>(-before, 0);
    const int64_t length =
        std::max<int64_t>(input.sizes()[d] - cut - std::max<int64_t>(-after, 0), 0);
    kept = ops::narrow(kept, static_cast<int64_t>(d), std::min(cut, input.sizes()[d]), length);
    starts[d] = std::max<int64_t>(before, 0);
  }
  Tensor out = make_image_of(input, shape);
  if (kept.sizes() != IntSpan(shape)) kernel::of(out).fill(out, value);
  Tensor window = out;
  for (size_t d = 0; d < shape.size(); ++d)
    window = ops::narrow(window, static_cast<int64_t>(d), std::min(starts[d], shape[d]),
                         kept.sizes()[d]);
  kernel::copy(window, kept);
  return out;
}

Tensor nn_functional_pad(const Tensor& input, IntSpan pad, const std::string& mode,
                         std::optional<Scalar> value) {
  if (mode == "constant") return ops::constant_pad_nd(input, pad, value.value_or(0));
  const PadMode kind = pad_mode(mode);
  FB_CHECK(!value || value->to<double>() == 0, "padding mode '", mode, "' takes no value");
  check_pairs(input, pad);
  const auto pairs = static_cast<int64_t>(pad.size() / 2);
  FB_CHECK_AS(ErrorKind::kNotImplemented,
              pairs >= 1 && pairs <= 3 && (input.dim() == pairs + 1 || input.dim() == pairs + 2),
              "padding mode '", mode,
              "' pads the last 1 to 3 dimensions of tensors that have one or two more, got pad ",
              pad, " and shape ", input.sizes());
  return kBorders[static_cast<size_t>(kind)][pairs - 1](input, pad);
}

// One operator for each, as in PyTorch, whose graph names them.
#define FB_BORDER(name, mode)                                             \
  Tensor compute::_##name##_pad1d(const Tensor& input, IntSpan padding) { \
    return bordered(input, padding, mode);                                \
  }                                                                       \
  Tensor compute::_##name##_pad2d(const Tensor& input, IntSpan padding) { \
    return bordered(input, padding, mode);                                \
  }                                                                       \
  Tensor compute::_##name##_pad3d(const Tensor& input, IntSpan padding) { \
    return bordered(input, padding, mode);                                \
  }
FB_BORDER(reflection, PadMode::kReflect)
FB_BORDER(replication, PadMode::kReplicate)
FB_BORDER(circular, PadMode::kCircular)
#undef FB_BORDER

Tensor compute::_pad_backward(const Tensor& gradient, IntSpan shape, bool channels_last,
                              IntSpan padding, const std::string& mode) {
  const size_t rank = padding.size() / 2;
  const Image image(gradient, static_cast<int64_t>(rank), channels_last);
  return run_separable(image, transposed(padding_maps(shape.last(rank), padding, pad_mode(mode))));
}

}  // namespace fb::ops
