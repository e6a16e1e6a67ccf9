// Normalisation.
//
// Sets are cut into segments where there are few of them: a first kernel collects what each segment
// has, a second one joins that, a third one writes the results. How, follows from the shape alone.
#include "cuda/norm.h"

#include <algorithm>
#include <bit>

#include "cuda/allocator.h"
#include "cuda/device/norm_args.h"
#include "cuda/launch.h"
#include "cuda/loop.h"
#include "cuda/typed_kernel.h"

namespace fb::cuda {
namespace {

using device::NormArguments;
using device::NormPass;
using kernel::ImageNorm;
using kernel::NormBackward;
using kernel::NormForward;
using kernel::RowNorm;

TypedKernel planar_kernel("norm.cuh", "planar_norm", "NormArguments");
TypedKernel planar_sums_kernel("norm.cuh", "planar_sums", "NormArguments");
TypedKernel planar_gradient_kernel("norm.cuh", "planar_gradient", "NormArguments");
TypedKernel moments_kernel("norm.cuh", "interleaved_moments", "NormArguments");
TypedKernel interleaved_kernel("norm.cuh", "interleaved_norm", "NormArguments");
TypedKernel column_sums_kernel("norm.cuh", "column_gradients", "NormArguments");
TypedKernel interleaved_gradient_kernel("norm.cuh", "interleaved_gradient", "NormArguments");
TypedKernel finish_moments_kernel("norm.cuh", "finish_moments", "NormArguments");
TypedKernel finish_sums_kernel("norm.cuh", "finish_sums", "NormArguments");
TypedKernel rows_kernel("norm.cuh", "row_norm", "NormArguments");
TypedKernel row_gradients_kernel("norm.cuh", "row_gradients", "NormArguments");
TypedKernel row_gradient_kernel("norm.cuh", "row_gradient", "NormArguments");
TypedKernel deviations_kernel("norm.cuh", "deviations", "DeviationArguments");
TypedKernel running_kernel("norm.cuh", "move_running", "RunningArguments");

constexpr int kThreads = 256;
// Enough blocks for any device; the same on all, so that sums are cut alike.
constexpr int64_t kEnoughBlocks = 1024;
constexpr int64_t kMostSegments = 512;
constexpr int64_t kMostBlocksInY = 65535;
constexpr size_t kLargestPartial = 24;  // a Spread<double>
// Of an array of a row that a thread has in registers for gradients.
constexpr int64_t kMostHeldBytes = 128;
// Segments of rows whose columns are summed: as few as keep a device busy, as they are joined.
constexpr int64_t kRowSegments = 256, kRowsOfSegment = 8;

int64_t divided(int64_t n, int64_t by) { return (n + by - 1) / by; }

int64_t power_of_two(int64_t n) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(n, 1))));
}
int lanes_for(int64_t n, int64_t most) { return static_cast<int>(std::min(power_of_two(n), most)); }

// How many neighbours of a length are read at once: as many as 16 bytes hold, or single ones.
template <class... Arrays>
int pack_for(DType dtype, int64_t length, const Arrays*... arrays) {
  const auto pack = static_cast<int>(16 / size_of(dtype));
  const bool suits = length % pack == 0 && (... && (reinterpret_cast<uintptr_t>(arrays) % 16 == 0));
  return suits ? pack : 1;
}

// A launch of a kernel that has the pack, and what else follows, as constants.
void run(TypedKernel& kernel, DType dtype, int64_t blocks, int64_t segments,
         const NormArguments& args, int number, const std::string& variant = {}) {
  const int device = place_of(args.out);
  launch(device, kernel.on(device, dtype, number, variant.c_str()),
         {static_cast<unsigned>(blocks), static_cast<unsigned>(segments)}, kThreads, args);
}
void run_packs(TypedKernel& kernel, DType dtype, int64_t blocks, int64_t segments,
               const NormArguments& args, int pack) {
  run(kernel, dtype, blocks, segments, args, pack, message_of(pack));
}

Storage scratch(const void* beside, int64_t bytes) {
  const auto device = static_cast<int8_t>(place_of(beside));
  return allocate(static_cast<size_t>(bytes), Device(DeviceType::kCuda, device));
}

// Cuts `length` into at most `most` segments.
void cut(NormArguments& args, int64_t length, int64_t most) {
  args.segments = std::max<int64_t>(most, 1);
  args.segment_length = divided(length, args.segments);
  args.segments = divided(length, args.segment_length);
}

