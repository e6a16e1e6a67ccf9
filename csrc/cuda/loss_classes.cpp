// Losses of scores for classes.
#include "cuda/loss_classes.h"

#include <algorithm>
#include <bit>

#include "cuda/allocator.h"
#include "cuda/device/loss_classes_args.h"
#include "cuda/device_error.h"
#include "cuda/launch.h"
#include "cuda/loop.h"
#include "cuda/typed_kernel.h"

namespace fb::cuda {
namespace {

using kernel::ClassTargets;
using kernel::SampleGradients;

TypedKernel statistics_kernel("loss_classes.cuh", "score_statistics", "ClassArguments");
TypedKernel all_classes_kernel("loss_classes.cuh", "all_class_losses", "ClassArguments");
TypedKernel losses_kernel("loss_classes.cuh", "class_losses", "ClassArguments");
TypedKernel entropy_kernel("loss_classes.cuh", "cross_entropy_gradient", "ClassArguments");
TypedKernel nll_kernel("loss_classes.cuh", "nll_gradient", "ClassArguments");
TypedKernel finish_kernel("loss_classes.cuh", "finish_class_losses", "ClassArguments");
TypedKernel soft_losses_kernel("loss_classes.cuh", "soft_target_losses", "SoftTargetArguments");
TypedKernel soft_gradient_kernel("loss_classes.cuh", "soft_target_gradient", "SoftTargetArguments");
TypedKernel mark_kernel("loss_classes.cuh", "mark_classes", "MarkArguments");

device::ClassArguments arguments_of(const ClassTargets& t, const void* scores,
                                    const void* statistics) {
  device::ClassArguments args{};
  args.outer = t.outer, args.classes = t.classes, args.inner = t.inner;
  args.targets = reinterpret_cast<const long long*>(t.targets);
  args.weights = t.weights;
  args.ignored = t.ignored;
  args.scores = scores;
  args.statistics = const_cast<void*>(statistics);
  return args;
}

void set_gradients(device::ClassArguments& args, const SampleGradients& gradients) {
  args.gradients = gradients.values;
  args.divisor = gradients.divisor;
  args.scale = gradients.scale;
  args.single = gradients.single;
}

constexpr int64_t kThreads = 256;
// Sums over samples are cut by their number alone.
constexpr int64_t kMostSegments = 1024, kSegment = kThreads * 4;

int64_t divided(int64_t n, int64_t by) { return (n + by - 1) / by; }

// A thread for some scores of a sample, or some packs of them.
int lanes_for(int64_t scores, bool columns) {
  const auto wanted = static_cast<uint64_t>(std::max<int64_t>(scores / 4, 1));
  return static_cast<int>(
      std::min<int64_t>(static_cast<int64_t>(std::bit_ceil(wanted)), columns ? 8 : kThreads));
}

void run(TypedKernel& kernel, const void* at, DType dtype, int64_t blocks,
         device::ClassArguments& args, int pack = 0) {
  if (blocks == 0) return;
  const int device = place_of(at);
  use(device);
  args.error = error_site(device, "nll_loss");
  const Function function =
      pack ? kernel.on(device, dtype, pack, message_of(pack).c_str()) : kernel.on(device, dtype);
  launch(device, function, {static_cast<unsigned>(blocks)}, kThreads, args);
}

// With lanes for each sample.
void run_samples(TypedKernel& kernel, const void* at, const ClassTargets& t,
                 device::ClassArguments& args) {
  args.lanes = lanes_for(t.classes, t.inner > 1);
  run(kernel, at, t.dtype, blocks_for(t.samples(), kThreads / args.lanes), args);
}

// The same, with packs of scores where they are neighbours.
void run_packs(TypedKernel& kernel, const void* at, const ClassTargets& t,
               device::ClassArguments& args) {
  const auto widest = static_cast<int>(16 / size_of(t.dtype));
  const auto aligned = [](const void* p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; };
  const bool packs =
      t.inner == 1 && t.classes % widest == 0 && aligned(args.scores) && aligned(args.out);
  const int pack = packs ? widest : 1;
  args.lanes = lanes_for(divided(t.classes, pack), t.inner > 1);
  run(kernel, at, t.dtype, blocks_for(t.samples(), kThreads / args.lanes), args, pack);
}

void run_rows(TypedKernel& kernel, const void* at, const kernel::SoftTargets& call,
              device::SoftTargetArguments& args) {
  if (call.rows == 0) return;
  args.rows = call.rows, args.classes = call.classes;
  args.scores = call.scores, args.soft_targets = call.soft_targets;
  args.weights = call.weights;
  args.smoothing = call.smoothing;
  args.lanes = lanes_for(call.classes, false);
  const int device = place_of(at);
  use(device);
  launch(device, kernel.on(device, call.dtype), {blocks_for(call.rows, kThreads / args.lanes)},
         kThreads, args);
}

}  // namespace

void score_statistics(const ClassTargets& t, const void* scores, void* statistics) {
  device::ClassArguments args = arguments_of(t, scores, statistics);
  run_packs(statistics_kernel, statistics, t, args);
}

void all_class_losses(const ClassTargets& t, const void* scores, const void* statistics,
                      void* out) {
  device::ClassArguments args = arguments_of(t, scores, statistics);
  args.out = out;
  run_samples(all_classes_kernel, out, t, args);
}

void class_losses(const ClassTargets& t, const void* scores, const void* statistics,
                  double smoothing, const void* all_classes, const kernel::ClassLosses& out) {
  device::ClassArguments args = arguments_of(t, scores, statistics);
  args.smoothing = smoothing;
  args.all_classes = all_classes;
  args.each = out.each, args.total = out.total, args.weight = out.weight, args.mean = out.mean;
  args.segments = std::clamp<int64_t>(t.samples() / kSegment, 1, kMostSegments);
  args.segment_length = (t.samples() + args.segments - 1) / args.segments;
  Storage partial;
  if (args.segments > 1) {
    const auto device = static_cast<int8_t>(place_of(out.weight));
    partial = allocate(static_cast<size_t>(args.segments) * 2 * sizeof(double),
                       Device(DeviceType::kCuda, device));
    args.partial = static_cast<double*>(partial->data);
  }
  run(losses_kernel, out.weight, t.dtype, args.segments, args);
  if (args.segments > 1) run(finish_kernel, out.weight, t.dtype, 1, args);
}

void cross_entropy_gradient(const ClassTargets& t, const void* scores, const void* statistics,
                            double smoothing, const SampleGradients& gradients, void* out) {
  device::ClassArguments args = arguments_of(t, scores, statistics);
  args.smoothing = smoothing;
  args.out = out;
  set_gradients(args, gradients);
  run_packs(entropy_kernel, out, t, args);
}

void nll_gradient(const ClassTargets& t, const SampleGradients& gradients, void* out) {
  device::ClassArguments args = arguments_of(t, nullptr, nullptr);
  args.out = out;
  set_gradients(args, gradients);
  const int device = place_of(out);
  use(device);
  const auto bytes = static_cast<size_t>(t.samples() * t.classes) * size_of(t.dtype);
  if (bytes) FB_CUDA(set_bytes, reinterpret_cast<Address>(out), 0, bytes, current_stream(device));
  args.lanes = 1;
  run(nll_kernel, out, t.dtype, blocks_for(t.samples(), kThreads), args);
}

void soft_target_losses(const kernel::SoftTargets& call, void* statistics, void* losses) {
  device::SoftTargetArguments args{};
  args.statistics = statistics, args.losses = losses;
  run_rows(soft_losses_kernel, losses, call, args);
}

void soft_target_gradient(const kernel::SoftTargets& call, const void* statistics,
                          const SampleGradients& gradients, bool by_targets, void* out) {
  device::SoftTargetArguments args{};
  args.statistics = const_cast<void*>(statistics), args.out = out;
  args.gradients = gradients.values, args.scale = gradients.scale, args.single = gradients.single;
  args.by_targets = by_targets;
  run_rows(soft_gradient_kernel, out, call, args);
}

void mark_classes(const int64_t* numbers, int64_t n, int64_t classes, int64_t* out) {
  if (n == 0) return;
  const int device = place_of(numbers);
  use(device);
  launch(device, mark_kernel.on(device, DType::kInt64), {blocks_for(n, kThreads)}, kThreads,
         device::MarkArguments{reinterpret_cast<const long long*>(numbers), n, classes,
                               reinterpret_cast<long long*>(out), error_site(device, "one_hot")});
}

}  // namespace fb::cuda
