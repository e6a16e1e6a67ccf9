// Sliding windows as columns, and back: checks of the arguments and the shape of the result.
#include "gen/ops/fold.h"

#include "kernel/table.h"
#include "ops/image.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

using kernel::Sliding;

struct Windows {
  Sliding y, x;
  int64_t taps() const { return y.kernel * x.kernel; }
  int64_t count() const { return y.windows() * x.windows(); }
};

// One number for both directions, or two.
struct Pair {
  int64_t y, x;

  Pair(IntSpan values, const char* name, int64_t least) {
    FB_CHECK(values.size() == 1 || values.size() == 2, "expected ", name,
             " to be one number or two, got ", values);
    y = values[0];
    x = values.back();
    FB_CHECK(y >= least && x >= least, name, " must be at least ", least, ", got ", values);
    check_countable(values, name);
  }
};

Windows windows_of(IntSpan image, IntSpan kernel_size, IntSpan dilation, IntSpan padding,
                   IntSpan stride) {
  const Pair size(image, "output_size", 1), kernel(kernel_size, "kernel_size", 1);
  const Pair apart(dilation, "dilation", 1), edge(padding, "padding", 0), step(stride, "stride", 1);
  const Windows windows{{size.y, kernel.y, apart.y, edge.y, step.y},
                        {size.x, kernel.x, apart.x, edge.x, step.x}};
  FB_CHECK(size.y + 2 * edge.y > apart.y * (kernel.y - 1) &&
               size.x + 2 * edge.x > apart.x * (kernel.x - 1),
           "an image of ", image, " with padding ", padding, " has no window of kernel_size ",
           kernel_size, " and dilation ", dilation);
  // Refuses a number of columns that overflows.
  numel_of({kernel.y, kernel.x, windows.y.windows(), windows.x.windows()});
  return windows;
}

}  // namespace

Tensor compute::nn_functional_unfold(const Tensor& input, IntSpan kernel_size, IntSpan dilation,
                                     IntSpan padding, IntSpan stride) {
  const IntSpan sizes = input.sizes();
  FB_CHECK_INDEX(sizes.size() >= 3, "expected input of 3 or 4 dimensions, got ", sizes);
  FB_CHECK(sizes.size() <= 4 && numel_of(sizes.last(3)) > 0,
           "expected input of 3 or 4 dimensions, none empty but the batch, got ", sizes);
  const Windows windows = windows_of(sizes.last(2), kernel_size, dilation, padding, stride);
  const int64_t channels = sizes[sizes.size() - 3];
  Dims shape{numel_of({channels, windows.taps()}), windows.count()};
  if (sizes.size() == 4) shape.insert(0, sizes[0]);
  const Tensor image = contiguous(input),
               result = make_tensor(shape, input.dtype(), input.device());
  const int64_t planes = numel_of(sizes.first(sizes.size() - 2));
  kernel::of(result).unfold_planes(input.dtype(), planes, windows.y, windows.x, image.data(),
                                   result.data());
  return result;
}

Tensor compute::nn_functional_fold(const Tensor& input, IntSpan output_size, IntSpan kernel_size,
                                   IntSpan dilation, IntSpan padding, IntSpan stride) {
  const IntSpan sizes = input.sizes();
  FB_CHECK((sizes.size() == 2 || sizes.size() == 3) && numel_of(sizes.last(2)) > 0,
           "expected input of 2 or 3 dimensions, none empty but the batch, got ", sizes);
  const Windows windows = windows_of(output_size, kernel_size, dilation, padding, stride);
  const int64_t rows = sizes[sizes.size() - 2];
  FB_CHECK(rows % windows.taps() == 0, "input ", sizes, " has ", rows,
           " rows, which is not a multiple of kernel_size ", kernel_size);
  FB_CHECK(sizes.back() == windows.count(), "an image of ", output_size, " has ",
           windows.y.windows(), " * ", windows.x.windows(), " = ", windows.count(),
           " windows, input ", sizes, " has ", sizes.back());
  Dims shape{rows / windows.taps(), windows.y.size, windows.x.size};
  if (sizes.size() == 3) shape.insert(0, sizes[0]);
  const DType type = is_reduced_float(input.dtype()) ? DType::kFloat32 : input.dtype();
  const Tensor columns = contiguous(cast(input, type)),
               image = make_tensor(shape, type, input.device());
  kernel::of(image).fill(image, 0);
  const int64_t planes = numel_of(IntSpan(shape).first(shape.size() - 2));
  kernel::of(image).fold_planes(type, planes, windows.y, windows.x, columns.data(), image.data());
  return cast(image, input.dtype());
}

}  // namespace fb::ops