NormArguments image_arguments(const ImageNorm& shape, const void* gradient, const void* x,
                              void* out) {
  NormArguments args{};
  args.gradient = gradient, args.x = x, args.out = out;
  args.sets = shape.sets(), args.set_size = shape.set_size();
  args.channels = shape.channels, args.groups = shape.groups;
  use(place_of(out));
  return args;
}
NormArguments forward_arguments(const ImageNorm& shape, const void* x, void* y,
                                const NormForward& numbers) {
  NormArguments args = image_arguments(shape, nullptr, x, y);
  args.weight = numbers.weight, args.bias = numbers.bias;
  args.mean = numbers.mean, args.rstd = numbers.rstd, args.variance = numbers.variance;
  args.eps = numbers.eps;
  return args;
}
void set_numbers(NormArguments& args, const NormBackward& numbers) {
  args.weight = numbers.weight;
  args.mean = const_cast<void*>(numbers.mean), args.rstd = const_cast<void*>(numbers.rstd);
  args.weight_grad = numbers.weight_grad, args.bias_grad = numbers.bias_grad;
  args.given = numbers.given;
}

// --- joining what segments have collected

// Parts of a unit are neighbours, or parts of neighbouring units are.
void place_partials(NormArguments& args, bool by_unit) {
  args.unit_step = by_unit ? args.segments : 1;
  args.segment_step = by_unit ? 1 : args.units;
}

void finish(TypedKernel& kernel, DType dtype, NormArguments& args, int64_t items,
            int64_t most_partials) {
  // Where neighbours are of other units, some of those are read together.
  args.lanes = lanes_for(most_partials / 4, args.unit_step == 1 ? 32 : kThreads);
  run(kernel, dtype, divided(items, kThreads / args.lanes), 1, args, 0);
}
void finish_moments(DType dtype, NormArguments args) {
  finish(finish_moments_kernel, dtype, args, args.sets, args.units_per_set * args.segments);
}
void finish_sums(DType dtype, NormArguments args) {
  finish(finish_sums_kernel, dtype, args, args.sets + args.channels,
         std::max(args.units_per_set, args.units / args.channels) * args.segments);
}

// --- planes

// Units that are sets, or with `by_channel` one channel of a set.
void place_planes(NormArguments& args, const ImageNorm& shape, int pack, bool by_channel) {
  args.run_length = shape.plane / pack;
  if (shape.groups && by_channel) {
    args.items = shape.batch * shape.channels;
    args.runs = 1;
    args.start_step = args.run_length;
  } else {
    args.items = shape.sets();
    args.runs = shape.groups ? shape.channels / shape.groups : shape.batch;
    args.start_step = shape.groups ? args.runs * args.run_length : args.run_length;
  }
  args.run_step = shape.groups ? args.run_length : shape.channels * args.run_length;
  args.lanes = lanes_for(divided(args.runs * args.run_length, 4), kThreads);
}

int64_t item_blocks(const NormArguments& args) {
  return divided(args.items, kThreads / args.lanes);
}
// Segments for a kernel that collects, whose number should be small, or for one that does not.
int64_t segments_to_collect(const NormArguments& args) {
  const int64_t possible = args.runs * args.run_length / (int64_t{args.lanes} * 8);
  return std::min<int64_t>({divided(kEnoughBlocks, item_blocks(args)), possible, kMostSegments});
}
int64_t segments_to_apply(const NormArguments& args) {
  return std::min<int64_t>(args.runs * args.run_length / (int64_t{args.lanes} * 8), kMostBlocksInY);
}

// --- neighbouring channels

void place_columns(NormArguments& args, int64_t samples, int64_t rows, int64_t columns) {
  args.samples = samples, args.rows = rows, args.columns = columns;
  const auto side_by_side = std::min<int64_t>(power_of_two(columns), 32);
  args.lanes = static_cast<int>(kThreads / side_by_side);
  args.column_blocks = divided(columns, side_by_side);
}
void place_columns(NormArguments& args, const ImageNorm& shape, int pack) {
  const bool apart = shape.groups != 0;
  place_columns(args, apart ? shape.batch : 1, apart ? shape.plane : shape.batch * shape.plane,
                shape.channels / pack);
  args.units = args.samples * shape.channels;
  args.units_per_set = args.units / args.sets;
}
int64_t column_blocks(const NormArguments& args) {
  return args.column_blocks * args.samples * args.segments;
}
void cut_rows_to_collect(NormArguments& args) {
  const int64_t wanted = divided(kEnoughBlocks, args.column_blocks * args.samples);
  cut(args, args.rows,
      std::min<int64_t>({wanted, args.rows / (int64_t{args.lanes} * 4), kMostSegments}));
  place_partials(args, false);
}
void cut_rows_to_apply(NormArguments& args) {
  cut(args, args.rows, args.rows / (int64_t{args.lanes} * 8));
}

// The gradients of weight and bias from sums of columns.
void finish_columns(DType dtype, NormArguments args, bool centred) {
  args.rstd = nullptr;
  if (!centred) args.bias_grad = nullptr;
  finish_sums(dtype, args);
}

