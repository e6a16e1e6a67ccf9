// Losses of scores for classes.
#include "cuda/loss_classes.h"

#include "core/error.h"
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

void run(TypedKernel& kernel, const void* at, DType dtype, int64_t blocks,
         device::ClassArguments& args) {
  if (blocks == 0) return;
  FB_CHECK_AS(ErrorKind::kNotImplemented, blocks < int64_t{1} << 31,
              "no kernel on cuda for so many samples");
  const int device = place_of(at);
  use(device);
  args.error = error_record(device);
  launch(device, kernel.on(device, dtype), {static_cast<unsigned>(blocks)}, 256, args);
}

}  // namespace

void score_statistics(const ClassTargets& t, const void* scores, void* statistics) {
  device::ClassArguments args = arguments_of(t, scores, statistics);
  run(statistics_kernel, statistics, t.dtype, t.samples(), args);
}

void all_class_losses(const ClassTargets& t, const void* scores, const void* statistics,
                      void* out) {
  device::ClassArguments args = arguments_of(t, scores, statistics);
  args.out = out;
  run(all_classes_kernel, out, t.dtype, t.samples(), args);
}

void class_losses(const ClassTargets& t, const void* scores, const void* statistics,
                  double smoothing, const void* all_classes, const kernel::ClassLosses& out) {
  device::ClassArguments args = arguments_of(t, scores, statistics);
  args.smoothing = smoothing;
  args.all_classes = all_classes;
  args.each = out.each, args.total = out.total, args.weight = out.weight, args.mean = out.mean;
  run(losses_kernel, out.weight, t.dtype, 1, args);
}

void cross_entropy_gradient(const ClassTargets& t, const void* scores, const void* statistics,
                            double smoothing, const SampleGradients& gradients, void* out) {
  device::ClassArguments args = arguments_of(t, scores, statistics);
  args.smoothing = smoothing;
  args.out = out;
  set_gradients(args, gradients);
  run(entropy_kernel, out, t.dtype, t.samples(), args);
}

void nll_gradient(const ClassTargets& t, const SampleGradients& gradients, void* out) {
  device::ClassArguments args = arguments_of(t, nullptr, nullptr);
  args.out = out;
  set_gradients(args, gradients);
  const int device = place_of(out);
  use(device);
  const auto bytes = static_cast<size_t>(t.samples() * t.classes) * size_of(t.dtype);
  if (bytes) FB_CUDA(set_bytes, reinterpret_cast<Address>(out), 0, bytes, current_stream(device));
  run(nll_kernel, out, t.dtype, blocks_for(t.samples(), 256), args);
}

}  // namespace fb::cuda
