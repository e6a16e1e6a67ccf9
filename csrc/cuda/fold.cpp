// Windows of images as columns, and back.
#include "cuda/fold.h"

#include "cuda/device/fold_args.h"
#include "cuda/launch.h"
#include "cuda/loop.h"
#include "cuda/typed_kernel.h"

namespace fb::cuda {
namespace {

using kernel::Sliding;

TypedKernel unfold_kernel("fold.cuh", "unfold_planes", "FoldArguments");
TypedKernel fold_kernel("fold.cuh", "fold_planes", "FoldArguments");

device::SlidingSide side_of(const Sliding& s) {
  return {s.size, s.kernel, s.dilation, s.padding, s.stride, s.windows()};
}

void run(TypedKernel& kernel, DType dtype, int64_t n, const Sliding& y, const Sliding& x,
         const void* in, void* out) {
  if (n == 0) return;
  const int device = place_of(out);
  use(device);
  const device::FoldArguments args{side_of(y), side_of(x), n, in, out};
  launch(device, kernel.on(device, dtype), {blocks_for(n, 256)}, 256, args);
}

}  // namespace

void unfold_planes(DType dtype, int64_t planes, const Sliding& y, const Sliding& x,
                   const void* image, void* columns) {
  const int64_t n = planes * y.kernel * x.kernel * y.windows() * x.windows();
  run(unfold_kernel, of_size(size_of(dtype)), n, y, x, image, columns);
}

void fold_planes(DType dtype, int64_t planes, const Sliding& y, const Sliding& x,
                 const void* columns, void* image) {
  run(fold_kernel, dtype, planes * y.size * x.size, y, x, columns, image);
}

}  // namespace fb::cuda