void run_column_sums(DType dtype, const NormArguments& args, int pack, bool by_row) {
  run(column_sums_kernel, dtype, column_blocks(args), 1, args, 2 * pack + by_row,
      message_of(pack, by_row ? ", true" : ", false"));
}

// --- rows

// How a row is divided among threads, each of which has `held` packs of it, or 0 for too many.
struct RowPlan {
  int pack, lanes, held;
};
RowPlan plan_rows(DType dtype, int64_t n, int pack) {
  const int64_t packs = n / pack;
  const int64_t lanes = std::clamp(power_of_two(divided(packs, 4)),
                                   std::min<int64_t>(power_of_two(packs), 32), int64_t{kThreads});
  const int64_t held = power_of_two(divided(packs, lanes));
  const int64_t most = size_of(dtype) == 2 && pack > 1 ? 4 : 8;
  return {pack, static_cast<int>(lanes), static_cast<int>(held <= most ? held : 0)};
}

int64_t held_bytes(DType dtype, int64_t elements) {
  return elements * static_cast<int64_t>(std::max(size_of(dtype), sizeof(float)));
}
// The same for gradients: a thread keeps about five arrays of what it holds.
RowPlan plan_row_gradients(DType dtype, int64_t n, int pack) {
  const int64_t packs = n / pack;
  const int64_t wanted = std::max<int64_t>((size_of(dtype) == 2 ? 8 : 16) / pack, 1);
  const int64_t lanes = std::clamp(power_of_two(divided(packs, wanted)),
                                   std::min<int64_t>(power_of_two(packs), 32), int64_t{kThreads});
  const int64_t held = power_of_two(divided(packs, lanes));
  return {pack, static_cast<int>(lanes),
          static_cast<int>(held_bytes(dtype, held * pack) <= kMostHeldBytes ? held : 0)};
}

void run_rows(TypedKernel& kernel, DType dtype, const RowNorm& shape, const RowPlan& plan,
              NormArguments args) {
  args.rows = shape.rows;
  args.columns = shape.n / plan.pack;
  args.set_size = shape.n;
  args.lanes = plan.lanes;
  run(kernel, dtype, divided(shape.rows, kThreads / plan.lanes), 1, args,
      (plan.pack * 16 + plan.held) * 2 + shape.centred,
      message_of(plan.pack, ", ", plan.held, shape.centred ? ", true" : ", false"));
}

}  // namespace

void norm_planar(DType dtype, const ImageNorm& shape, const void* x, void* y,
                 const NormForward& numbers) {
  NormArguments args = forward_arguments(shape, x, y, numbers);
  const int pack = pack_for(dtype, shape.plane, x, y);
  place_planes(args, shape, pack, false);
  const int64_t all = args.runs * args.run_length;
  cut(args, all, segments_to_collect(args));
  args.units = args.sets, args.units_per_set = 1;
  Storage partial;
  args.pass = !numbers.variance    ? NormPass::kApply
              : args.segments == 1 ? NormPass::kWhole
                                   : NormPass::kCollect;
  if (args.pass == NormPass::kCollect) {
    partial = scratch(y, args.units * args.segments * static_cast<int64_t>(kLargestPartial));
    args.partial = partial->data;
    place_partials(args, true);
    run_packs(planar_kernel, dtype, item_blocks(args), args.segments, args, pack);
    finish_moments(dtype, args);
    args.pass = NormPass::kApply;
  }
  if (args.pass == NormPass::kApply) cut(args, all, segments_to_apply(args));
  run_packs(planar_kernel, dtype, item_blocks(args), args.segments, args, pack);
}

void norm_planar_backward(DType dtype, const ImageNorm& shape, const void* gradient, const void* x,
                          void* out, const NormBackward& numbers) {
  NormArguments args = image_arguments(shape, gradient, x, out);
  set_numbers(args, numbers);
  const int pack = pack_for(dtype, shape.plane, gradient, x, out);
  place_planes(args, shape, pack, true);
  cut(args, args.runs * args.run_length, segments_to_collect(args));
  args.units = args.items, args.units_per_set = args.items / args.sets;
  const Storage partial =
      scratch(out, args.units * args.segments * static_cast<int64_t>(kLargestPartial));
  const Storage slopes = scratch(out, args.sets * 2 * static_cast<int64_t>(sizeof(double)));
  args.partial = partial->data, args.slopes = slopes->data;
  place_partials(args, true);
  run_packs(planar_sums_kernel, dtype, item_blocks(args), args.segments, args, pack);
  finish_sums(dtype, args);
  place_planes(args, shape, pack, false);
  cut(args, args.runs * args.run_length, segments_to_apply(args));
  run_packs(planar_gradient_kernel, dtype, item_blocks(args), args.segments, args, pack);
}

