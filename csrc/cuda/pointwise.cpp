// Pointwise operators.
#include "cuda/pointwise.h"

#include "cuda/device/frexp_args.h"
#include "cuda/launch.h"
#include "cuda/loop.h"
#include "cuda/typed_kernel.h"

namespace fb::cuda {

using Kind = LoopOperand::Kind;

static TypedKernel frexp_kernel("frexp.cuh", "split_element", "FrexpArguments");

void pointwise_run(const kernel::PointwiseRun& run) {
  FlatCall call;
  call.device = place_of(run.out);
  call.function = static_cast<int>(run.function);
  call.dtype = run.dtype;
  call.inputs = run.inputs;
  for (int i = 0; i < run.inputs; ++i) {
    LoopOperand& in = call.in[i];
    in.kind = run.fixed >> i & 1 ? Kind::kNumber : Kind::kArray;
    in.memory = in.kernel = run.bool_inputs >> i & 1 ? DType::kBool : run.dtype;
    in.data = run.in[i];
  }
  call.params = run.params;
  call.out = run.out;
  call.out_memory = run.out_dtype;
  run_contiguous(call, run.n);
}

void pointwise(const kernel::PointwiseCall& given) {
  const Tensor& out = *given.out;
  if (out.numel() == 0) return;
  LoopCall call;
  alignas(16) char numbers[kernel::kMaxPointwiseInputs][16];
  call.device = place_of(out);
  call.function = static_cast<int>(given.function);
  call.dtype = given.dtype;
  call.inputs = given.inputs;
  for (int i = 0; i < given.inputs; ++i) {
    const kernel::PointwiseInput& input = given.input[i];
    LoopOperand& in = call.in[i];
    in.kernel = in.memory = input.kernel_dtype;
    if (!input.tensor) {
      in.kind = Kind::kNumber;
      in.data = input.value;
    } else if (input.tensor->device() == kHost) {  // a single number in the host's memory
      Scalar::load(input.tensor->dtype(), input.tensor->data()).store(in.kernel, numbers[i]);
      in.kind = Kind::kNumber;
      in.data = numbers[i];
    } else {
      in.memory = input.tensor->dtype();
      in.data = input.tensor->data();
      in.kind = input.tensor->numel() == 1 ? Kind::kElement : Kind::kArray;
      if (in.kind == Kind::kArray) call.strides[i] = byte_strides(*input.tensor, out.sizes());
    }
  }
  call.params = given.params;
  call.out = out.data();
  call.out_memory = out.dtype();
  call.out_strides = byte_strides(out, out.sizes());
  run_loop(call, out.sizes(), given.order);
}

void frexp(DType dtype, int64_t n, const void* in, void* mantissa, int32_t* exponent) {
  if (n == 0) return;
  const int device = place_of(in);
  use(device);
  const device::FrexpArguments args{in, mantissa, exponent, n};
  launch(device, frexp_kernel.on(device, dtype), {blocks_for(n, 256)}, 256, args);
}

}  // namespace fb::cuda
