// Turns a reduction's dimensions into a plan and picks the kernel.
#include "cpu/reduce.h"

#include <cstdlib>

namespace fb::cpu {
namespace {

struct Dims {
  int ndim = 0;
  int64_t* sizes;
  int64_t* in;
  int64_t* out;  // null for reduced dimensions

  // Insertion keeps the list ordered by decreasing input stride; equal strides keep their order.
  void insert(int64_t size, int64_t in_stride, int64_t out_stride) {
    int at = ndim++;
    for (; at > 0 && std::abs(in[at - 1]) < std::abs(in_stride); --at) move(at - 1, at);
    sizes[at] = size;
    in[at] = in_stride;
    if (out) out[at] = out_stride;
  }

  // Merges adjacent dimensions that are one in memory, and ensures that there is at least one.
  void coalesce() {
    int last = 0;
    for (int d = 1; d < ndim; ++d) {
      if (in[last] == in[d] * sizes[d] && (!out || out[last] == out[d] * sizes[d])) {
        const int64_t size = sizes[last] * sizes[d];
        move(d, last);
        sizes[last] = size;
      } else {
        move(d, ++last);
      }
    }
    if (ndim == 0) {
      sizes[0] = 1;
      in[0] = 0;
      if (out) out[0] = 0;
    }
    ndim = last + 1;
  }

 private:
  void move(int from, int to) {
    sizes[to] = sizes[from];
    in[to] = in[from];
    if (out) out[to] = out[from];
  }
};

void make_plan(const ReduceArgs& args, ReducePlan& plan) {
  plan.in = args.in;
  plan.out = args.out;
  plan.out2 = args.out2;
  plan.param = args.param;
  plan.outputs = plan.count = 1;
  Dims kept{0, plan.kept_sizes, plan.kept_in, plan.kept_out};
  Dims reduced{0, plan.reduced_sizes, plan.reduced_in, nullptr};
  for (int d = 0; d < args.ndim; ++d) {
    const int64_t size = args.sizes[d];
    (args.reduced[d] ? plan.count : plan.outputs) *= size;
    if (size == 1) continue;
    if (args.reduced[d])
      reduced.insert(size, args.in_strides[d], 0);
    else
      kept.insert(size, args.in_strides[d], args.out_strides[d]);
  }
  kept.coalesce();
  reduced.coalesce();
  plan.kept_ndim = kept.ndim;
  plan.reduced_ndim = reduced.ndim;
  const int64_t kept_stride = std::abs(plan.kept_in[kept.ndim - 1]);
  const int64_t reduced_stride = std::abs(plan.reduced_in[reduced.ndim - 1]);
  // A stride of 0 is a broadcast dimension, which says nothing about locality unless it is the
  // reduced one. If there is nothing to add up, a single row is copied.
  const bool is_faster = plan.count == 1 || kept_stride < reduced_stride;
  plan.by_rows = kept_stride != 0 && plan.count > 0 && is_faster;
}

}  // namespace

void reduce(ReduceOp op, DType dtype, const ReduceArgs& args) {
  FB_CHECK(args.ndim <= kMaxReduceDims, "expected at most ", kMaxReduceDims, " dimensions, got ",
           args.ndim);
  ReducePlan plan;
  make_plan(args, plan);
  if (plan.outputs == 0) return;
  switch (op) {
    case ReduceOp::kNorm1:
    case ReduceOp::kNorm2:
    case ReduceOp::kNormInf:
    case ReduceOp::kNormNegInf: return FB_KERNEL(reduce_norm)(op, dtype, plan);
    case ReduceOp::kVar:
    case ReduceOp::kStd: return FB_KERNEL(reduce_moments)(op, dtype, plan);
    case ReduceOp::kMaxIndex:
    case ReduceOp::kMinIndex: return FB_KERNEL(reduce_index)(op, dtype, plan);
    default: return FB_KERNEL(reduce_fold)(op, dtype, plan);
  }
}

}  // namespace fb::cpu
