// Max pooling.
//
// Kernels compute windows from the numbers that describe them: the lists of a plan stay where they
// are.
#include "cuda/pool.h"

#include "core/error.h"
#include "cuda/allocator.h"
#include "cuda/device/pool_args.h"
#include "cuda/device_error.h"
#include "cuda/launch.h"
#include "cuda/loop.h"
#include "cuda/typed_kernel.h"

namespace fb::cuda {
namespace {

using kernel::FractionalPlan;
using kernel::PoolPlan;

TypedKernel pool_kernel("pool.cuh", "max_pool", "PoolArguments");
TypedKernel gather_kernel("pool.cuh", "max_pool_gather", "PoolArguments");
TypedKernel add_kernel("pool.cuh", "max_pool_add", "PoolArguments");
TypedKernel pick_kernel("pool.cuh", "max_pool_pick", "PoolArguments");
TypedKernel own_kernel("pool.cuh", "max_unpool_own", "PoolArguments");
TypedKernel store_kernel("pool.cuh", "max_unpool_store", "PoolArguments");
TypedKernel fractional_kernel("pool.cuh", "fractional_max_pool", "FractionalArguments");

bool has_windows(const PoolPlan& plan) {
  for (const kernel::PoolAxis& axis : plan.axis)
    if (axis.stride == 0 && !axis.is_even) return false;
  return true;
}

device::PoolArguments arguments_of(const PoolPlan& plan, const void* in, const uint8_t* numbers,
                                   const int64_t* indices, void* out) {
  device::PoolArguments args{};
  for (int i = 0; i < 3; ++i) {
    const kernel::PoolAxis& axis = plan.axis[i];
    args.side[i] = {axis.in, axis.out, axis.kernel, axis.stride, axis.dilation, axis.padding};
  }
  args.planes = plan.planes;
  args.inner = plan.inner;
  args.in = in;
  args.out = out;
  args.numbers = const_cast<uint8_t*>(numbers);
  args.indices = reinterpret_cast<long long*>(const_cast<int64_t*>(indices));
  return args;
}

// A thread for each of n elements.
void run(TypedKernel& kernel, DType dtype, int64_t n, device::PoolArguments& args) {
  if (n == 0) return;
  const int device = place_of(args.out);
  use(device);
  args.n = n;
  args.error = error_site(device, "max_pool");
  launch(device, kernel.on(device, dtype), {blocks_for(n, 256)}, 256, args);
}

int64_t results(const PoolPlan& plan) { return plan.planes * plan.out_size() * plan.inner; }
int64_t inputs(const PoolPlan& plan) { return plan.planes * plan.in_size() * plan.inner; }

void set_all_bytes(void* out, unsigned char value, size_t bytes) {
  if (bytes == 0) return;
  const int device = place_of(out);
  use(device);
  FB_CUDA(set_bytes, reinterpret_cast<Address>(out), value, bytes, current_stream(device));
}

}  // namespace

void max_pool(DType dtype, const PoolPlan& plan, const void* in, void* out, uint8_t* numbers,
              int64_t* indices) {
  FB_CHECK_AS(ErrorKind::kNotImplemented, has_windows(plan), "no kernel on cuda for these windows");
  device::PoolArguments args = arguments_of(plan, in, numbers, indices, out);
  run(pool_kernel, dtype, results(plan), args);
}

void max_pool_scatter(DType dtype, const PoolPlan& plan, const void* gradient,
                      const uint8_t* numbers, const int64_t* indices, void* out) {
  device::PoolArguments args = arguments_of(plan, gradient, numbers, indices, out);
  if (has_windows(plan)) return run(gather_kernel, dtype, inputs(plan), args);
  set_all_bytes(out, 0, static_cast<size_t>(inputs(plan)) * size_of(dtype));
  run(add_kernel, dtype, results(plan) ? plan.planes * plan.inner : 0, args);
}

void max_pool_pick(DType dtype, const PoolPlan& plan, const void* in, const uint8_t* numbers,
                   const int64_t* indices, void* out) {
  device::PoolArguments args = arguments_of(plan, in, numbers, indices, out);
  run(pick_kernel, dtype, results(plan), args);
}

void max_unpool(DType dtype, const PoolPlan& plan, const void* in, const int64_t* indices,
                void* out) {
  if (results(plan) == 0) return;
  FB_CHECK_AS(ErrorKind::kNotImplemented, plan.out_size() < int64_t{1} << 31,
              "no kernel on cuda for planes of so many elements");
  device::PoolArguments args = arguments_of(plan, in, nullptr, indices, out);
  const size_t bytes = static_cast<size_t>(inputs(plan)) * sizeof(int);
  const Storage owners =
      allocate(bytes, Device(DeviceType::kCuda, static_cast<int8_t>(place_of(out))));
  args.owners = static_cast<int*>(owners->data);
  set_all_bytes(owners->data, 0xff, bytes);  // -1: nobody's
  run(own_kernel, dtype, results(plan), args);
  run(store_kernel, dtype, results(plan), args);
}

void fractional_max_pool(DType dtype, const FractionalPlan& plan, const void* samples,
                         const void* in, void* out, int64_t* indices) {
  device::FractionalArguments args{};
  args.n = plan.planes;
  for (int a = 0; a < 3; ++a) {
    args.in[a] = plan.in[a], args.out[a] = plan.out[a], args.kernel[a] = plan.kernel[a];
    args.sample[a] = a < 3 - plan.rank ? -1 : static_cast<int>(plan.sample_of(a));
    args.n *= plan.out[a];
  }
  if (args.n == 0) return;
  args.rank = static_cast<int>(plan.rank);
  args.samples = samples, args.from = in, args.to = out;
  args.indices = reinterpret_cast<long long*>(indices);
  const int device = place_of(out);
  use(device);
  const char* const position = dtype == DType::kFloat64 ? "double" : "float";
  launch(device, fractional_kernel.on(device, dtype, 0, position), {blocks_for(args.n, 256)}, 256,
         args);
}

}  // namespace fb::cuda
