// Weighted sums along the dimensions of images: in one step where a result has few terms, otherwise
// one dimension after the other.
#include "cuda/resample.h"

#include <algorithm>

#include "cuda/allocator.h"
#include "cuda/device/resample_args.h"
#include "cuda/launch.h"
#include "cuda/loop.h"
#include "cuda/table_cache.h"
#include "cuda/typed_kernel.h"

namespace fb::cuda {
namespace {

using kernel::AxisMap;
using kernel::ResamplePlan;

TypedKernel resample_kernel("resample.cuh", "resample", "ResampleArguments");

constexpr int64_t kMostTerms = 64;  // of a result that is computed in one step
constexpr int64_t kManyTerms = 64;  // of a row, whose elements are neighbours: a warp shares them

// Where the tables of one dimension begin.
struct SideTables {
  size_t index = 0, count = 0, weight = 0;
};

SideTables put_tables(TableMaker& maker, const AxisMap& map, DType dtype) {
  SideTables at;
  at.index = maker.add(map.index);
  at.count = maker.add(map.count);
  if (dtype == DType::kFloat64)
    at.weight = maker.add(map.weight);
  else
    at.weight = maker.add(std::vector<float>(map.weight.begin(), map.weight.end()));
  return at;
}

class Resampling {
 public:
  Resampling(DType dtype, const ResamplePlan& plan, void* out)
      : dtype_(dtype), plan_(plan), device_(place_of(out)) {
    use(device_);
    TableMaker maker;
    SideTables at[3];
    for (int a = 0; a < 3; ++a)
      if (!plan.axis[a].identity) at[a] = put_tables(maker, plan.axis[a], dtype);
    tables_ = maker.on(device_);
    for (int a = 0; a < 3; ++a) {
      sides_[a].in = plan.axis[a].in, sides_[a].out = plan.axis[a].out;
      if (plan.axis[a].identity) continue;
      const char* const base = static_cast<const char*>(tables_->data);
      sides_[a].index = reinterpret_cast<const int*>(base + at[a].index);
      sides_[a].count = reinterpret_cast<const int*>(base + at[a].count);
      sides_[a].weight = base + at[a].weight;
    }
  }

  void run(const void* in, void* out) {
    int order[] = {2, 1, 0}, steps = 0;
    int64_t terms = 1;
    for (const AxisMap& map : plan_.axis) {
      terms *= std::max<int64_t>(map.terms, 1);
      steps += !map.identity;
    }
    if (steps < 2 || terms <= kMostTerms) return launch_step(sides_, in, false, out, false);
    // The dimension that shrinks most comes first.
    std::stable_sort(std::begin(order), std::end(order), [&](int a, int b) {
      return sides_[a].out * sides_[b].in < sides_[b].out * sides_[a].in;
    });
    device::ResampleSide now[3];
    for (int a = 0; a < 3; ++a) now[a] = {sides_[a].in, sides_[a].in, nullptr, nullptr, nullptr};
    Storage before;
    for (const int a : order) {
      if (plan_.axis[a].identity) continue;
      const bool first = !before, last = --steps == 0;
      now[a] = sides_[a];
      Storage sums;
      if (!last)
        sums = allocate(static_cast<size_t>(elements(now)) * (dtype_ == DType::kFloat64 ? 8 : 4),
                        Device(DeviceType::kCuda, static_cast<int8_t>(device_)));
      launch_step(now, first ? in : before->data, !first, last ? out : sums->data, !last);
      now[a] = {sides_[a].out, sides_[a].out, nullptr, nullptr, nullptr};
      before = std::move(sums);
    }
  }

 private:
  int64_t elements(const device::ResampleSide (&sides)[3]) const {
    return plan_.planes * plan_.inner * sides[0].out * sides[1].out * sides[2].out;
  }

  void launch_step(const device::ResampleSide (&sides)[3], const void* in, bool from_sums,
                   void* out, bool to_sums) {
    device::ResampleArguments args{};
    std::copy(std::begin(sides), std::end(sides), args.side);
    args.inner = plan_.inner;
    args.n = elements(sides);
    args.in = in;
    args.out = out;
    if (args.n == 0) return;
    const bool shared = plan_.inner == 1 && sides[2].index && plan_.axis[2].terms >= kManyTerms;
    const int lanes = shared ? 32 : 1;
    const int number = (from_sums ? 1 : 0) + (to_sums ? 2 : 0) + (shared ? 4 : 0);
    const std::string variant =
        message_of(from_sums ? "true, " : "false, ", to_sums ? "true, " : "false, ", lanes);
    launch(device_, resample_kernel.on(device_, dtype_, number, variant.c_str()),
           {blocks_for(args.n, 256 / lanes)}, 256, args);
  }

  const DType dtype_;
  const ResamplePlan& plan_;
  const int device_;
  Storage tables_;
  device::ResampleSide sides_[3] = {};
};

}  // namespace

void resample(DType dtype, const ResamplePlan& plan, const void* in, void* out) {
  Resampling(dtype, plan, out).run(in, out);
}

}  // namespace fb::cuda
