// Binary search in sorted rows.
#include "cuda/search.h"

#include "cuda/device/search_args.h"
#include "cuda/launch.h"
#include "cuda/loop.h"
#include "cuda/typed_kernel.h"

namespace fb::cuda {
namespace {

TypedKernel search_kernel("search.cuh", "search_value", "SearchArguments");

}  // namespace

void search_sorted(const kernel::SearchArgs& given, int64_t* out) {
  device::SearchArguments args{};
  args.n = given.rows * given.per_row;
  if (args.n == 0) return;
  args.sequences = given.sequences;
  args.sorter = reinterpret_cast<const long long*>(given.sorter);
  args.values = given.values;
  args.out = reinterpret_cast<long long*>(out);
  args.per_row = given.per_row;
  args.length = given.length;
  args.shared = given.shared;
  args.right = given.right;
  const int device = place_of(out);
  use(device);
  launch(device, search_kernel.on(device, given.dtype), {blocks_for(args.n, 256)}, 256, args);
}

}  // namespace fb::cuda
