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

}  // namespace

bool attention_supports(DType) { return true; }

void attention(const kernel::AttentionCall& call) {
  const int device = place_of(call.output.data);
  use(device);
  device::AttentionArguments args = arguments_of(call);
  args.target = args.output;
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
