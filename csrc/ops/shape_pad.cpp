// Padding.
#include "cpu/copy.h"
#include "gen/ops/index.h"
#include "gen/ops/shape.h"
#include "gen/ops/view.h"
#include "ops/output.h"

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
}

// For every place of the padded dimension the place of the source that it shows.
Tensor source_positions(int64_t size, int64_t before, int64_t after, PadMode mode) {
  const int64_t total = size + before + after;
  FB_CHECK(total > 0, "padding by ", before, " and ", after,
           " leaves nothing of a dimension of size ", size);
  if (mode == PadMode::kReflect)
    FB_CHECK(before < size && after < size,
             "reflection needs padding smaller than the dimension's size ", size, ", got ", before,
             " and ", after);
  if (mode == PadMode::kCircular)
    FB_CHECK(before <= size && after <= size,
             "circular padding must not wrap around more than once: got ", before, " and ", after,
             " for a dimension of size ", size);
  FB_CHECK(size > 0, "an empty dimension has nothing to pad with");
  const Tensor positions = make_tensor({total}, DType::kInt64);
  auto* position = positions.data_as<int64_t>();
  for (int64_t i = 0; i < total; ++i) {
    int64_t from = i - before;
    if (mode == PadMode::kReplicate) from = std::clamp<int64_t>(from, 0, size - 1);
    if (mode == PadMode::kCircular) from = (from + size) % size;
    if (mode == PadMode::kReflect) {
      if (from < 0) from = -from;
      if (from >= size) from = 2 * (size - 1) - from;
    }
    position[i] = from;
  }
  return positions;
}

}  // namespace

Tensor compute::constant_pad_nd(const Tensor& input, IntSpan pad, const Scalar& value) {
  check_pairs(input, pad);
  if (std::all_of(pad.begin(), pad.end(), [](int64_t size) { return size == 0; }))
    return copy_of(input);
  Dims shape = input.sizes().vec();
  // The window of the source that stays, and the one of the result that it fills.
  Tensor kept = input;
  Dims starts(shape.size(), 0);
  for (size_t pair = 0; pair < pad.size() / 2; ++pair) {
    const size_t d = shape.size() - 1 - pair;
    const int64_t before = pad[2 * pair], after = pad[2 * pair + 1];
    shape[d] += before + after;
    FB_CHECK(shape[d] >= 0, "padding ", pad, " cuts more off shape ", input.sizes(),
             " than there is");
    const int64_t cut = std::max<int64_t>(-before, 0);
    const int64_t length =
        std::max<int64_t>(input.sizes()[d] - cut - std::max<int64_t>(-after, 0), 0);
    kept = narrow(kept, static_cast<int64_t>(d), std::min(cut, input.sizes()[d]), length);
    starts[d] = std::max<int64_t>(before, 0);
  }
  Tensor out = make_tensor(shape, input.dtype(), input.device());
  if (kept.sizes() != IntSpan(shape)) cpu::fill(out, value);
  Tensor window = out;
  for (size_t d = 0; d < shape.size(); ++d)
    window =
        narrow(window, static_cast<int64_t>(d), std::min(starts[d], shape[d]), kept.sizes()[d]);
  cpu::copy(window, kept);
  return out;
}

Tensor pad(const Tensor& input, IntSpan pad, const std::string& mode, std::optional<Scalar> value) {
  if (mode == "constant") return constant_pad_nd(input, pad, value.value_or(0));
  FB_CHECK_VALUE(!value || value->to<double>() == 0, "padding mode '", mode, "' takes no value");
  const PadMode kind = pad_mode(mode);
  check_pairs(input, pad);
  const auto pairs = static_cast<int64_t>(pad.size() / 2);
  FB_CHECK_AS(ErrorKind::kNotImplemented,
              pairs >= 1 && pairs <= 3 && (input.dim() == pairs + 1 || input.dim() == pairs + 2),
              "padding mode '", mode,
              "' pads the last 1 to 3 dimensions of tensors that have one or two more, got pad ",
              pad, " and shape ", input.sizes());
  Tensor result = input;
  for (int64_t pair = 0; pair < pairs; ++pair) {
    const int64_t d = input.dim() - 1 - pair;
    const Tensor positions =
        source_positions(input.sizes()[d], pad[2 * pair], pad[2 * pair + 1], kind);
    result = index_select(result, d, positions);
  }
  return result;
}

}  // namespace fb::ops