void norm_interleaved(DType dtype, const ImageNorm& shape, const void* x, void* y,
                      const NormForward& numbers) {
  NormArguments args = forward_arguments(shape, x, y, numbers);
  const int pack = pack_for(dtype, shape.channels, x, y);
  place_columns(args, shape, pack);
  Storage partial;
  if (numbers.variance) {
    cut_rows_to_collect(args);
    partial = scratch(y, args.units * args.segments * static_cast<int64_t>(kLargestPartial));
    args.partial = partial->data;
    run_packs(moments_kernel, dtype, column_blocks(args), 1, args, pack);
    finish_moments(dtype, args);
  }
  cut_rows_to_apply(args);
  run_packs(interleaved_kernel, dtype, column_blocks(args), 1, args, pack);
}

void norm_interleaved_backward(DType dtype, const ImageNorm& shape, const void* gradient,
                               const void* x, void* out, const NormBackward& numbers) {
  NormArguments args = image_arguments(shape, gradient, x, out);
  set_numbers(args, numbers);
  const int pack = pack_for(dtype, shape.channels, gradient, x, out);
  place_columns(args, shape, pack);
  cut_rows_to_collect(args);
  const Storage partial =
      scratch(out, args.units * args.segments * static_cast<int64_t>(kLargestPartial));
  const Storage slopes = scratch(out, args.sets * 2 * static_cast<int64_t>(sizeof(double)));
  args.partial = partial->data, args.slopes = slopes->data;
  run_column_sums(dtype, args, pack, false);
  finish_sums(dtype, args);
  cut_rows_to_apply(args);
  run_packs(interleaved_gradient_kernel, dtype, column_blocks(args), 1, args, pack);
}

void norm_rows(DType dtype, const RowNorm& shape, const void* x, void* y,
               const NormForward& numbers) {
  if (shape.rows == 0 || shape.n == 0) return;
  use(place_of(y));
  NormArguments args{};
  args.x = x, args.out = y;
  args.weight = numbers.weight, args.bias = numbers.bias;
  args.mean = numbers.mean, args.rstd = numbers.rstd;
  args.eps = numbers.eps;
  const int pack = pack_for(dtype, shape.n, x, y, numbers.weight, numbers.bias);
  run_rows(rows_kernel, dtype, shape, plan_rows(dtype, shape.n, pack), args);
}

void norm_rows_backward(DType dtype, const RowNorm& shape, const void* gradient, const void* x,
                        void* out, const NormBackward& numbers) {
  use(place_of(out));
  NormArguments args{};
  args.gradient = gradient, args.x = x, args.out = out;
  set_numbers(args, numbers);
  const int pack = pack_for(dtype, shape.n, gradient, x, out, numbers.weight);
  // The columns: each is a unit and a channel, in no set.
  args.channels = args.units = shape.n;
  args.units_per_set = 1;
  if (const RowPlan plan = plan_row_gradients(dtype, shape.n, pack); plan.held) {
    args.rows = shape.rows;
    args.columns = shape.n / pack;
    args.set_size = shape.n;
    args.lanes = plan.lanes;
    const int64_t together = kThreads / plan.lanes;
    cut(args, divided(shape.rows, together),
        std::min(divided(shape.rows, together * kRowsOfSegment), kRowSegments));
    args.segment_length *= together;
    place_partials(args, false);
    const Storage partial = scratch(out, held_bytes(dtype, 2 * args.units * args.segments));
    args.partial = partial->data;
    run(row_gradients_kernel, dtype, args.segments, 1, args,
        (pack * 16 + plan.held) * 2 + shape.centred,
        message_of(pack, ", ", plan.held, shape.centred ? ", true" : ", false"));
    return finish_columns(dtype, args, shape.centred);
  }
  run_rows(row_gradient_kernel, dtype, shape, plan_rows(dtype, shape.n, pack), args);
  place_columns(args, 1, shape.rows, shape.n / pack);
  cut_rows_to_collect(args);
  const Storage partial =
      scratch(out, args.units * args.segments * static_cast<int64_t>(kLargestPartial));
  args.partial = partial->data;
  run_column_sums(dtype, args, pack, true);
  finish_columns(dtype, args, shape.centred);
}

void norm_deviations(DType dtype, double eps, int64_t n, void* numbers) {
  if (n == 0) return;
  const int device = place_of(numbers);
  use(device);
  launch(device, deviations_kernel.on(device, dtype), {blocks_for(n, kThreads)}, kThreads,
         device::DeviationArguments{numbers, n, eps});
}

void norm_running(const kernel::RunningStatistic& statistic) {
  if (statistic.channels == 0) return;
  const int device = place_of(statistic.running);
  use(device);
  launch(device, running_kernel.on(device, DType::kFloat64),
         {blocks_for(statistic.channels, kThreads)}, kThreads,
         device::RunningArguments{statistic.running, statistic.now, statistic.samples,
                                  statistic.channels, statistic.momentum, statistic.size});
}

}  // namespace fb::cuda
