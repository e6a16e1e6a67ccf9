// Elements picked by position.
//
// Kernels move elements without looking at them, so they are instantiated for sizes, not for types.
#include "cuda/index.h"

#include <cstring>
#include <string>

#include "core/determinism.h"
#include "core/error.h"
#include "cuda/device/index_args.h"
#include "cuda/device_error.h"
#include "cuda/launch.h"
#include "cuda/loop.h"
#include "cuda/order.h"
#include "cuda/segments.h"
#include "cuda/typed_kernel.h"
#include "kernel/table.h"

namespace fb::cuda {
namespace {

TypedKernel pick_kernel("index.cuh", "pick_element", "PickArguments");
TypedKernel put_kernel("index.cuh", "put_element", "PickArguments");
TypedKernel number_picks_kernel("index.cuh", "number_picks", "PickArguments");
TypedKernel gather_kernel("index.cuh", "gather_element", "GatherArguments");
TypedKernel scatter_kernel("index.cuh", "scatter_element", "GatherArguments");
TypedKernel join_kernel("index.cuh", "join_element", "GatherArguments");
TypedKernel add_picked_kernel("index.cuh", "add_picked", "PickArguments");
TypedKernel add_sums_kernel("index.cuh", "add_sums", "AddSumsArguments");
TypedKernel number_elements_kernel("index.cuh", "number_elements", "GatherArguments");
TypedKernel divide_kernel("index.cuh", "divide_element", "DivideArguments");
TypedKernel masked_packs_kernel("index.cuh", "masked_fill_packs", "MaskedFillArguments");
TypedKernel masked_fill_kernel("index.cuh", "masked_fill_element", "MaskedFillArguments");

void add_dim(device::IndexDims& dims, int64_t size, int64_t stride) {
  FB_CHECK_AS(ErrorKind::kNotImplemented, dims.count < device::kIndexDims,
              "no kernel on cuda for more than ", device::kIndexDims, " separate dimensions");
  dims.sizes[dims.count] = size;
  dims.strides[dims.count++] = stride;
}

// The same where neighbours that can be walked as one dimension are joined.
void join_dim(device::IndexDims& dims, int64_t size, int64_t stride) {
  if (size == 1) return;
  const int last = dims.count - 1;
  if (last < 0 || dims.strides[last] != size * stride) return add_dim(dims, size, stride);
  dims.sizes[last] *= size;
  dims.strides[last] = stride;
}

device::IndexDims joined(const Tensor& t, size_t from, size_t to) {
  device::IndexDims dims{};
  for (size_t d = from; d < to; ++d) join_dim(dims, t.sizes()[d], t.strides()[d]);
  return dims;
}

int64_t count_of(const device::IndexDims& dims) {
  int64_t count = 1;
  for (int d = 0; d < dims.count; ++d) count *= dims.sizes[d];
  return count;
}

// Steps that number all places of these sizes in row-major order.
void number_places(device::IndexDims& dims) {
  int64_t step = 1;
  for (int d = dims.count - 1; d >= 0; --d) {
    dims.strides[d] = step;
    step *= dims.sizes[d];
  }
}

device::PickArguments arguments_of(const kernel::Picks& picks, int device, const char* by) {
  const Tensor& target = picks.target;
  const auto before = static_cast<size_t>(picks.before);
  const size_t behind = before + picks.positions.size();
  FB_CHECK_AS(ErrorKind::kNotImplemented, picks.positions.size() <= device::kMostPositions,
              "no kernel on cuda for more than ", device::kMostPositions, " indices");
  device::PickArguments args{};
  args.array = target.data();
  args.picked = picks.count();
  args.before = joined(target, 0, before);
  for (size_t d = before; d < behind; ++d) add_dim(args.at, target.sizes()[d], target.strides()[d]);
  args.after = joined(target, behind, target.sizes().size());
  args.after_size = count_of(args.after);
  args.dimension = static_cast<int>(before);
  for (size_t d = 0; d < picks.positions.size(); ++d)
    args.positions[d] = static_cast<const long long*>(picks.positions[d].data());
  args.from_the_end = picks.from_the_end;
  args.error = error_site(device, by);
  return args;
}

// Neighbours are moved together where all places suit that: how large an element is then.
size_t widen(device::PickArguments& args, size_t size) {
  const int last = args.after.count - 1;
  if (last < 0 || args.after.strides[last] != 1) return size;
  for (size_t bytes = 16; bytes > size; bytes /= 2) {
    const auto together = static_cast<int64_t>(bytes / size);
    const auto suits = [&](const device::IndexDims& dims) {
      for (int d = 0; d < dims.count; ++d)
        if ((&dims != &args.after || d != last) && dims.strides[d] % together != 0) return false;
      return true;
    };
    const auto place =
        reinterpret_cast<uintptr_t>(args.array) | reinterpret_cast<uintptr_t>(args.values);
    if (args.after.sizes[last] % together != 0 || place % bytes != 0 || !suits(args.before) ||
        !suits(args.at) || !suits(args.after))
      continue;
    for (device::IndexDims* dims : {&args.before, &args.at, &args.after})
      for (int d = 0; d < dims->count; ++d)
        if (dims != &args.after || d != last) dims->strides[d] /= together;
    args.after.sizes[last] /= together;
    args.after_size /= together;
    args.n /= together;
    return bytes;
  }
  return size;
}

void run_picks(TypedKernel& kernel, const kernel::Picks& picks, const Tensor& values,
               const char* by) {
  if (values.numel() == 0) return;
  const int device = place_of(picks.target);
  use(device);
  device::PickArguments args = arguments_of(picks, device, by);
  args.values = values.data();
  args.n = values.numel();
  const DType type = of_size(widen(args, values.element_size()));
  launch(device, kernel.on(device, type), {blocks_for(args.n, 256)}, 256, args);
}

unsigned blocks_of_joins(int64_t n) { return blocks_for(n, 256 * device::kJoins); }

// In any order; neighbours are added together where they lie like that.
void add_rows(const kernel::Picks& picks, const Tensor& values) {
  if (values.numel() == 0) return;
  const int device = place_of(picks.target);
  use(device);
  device::PickArguments args = arguments_of(picks, device, "index_add_");
  args.values = values.data();
  args.n = values.numel();
  const size_t size = values.element_size();
  const auto together = static_cast<int>(widen(args, size) / size);
  const std::string variant = std::to_string(together);
  launch(device, add_picked_kernel.on(device, values.dtype(), together, variant.c_str()),
         {blocks_of_joins(args.n)}, 256, args);
}

device::GatherArguments arguments_of(const Tensor& array, int64_t dim, const Tensor& index,
                                     IntSpan strides, int device, const char* by) {
  device::GatherArguments args{};
  args.array = array.data();
  args.index = static_cast<const long long*>(index.data());
  args.n = index.numel();
  args.dimension = static_cast<int>(dim);
  args.array_size = array.sizes()[dim];
  for (int64_t d = 0; d < index.dim(); ++d) {
    // Neighbours of the indexed dimension stay separate.
    const bool apart = d == dim || (d > 0 && d - 1 == dim);
    if (d == dim) args.along = args.dims.count;
    apart ? add_dim(args.dims, index.sizes()[d], strides[d])
          : join_dim(args.dims, index.sizes()[d], strides[d]);
  }
  args.error = error_site(device, by);
  return args;
}

void run_gather(TypedKernel& kernel, DType dtype, const Tensor& array, int64_t dim,
                const Tensor& index, const Tensor& values, const char* by) {
  if (index.numel() == 0) return;
  const int device = place_of(array);
  use(device);
  device::GatherArguments args = arguments_of(array, dim, index, array.strides(), device, by);
  args.values = values.data();
  launch(device, kernel.on(device, dtype), {blocks_for(args.n, 256)}, 256, args);
}

Tensor contiguous_copy(const Tensor& t) {
  if (t.is_contiguous()) return t;
  Tensor whole = make_tensor(t.sizes(), t.dtype(), t.device());
  kernel::copy(whole, t);
  return whole;
}

// Whether values are joined by instructions that nothing comes between, whoever comes first: like
// PyTorch, where the program did not ask for the same sums in every run. Integers always are.
bool joins_in_any_order(DType dtype) {
  if (dtype == DType::kInt32 || dtype == DType::kInt64) return true;
  return (dtype == DType::kFloat32 || dtype == DType::kFloat64) &&
         determinism.load(std::memory_order_relaxed) == Determinism::kAny;
}

// As device::ScatterMode.
const char* variant_of(kernel::ScatterMode mode) {
  switch (mode) {
    case kernel::ScatterMode::kAdd: return "ScatterMode::kAdd";
    case kernel::ScatterMode::kMultiply: return "ScatterMode::kMultiply";
    case kernel::ScatterMode::kMin: return "ScatterMode::kMin";
    default: return "ScatterMode::kMax";
  }
}

void join_in_any_order(const Tensor& target, int64_t dim, const Tensor& index, const Tensor& values,
                       kernel::ScatterMode mode, const char* by) {
  if (index.numel() == 0) return;
  const int device = place_of(target);
  use(device);
  device::GatherArguments args = arguments_of(target, dim, index, target.strides(), device, by);
  args.values = values.data();
  const Function join =
      join_kernel.on(device, target.dtype(), static_cast<int>(mode), variant_of(mode));
  launch(device, join, {blocks_of_joins(args.n)}, 256, args);
}

// 16-bit floats are added up in float32, which needs room for the whole target.
bool sums_apart(const Tensor& target, const Tensor& values) {
  return (target.dtype() == DType::kFloat16 || target.dtype() == DType::kBFloat16) &&
         target.is_contiguous() && target.numel() <= 4 * values.numel() &&
         determinism.load(std::memory_order_relaxed) == Determinism::kAny;
}

void add_sums_apart(const Tensor& target, int64_t dim, const Tensor& index, const Tensor& values) {
  if (index.numel() == 0) return;
  const int device = place_of(target);
  use(device);
  const Room<float> sums(device, target.numel());
  clear_bytes(device, sums.data(), static_cast<size_t>(target.numel()) * sizeof(float));
  device::GatherArguments args =
      arguments_of(target, dim, index, target.strides(), device, "scatter_add_");
  args.array = sums.data();
  args.values = values.data();
  const auto variants = static_cast<int>(kernel::ScatterMode::kMax) + 1;
  launch(device, join_kernel.on(device, target.dtype(), variants, "ScatterMode::kAdd, float"),
         {blocks_of_joins(args.n)}, 256, args);
  const device::AddSumsArguments rest{target.data(), sums.data(), target.numel()};
  launch(device, add_sums_kernel.on(device, target.dtype()), {blocks_for(rest.n, 256)}, 256, rest);
}

void add_picks(const kernel::Picks& picks, const Tensor& values) {
  if (values.numel() == 0) return;
  const Tensor& target = picks.target;
  const int device = place_of(target);
  use(device);
  device::PickArguments args =
      arguments_of(picks, device, picks.from_the_end ? "index_put_" : "index_add_");
  const auto before = static_cast<size_t>(picks.before);
  Segments segments{};
  segments.at = joined(target, before, before + picks.positions.size());
  segments.before = args.before;
  segments.after = args.after;
  segments.n = args.picked;
  segments.limit = args.limit = count_of(args.at);
  number_places(args.at);
  const DType key = key_type(args.limit);
  const Room<char> keys(device, args.picked * static_cast<int64_t>(size_of(key)));
  segments.keys = args.keys = keys.data();
  launch(device, number_picks_kernel.on(device, key), {blocks_for(args.picked, 256)}, 256, args);
  segments.values = values.data();
  segments.target = target.data();
  segments.width = values.numel() / args.picked;
  segments.after_size = segments.value_row = args.after_size;
  segments.value_block = args.picked * args.after_size;
  join_segments(device, segments, kernel::ScatterMode::kAdd, values.dtype(), target.dtype());
}

void join_elements(const Tensor& target, int64_t dim, const Tensor& index, const Tensor& values,
                   kernel::ScatterMode mode) {
  if (index.numel() == 0) return;
  const int device = place_of(target);
  use(device);
  device::GatherArguments args =
      arguments_of(target, dim, index, contiguous_strides(target.sizes()), device,
                   mode == kernel::ScatterMode::kAdd ? "scatter_add_" : "scatter_reduce_");
  Segments segments{};
  segments.at = joined(target, 0, target.sizes().size());
  segments.n = args.n;
  segments.limit = args.limit = target.numel();
  const DType key = key_type(args.limit);
  const Room<char> keys(device, args.n * static_cast<int64_t>(size_of(key)));
  segments.keys = args.keys = keys.data();
  launch(device, number_elements_kernel.on(device, key), {blocks_for(args.n, 256)}, 256, args);
  segments.values = values.data();
  segments.target = target.data();
  segments.width = segments.after_size = segments.value_row = 1;
  join_segments(device, segments, mode, values.dtype(), target.dtype());
}

}  // namespace

void pick(const Tensor& out, const kernel::Picks& picks) {
  run_picks(pick_kernel, picks, out, picks.from_the_end ? "index" : "index_select");
}

// Other than on the CPU: of values for the same place any one stays, as in PyTorch, and a bad
// position, which is found while others are written, keeps nobody from writing.
void index_put(const kernel::Picks& picks, const Tensor& values, bool accumulate) {
  const Tensor whole = contiguous_copy(values);
  const bool adds_rows = !picks.from_the_end;  // index_add_, else index_put_
  if (accumulate && adds_rows && joins_in_any_order(whole.dtype()))
    add_rows(picks, whole);
  else if (accumulate)
    add_picks(picks, whole);
  else
    run_picks(put_kernel, picks, whole, picks.from_the_end ? "index_put_" : "index_copy_");
}

void gather(const Tensor& out, const Tensor& input, int64_t dim, const Tensor& index) {
  run_gather(gather_kernel, of_size(input.dtype()), input, dim, index, out, "gather");
}

void scatter(const Tensor& target, int64_t dim, const Tensor& index, const Tensor& source,
             kernel::ScatterMode mode) {
  const Tensor whole = contiguous_copy(source);
  const DType dtype = target.dtype();
  if (mode == kernel::ScatterMode::kStore)
    run_gather(scatter_kernel, of_size(dtype), target, dim, index, whole, "scatter_");
  else if (joins_in_any_order(dtype))
    join_in_any_order(target, dim, index, whole, mode,
                      mode == kernel::ScatterMode::kAdd ? "scatter_add_" : "scatter_reduce_");
  else if (mode == kernel::ScatterMode::kAdd && sums_apart(target, whole))
    add_sums_apart(target, dim, index, whole);
  else
    join_elements(target, dim, index, whole, mode);
}

void divide_by_counts(const Tensor& sums, const Tensor& counts) {
  if (sums.numel() == 0) return;
  const int device = place_of(sums);
  use(device);
  const device::DivideArguments args{sums.data(), static_cast<const long long*>(counts.data()),
                                     sums.numel()};
  launch(device, divide_kernel.on(device, sums.dtype()), {blocks_for(args.n, 256)}, 256, args);
}

void masked_fill(const Tensor& out, const Tensor& input, const Tensor& mask, const void* value) {
  if (out.numel() == 0) return;
  const int device = place_of(out);
  use(device);
  device::MaskedFillArguments args{};
  std::memcpy(args.value, value, out.element_size());
  args.out = out.data();
  args.in = input.data();
  args.mask = static_cast<const unsigned char*>(mask.data());
  args.n = out.numel();
  const auto pack = static_cast<int64_t>(16 / out.element_size());
  const auto aligned = [](const void* p, int64_t bytes) {
    return reinterpret_cast<uintptr_t>(p) % static_cast<uintptr_t>(bytes) == 0;
  };
  const DType type = of_size(out.dtype());
  if (pack > 1 && aligned(args.out, 16) && aligned(args.in, 16) && aligned(args.mask, pack))
    // What is behind the last pack has threads of its own.
    launch(device, masked_packs_kernel.on(device, type),
           {blocks_for(args.n / pack + args.n % pack, 256 * device::kMaskedPacks)}, 256, args);
  else
    launch(device, masked_fill_kernel.on(device, type), {blocks_for(args.n, 256)}, 256, args);
}

}  // namespace fb::cuda
