// Scaled dot product attention: see Note [Attention on the device].
#include "cuda/attention.h"

#include <algorithm>

#include "core/error.h"
#include "core/tensor.h"
#include "cuda/device/attention_args.h"
#include "cuda/launch.h"
#include "cuda/loop.h"
#include "cuda/typed_kernel.h"

namespace fb::cuda {
namespace {

using device::AttentionPart;

TypedKernel tiles_kernel("attention_mma.cuh", "attention_by_tiles", "AttentionArguments");
TypedKernel part_kernel("attention.cuh", "attention_part", "AttentionArguments");
TypedKernel mean_kernel("attention.cuh", "attention_mean", "AttentionArguments");

device::HeadMatrices matrices_of(const kernel::HeadMatrices& given) {
  device::HeadMatrices result{given.data, {}, given.row, given.column};
  std::copy(given.lead.begin(), given.lead.end(), result.lead);
  return result;
}

device::AttentionArguments arguments_of(const kernel::AttentionCall& call) {
  FB_CHECK_AS(ErrorKind::kNotImplemented, call.batch.size() <= device::kAttentionDims,
              "no kernel on cuda for more than ", device::kAttentionDims, " dimensions of heads");
  device::AttentionArguments args{};
  for (const int64_t size : call.batch) args.batch[args.dims++] = size;
  args.heads = call.heads, args.queries = call.queries, args.keys = call.keys;
  args.features = call.features, args.value_features = call.value_features;
  args.query = matrices_of(call.query), args.key = matrices_of(call.key);
  args.value = matrices_of(call.value), args.output = matrices_of(call.output);
  if (call.mask.data) args.mask = matrices_of(call.mask);
  args.mask_is_bool = call.mask_is_bool, args.is_causal = call.is_causal;
  args.scale = call.scale;
  args.logsumexp = call.logsumexp;
  return args;
}

// Rows and columns of the target; a block of threads takes at most 256 columns.
void run(int device, DType dtype, AttentionPart part, device::AttentionArguments args, int64_t rows,
         int64_t columns) {
  if (args.heads * rows * columns == 0) return;
  int wide = 2;
  while (wide < 16 && 16 * wide < columns) wide *= 2;
  const int64_t side = dtype == DType::kFloat64 ? 32 : 64;
  args.row_blocks = (rows + side - 1) / side;
  args.column_blocks = (columns + 16 * wide - 1) / (16 * wide);
  const int number = 32 * static_cast<int>(part) + wide;
  const std::string variant =
      message_of("static_cast<AttentionPart>(", static_cast<int>(part), "), ", wide);
  launch(device, part_kernel.on(device, dtype, number, variant.c_str()),
         {static_cast<unsigned>(args.heads * args.row_blocks * args.column_blocks)}, 256, args);
}

// How a kernel by tensor cores shares the work: elements of a row, tiles of 16 rows that a warp
// has, warps of a block, rows of the other side that it streams at a time. None takes more than 99
// KB of shared memory, which is what the smallest of these GPUs have.
struct Cut {
  int features, tiles, warps, other;
};

Cut cut_of(AttentionPart part, int64_t features) {
  const bool is_output = part == AttentionPart::kOutput;
  if (features <= 32) return {32, 2, 4, is_output ? 64 : 32};
  if (features <= 64) return {64, 2, 4, is_output ? 64 : 32};
  if (features <= 128)
    return part == AttentionPart::kKeyValue ? Cut{128, 1, 8, 32}
                                            : Cut{128, is_output ? 2 : 1, 4, 32};
  return {256, 1, 4, is_output ? 32 : 16};
}

bool is_aligned(const device::HeadMatrices& m, int dims, int64_t columns) {
  int64_t steps = m.row | columns;
  for (int d = 0; d < dims; ++d) steps |= m.lead[d];
  return steps % 8 == 0 && reinterpret_cast<uintptr_t>(m.data) % 16 == 0;
}

constexpr int64_t kMostTileFeatures = 256, kMostInOnePass = 128, kMostRows = 1 << 30;

// Whether tensor cores take it; `args` says then how memory is read and written.
bool takes_tiles(int device, DType dtype, device::AttentionArguments& args) {
  const int64_t features = std::max(args.features, args.value_features);
  if (!is_reduced_float(dtype) || properties(device).major < 8 || features > kMostTileFeatures ||
      std::max(args.queries, args.keys) > kMostRows)
    return false;
  args.is_aligned = true;
  const auto note = [&](const device::HeadMatrices& m, int64_t columns) {
    if (m.data) args.is_aligned = args.is_aligned && is_aligned(m, args.dims, columns);
  };
  for (const device::HeadMatrices* m : {&args.query, &args.key}) note(*m, args.features);
  for (const device::HeadMatrices* m : {&args.value, &args.d_output}) note(*m, args.value_features);
  return true;
}

// One of the parts by tensor cores, which `target` (and `target_too`) of the arguments get.
void run_tiles(int device, DType dtype, AttentionPart part, device::AttentionArguments args) {
  const bool by_query = part == AttentionPart::kOutput || part == AttentionPart::kQuery;
  const bool has_slopes = part != AttentionPart::kOutput && part != AttentionPart::kValue;
  const int64_t rows = by_query ? args.queries : args.keys;
  const Cut cut = cut_of(part, std::max(args.features, args.value_features));
  const int own = 16 * cut.tiles * cut.warps;
  args.is_aligned = args.is_aligned &&
                    is_aligned(args.target, args.dims,
                               part == AttentionPart::kOutput || part == AttentionPart::kValue
                                   ? args.value_features
                                   : args.features) &&
                    (part != AttentionPart::kKeyValue ||
                     is_aligned(args.target_too, args.dims, args.value_features));
  args.row_blocks = (rows + own - 1) / own;
  const int64_t blocks = args.heads * args.row_blocks;
  if (blocks == 0) return;
  const int number = ((static_cast<int>(part) * 16 + cut.features / 32) * 4 + cut.tiles) * 1024 +
                     cut.warps * 64 + cut.other / 2;
  const std::string variant =
      message_of("static_cast<AttentionPart>(", static_cast<int>(part), "), ", cut.features, ", ",
                 cut.tiles, ", ", cut.warps, ", ", cut.other);
  const Function kernel = tiles_kernel.on(device, dtype, number, variant.c_str());
  // As AttentionByTiles::kBytes.
  const int bytes =
      ((has_slopes ? 2 : 1) * own + 4 * cut.other) * cut.features * 2 + 16 * cut.other;
  constexpr int kUsualBytes = 48 << 10, kMostDynamicBytes = 8;  // the attribute's number
  if (bytes > kUsualBytes) FB_CUDA(function_set, kernel, kMostDynamicBytes, bytes);
  launch(device, kernel, {static_cast<unsigned>(blocks)}, static_cast<unsigned>(32 * cut.warps),
         args, static_cast<unsigned>(bytes));
}

}  // namespace

bool attention_supports(DType) { return true; }

void attention(const kernel::AttentionCall& call) {
  const int device = place_of(call.output.data);
  use(device);
  device::AttentionArguments args = arguments_of(call);
  args.target = args.output;
  if (takes_tiles(device, call.dtype, args))
    return run_tiles(device, call.dtype, AttentionPart::kOutput, args);
  run(device, call.dtype, AttentionPart::kOutput, args, call.queries, call.value_features);
}

void attention_backward(const kernel::AttentionCall& call,
                        const kernel::AttentionGradients& gradients) {
  if (call.heads == 0) return;
  const int device = place_of(gradients.key.data ? gradients.key.data : gradients.query.data);
  use(device);
  device::AttentionArguments args = arguments_of(call);
  args.d_output = matrices_of(gradients.output);
  const int64_t queries = call.heads * call.queries;
  const Tensor means = make_tensor({queries}, compute_type(call.dtype),
                                   Device(DeviceType::kCuda, static_cast<int8_t>(device)));
  args.means = means.data();
  if (queries > 0)
    launch(device, mean_kernel.on(device, call.dtype), {blocks_for(queries, 256 / 32)}, 256, args);
  if (takes_tiles(device, call.dtype, args)) {
    args.target = matrices_of(gradients.query);
    run_tiles(device, call.dtype, AttentionPart::kQuery, args);
    args.target = matrices_of(gradients.key), args.target_too = matrices_of(gradients.value);
    // Sums for two gradients of long rows do not fit into registers.
    if (std::max(call.features, call.value_features) <= kMostInOnePass)
      return run_tiles(device, call.dtype, AttentionPart::kKeyValue, args);
    run_tiles(device, call.dtype, AttentionPart::kKey, args);
    args.target = args.target_too;
    return run_tiles(device, call.dtype, AttentionPart::kValue, args);
  }
  const auto compute = [&](AttentionPart part, const kernel::HeadMatrices& target, int64_t rows,
                           int64_t columns) {
    args.target = matrices_of(target);
    run(device, call.dtype, part, args, rows, columns);
  };
  compute(AttentionPart::kQuery, gradients.query, call.queries, call.features);
  compute(AttentionPart::kKey, gradients.key, call.keys, call.features);
  compute(AttentionPart::kValue, gradients.value, call.keys, call.value_features);
}

}  // namespace fb::cuda
