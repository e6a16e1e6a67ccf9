// Losses of scores for classes.
#include "cuda/loss_classes.h"

#include <algorithm>
#include <bit>
#include <optional>

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
TypedKernel cross_entropy_kernel("loss_classes.cuh", "cross_entropy_losses", "ClassArguments");
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
constexpr int64_t kEnoughThreads = kThreads * 512;  // for any device
// Sums over samples are cut by their number alone.
constexpr int64_t kMostSegments = 1024, kSegment = kThreads;
constexpr int64_t kMostPacked = int64_t{1} << 30;  // elements of a row: see device::PackIndex
constexpr int64_t kMostJoined = 4096;              // sums that a block joins

int64_t divided(int64_t n, int64_t by) { return (n + by - 1) / by; }

// A thread for `each` scores of a sample, or packs of them.
int lanes_for(int64_t scores, bool columns, int64_t each = 4) {
  const auto wanted = static_cast<uint64_t>(std::max<int64_t>(scores / each, 1));
  return static_cast<int>(
      std::min<int64_t>(static_cast<int64_t>(std::bit_ceil(wanted)), columns ? 8 : kThreads));
}

// For a kernel that only reads: few lanes are the fastest for most rows, as they end at the same
// time.
int lanes_to_read(int64_t packs, int64_t samples, int pack) {
  int lanes = pack > 1
                  ? std::max(std::min(lanes_for(packs, false, 8), 16), lanes_for(packs, false, 200))
                  : std::max(std::min(lanes_for(packs, false), 32), lanes_for(packs, false, 64));
  // A few rows do not keep a device busy.
  while (lanes < kThreads && lanes * 8 < packs && samples * lanes < kEnoughThreads) lanes *= 2;
  return lanes;
}

void run(TypedKernel& kernel, const void* at, DType dtype, int64_t blocks,
         device::ClassArguments& args, int pack = 0, bool ragged = false) {
  if (blocks == 0) return;
  const int device = place_of(at);
  use(device);
  args.error = error_site(device, "nll_loss");
  const Function function = pack
                                ? kernel.on(device, dtype, 2 * pack + ragged,
                                            message_of(pack, ragged ? ", true" : ", false").c_str())
                                : kernel.on(device, dtype);
  launch(device, function, {static_cast<unsigned>(blocks)}, kThreads, args);
}

// With lanes for each sample.
void run_samples(TypedKernel& kernel, const void* at, const ClassTargets& t,
                 device::ClassArguments& args) {
  args.lanes = lanes_for(t.classes, t.inner > 1);
  run(kernel, at, t.scores, blocks_for(t.samples(), kThreads / args.lanes), args);
}

// The same, with packs of scores where they are neighbours; `begin` is called with the number of
// blocks first.
template <class Begin>
void run_packs(TypedKernel& kernel, const void* at, const ClassTargets& t,
               device::ClassArguments& args, bool writes, Begin begin) {
  const auto widest = static_cast<int>(16 / size_of(t.scores));
  const auto apart = [](const void* p) { return reinterpret_cast<uintptr_t>(p) % 16; };
  const bool suits = t.inner == 1 && t.classes < kMostPacked &&
                     (!args.out || apart(args.scores) == apart(args.out));
  const bool whole = suits && t.classes % widest == 0 && apart(args.scores) == 0;
  const bool ragged = suits && !whole && t.classes >= 8 * widest;
  const int pack = whole || ragged ? widest : 1;
  const int64_t packs = divided(t.classes, pack);
  args.lanes = t.inner > 1 ? lanes_for(packs, true)
               : writes    ? lanes_for(packs, false, 8)
                           : lanes_to_read(packs, t.samples(), pack);
  const int64_t blocks = blocks_for(t.samples(), kThreads / args.lanes);
  begin(blocks);
  run(kernel, at, t.scores, blocks, args, pack, ragged);
}

// Joins the sums of some blocks of the kernel in between.
class SumsOfBlocks {
 public:
  SumsOfBlocks(device::ClassArguments& args, const void* at, int64_t blocks)
      : args_(args),
        at_(at),
        first_joined_(blocks > kMostJoined ? divided(blocks, kMostJoined) : 0) {
    args_.segments = blocks;
    if (blocks == 1) return;
    const auto device = static_cast<int8_t>(place_of(at));
    room_ = allocate(static_cast<size_t>(blocks + first_joined_) * 2 * sizeof(double),
                     Device(DeviceType::kCuda, device));
    args_.partial = static_cast<double*>(room_->data);
  }
  void finish(DType dtype) {
    if (args_.segments <= 1) return;
    if (first_joined_) {
      args_.joined = args_.partial + 2 * args_.segments;
      args_.segment_length = kMostJoined;
      run(finish_kernel, at_, dtype, first_joined_, args_);
      args_.partial = args_.joined, args_.segments = first_joined_;
    }
    args_.joined = nullptr, args_.segment_length = args_.segments;
    run(finish_kernel, at_, dtype, 1, args_);
  }

 private:
  device::ClassArguments& args_;
  const void* at_;
  int64_t first_joined_;
  Storage room_;
};

void set_results(device::ClassArguments& args, const kernel::ClassLosses& out) {
  args.each = out.each, args.total = out.total, args.weight = out.weight, args.mean = out.mean;
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
  run_packs(statistics_kernel, statistics, t, args, false, [](int64_t) {});
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
  set_results(args, out);
  const int64_t segments = std::clamp<int64_t>(t.samples() / kSegment, 1, kMostSegments);
  args.segment_length = divided(t.samples(), segments);
  SumsOfBlocks sums(args, out.weight, segments);
  run(losses_kernel, out.weight, t.scores, segments, args);
  sums.finish(t.dtype);
}

void cross_entropy_losses(const ClassTargets& t, const void* scores, void* statistics,
                          const kernel::ClassLosses& out) {
  if (t.samples() == 0) return class_losses(t, scores, statistics, 0, nullptr, out);
  device::ClassArguments args = arguments_of(t, scores, statistics);
  set_results(args, out);
  std::optional<SumsOfBlocks> sums;
  run_packs(cross_entropy_kernel, out.weight, t, args, false,
            [&](int64_t blocks) { sums.emplace(args, out.weight, blocks); });
  sums->finish(t.dtype);
}

void cross_entropy_gradient(const ClassTargets& t, const void* scores, const void* statistics,
                            double smoothing, const SampleGradients& gradients, void* out) {
  device::ClassArguments args = arguments_of(t, scores, statistics);
  args.smoothing = smoothing;
  args.out = out;
  set_gradients(args, gradients);
  run_packs(entropy_kernel, out, t, args, true, [](int64_t) {});
}

void nll_gradient(const ClassTargets& t, const SampleGradients& gradients, void* out) {
  device::ClassArguments args = arguments_of(t, nullptr, nullptr);
  args.out = out;
  set_gradients(args, gradients);
  const int device = place_of(out);
  use(device);
  const auto bytes = static_cast<size_t>(t.samples() * t.classes) * size_of(t.scores);
  if (bytes) FB_CUDA(set_bytes, reinterpret_cast<Address>(out), 0, bytes, current_stream(device));
  args.lanes = 1;
  run(nll_kernel, out, t.scores, blocks_for(t.samples(), kThreads), args);
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
