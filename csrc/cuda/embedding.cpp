// Rows of a table picked by number.
#include "cuda/embedding.h"

#include "cuda/device/embedding_args.h"
#include "cuda/device_error.h"
#include "cuda/launch.h"
#include "cuda/loop.h"
#include "cuda/order.h"
#include "cuda/segments.h"
#include "cuda/typed_kernel.h"

namespace fb::cuda {
namespace {

using kernel::Bags;
using kernel::RowTable;

constexpr const char* kHeader = "embedding.cuh";
TypedKernel take_kernel(kHeader, "take_element", "RowArguments");
TypedKernel check_kernel(kHeader, "check_number", "RowArguments");
TypedKernel sum_kernel(kHeader, "sum_bag", "RowArguments");
TypedKernel max_kernel(kHeader, "max_bag", "RowArguments");
TypedKernel rows_kernel(kHeader, "number_rows", "NumberArguments");
TypedKernel maxima_kernel(kHeader, "number_maxima", "NumberArguments");
TypedKernel bounds_kernel(kHeader, "bound_bag", "NumberArguments");
TypedKernel mend_kernel(kHeader, "mend_bound", "NumberArguments");
TypedKernel bags_kernel(kHeader, "number_bag", "NumberArguments");
TypedKernel sizes_kernel(kHeader, "reciprocal_size", "NumberArguments");
TypedKernel count_kernel(kHeader, "count_number", "NumberArguments");
TypedKernel counts_kernel(kHeader, "reciprocal_count", "NumberArguments");
TypedKernel replace_kernel(kHeader, "replace_number", "NumberArguments");
TypedKernel norm_kernel(kHeader, "limit_norm", "NormArguments");

constexpr const char* kName = "embedding";
constexpr const char* kBagName = "embedding_bag";

const long long* numbers_at(const int64_t* at) { return reinterpret_cast<const long long*>(at); }
long long* numbers_at(int64_t* at) { return reinterpret_cast<long long*>(at); }

template <class Arguments>
void run(TypedKernel& kernel, int device, DType dtype, int64_t threads, const Arguments& args) {
  if (threads == 0) return;
  launch(device, kernel.on(device, dtype), {blocks_for(threads, 256)}, 256, args);
}

device::RowArguments arguments_of(const RowTable& table, const int64_t* index) {
  device::RowArguments args{};
  args.table = table.data;
  args.rows = table.rows, args.width = table.width, args.stride = table.stride;
  args.index = numbers_at(index);
  return args;
}

// Elements that are moved together, as a type of that size.
DType widen(device::RowArguments& args, size_t size) {
  const auto place =
      reinterpret_cast<uintptr_t>(args.table) | reinterpret_cast<uintptr_t>(args.out);
  const auto row = static_cast<uint64_t>(args.width | args.stride) * size;
  size_t bytes = 16;
  while (bytes > size && (row % bytes != 0 || place % bytes != 0)) bytes /= 2;
  const auto together = static_cast<int64_t>(bytes / size);
  args.width /= together, args.stride /= together;
  return of_size(bytes);
}

// Of all that was counted or summed, in rows of `width` elements.
void add_segments(int device, Segments& segments, DType from, DType to) {
  segments.after_size = segments.width;
  segments.at = {1, {segments.limit}, {segments.width}};
  segments.after = {1, {segments.width}, {1}};
  join_segments(device, segments, kernel::ScatterMode::kAdd, from, to);
}

}  // namespace

// Without columns, it looks at the numbers alone.
void take_rows(const RowTable& table, const int64_t* index, int64_t n, void* out) {
  if (n == 0) return;
  const int device = place_of(index);
  use(device);
  device::RowArguments args = arguments_of(table, index);
  args.error = error_site(device, kName);
  args.out = out;
  if (table.width == 0) {
    args.n = n;
    return run(check_kernel, device, DType::kInt64, n, args);
  }
  const DType type = widen(args, size_of(table.dtype));
  args.n = n * args.width;
  run(take_kernel, device, type, args.n, args);
}

void add_rows(const RowTable& from, const kernel::RowSums& sums, void* out, int64_t out_rows) {
  const int device = place_of(out);
  use(device);
  const DType type = from.dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  clear_bytes(device, out, static_cast<size_t>(out_rows * from.width) * size_of(type));
  if (sums.n == 0 || from.width == 0 || from.rows == 0) return;
  const DType key = key_type(out_rows);
  const Room<char> keys(device, sums.n * static_cast<int64_t>(size_of(key)));
  device::NumberArguments args{};
  args.in = numbers_at(sums.target);
  args.keys = keys.data();
  args.n = sums.n;
  args.limit = out_rows;
  run(rows_kernel, device, key, args.n, args);
  Segments segments{};
  segments.keys = keys.data();
  segments.n = sums.n;
  segments.limit = out_rows;
  segments.sources = numbers_at(sums.source);
  segments.factors = sums.factor;
  segments.values = from.data;
  segments.value_row = from.stride;
  segments.target = out;
  segments.width = from.width;
  add_segments(device, segments, from.dtype, type);
}

void sum_bags(const RowTable& table, const Bags& bags, const void* factor, void* out) {
  const int device = place_of(out);
  use(device);
  device::RowArguments args = arguments_of(table, bags.index);
  args.bounds = numbers_at(bags.bounds);
  args.factor = factor;
  args.out = out;
  args.n = bags.count * table.width;
  run(sum_kernel, device, table.dtype, args.n, args);
}

void max_bags(const RowTable& table, const Bags& bags, void* out, int64_t* rows) {
  const int device = place_of(out);
  use(device);
  device::RowArguments args = arguments_of(table, bags.index);
  args.bounds = numbers_at(bags.bounds);
  args.out = out;
  args.where = numbers_at(rows);
  args.n = bags.count * table.width;
  run(max_kernel, device, table.dtype, args.n, args);
}

void add_maxima(DType dtype, const void* gradient, const int64_t* rows, int64_t n, int64_t width,
                void* out) {
  if (n == 0) return;
  const int device = place_of(out);
  use(device);
  device::NumberArguments args{};
  args.in = numbers_at(rows);
  args.n = n;
  args.width = width;
  // More than fit into the device's memory.
  args.limit = static_cast<long long>(properties(device).memory);
  const DType key = key_type(args.limit);
  const Room<char> keys(device, n * static_cast<int64_t>(size_of(key)));
  args.keys = keys.data();
  run(maxima_kernel, device, key, n, args);
  Segments segments{};
  segments.keys = keys.data();
  segments.n = n;
  segments.limit = args.limit;
  segments.values = gradient;
  segments.value_row = 1;
  segments.target = out;
  segments.width = 1;
  add_segments(device, segments, dtype, dtype);
}

// What is wrong with offsets raises later, like a bad index, so that nobody waits for them.
kernel::BagOffsets bag_bounds(const int64_t* offsets, int64_t given, int64_t count, int64_t indices,
                              int64_t* bounds) {
  const int device = place_of(bounds);
  use(device);
  device::NumberArguments args{};
  args.in = numbers_at(offsets);
  args.out = numbers_at(bounds);
  args.n = given;
  args.count = count;
  args.limit = indices;
  args.error = error_site(device, kBagName);
  const Room<unsigned long long> faults(device, 1);
  clear_bytes(device, faults.data(), sizeof(int64_t));
  args.counts = faults.data();
  run(bounds_kernel, device, DType::kInt64, given + 1, args);
  run(mend_kernel, device, DType::kInt64, count, args);
  return {};
}

void number_bags(const Bags& bags, int64_t* of_index, int64_t* sizes) {
  if (bags.count == 0) return;
  const int device = place_of(sizes);
  use(device);
  device::NumberArguments args{};
  args.in = numbers_at(bags.index);
  args.out = numbers_at(of_index);
  args.bags = numbers_at(bags.bounds);
  args.counts = reinterpret_cast<unsigned long long*>(sizes);
  args.n = bags.count;
  run(bags_kernel, device, DType::kInt64, 32 * bags.count, args);
}

void reciprocal_sizes(DType dtype, const int64_t* bags, const int64_t* sizes, int64_t n,
                      void* out) {
  const int device = place_of(sizes);
  use(device);
  device::NumberArguments args{};
  args.in = numbers_at(sizes);
  args.bags = numbers_at(bags);
  args.reciprocals = out;
  args.n = n;
  run(sizes_kernel, device, dtype, n, args);
}

void reciprocal_counts(DType dtype, const int64_t* numbers, int64_t n, int64_t rows, void* out) {
  if (n == 0) return;
  const int device = place_of(out);
  use(device);
  const Room<unsigned long long> counts(device, rows);
  clear_bytes(device, counts.data(), static_cast<size_t>(rows) * sizeof(int64_t));
  device::NumberArguments args{};
  args.in = numbers_at(numbers);
  args.counts = counts.data();
  args.reciprocals = out;
  args.n = n;
  args.limit = rows;
  run(count_kernel, device, DType::kInt64, n, args);
  run(counts_kernel, device, dtype, n, args);
}

void replace_number(int64_t* numbers, int64_t n, int64_t number, int64_t other) {
  const int device = place_of(numbers);
  use(device);
  device::NumberArguments args{};
  args.out = numbers_at(numbers);
  args.n = n;
  args.number = number, args.other = other;
  run(replace_kernel, device, DType::kInt64, n, args);
}

void limit_norms(const Tensor& table, const Tensor& numbers, double max_norm, double p) {
  if (numbers.numel() == 0 || table.numel() == 0) return;
  const int device = place_of(table);
  use(device);
  const Room<unsigned> claimed(device, table.size(0));
  clear_bytes(device, claimed.data(), static_cast<size_t>(table.size(0)) * sizeof(unsigned));
  const device::NormArguments args{table.data(),       numbers_at(numbers.data_as<int64_t>()),
                                   claimed.data(),     numbers.numel(),
                                   table.size(0),      table.size(1),
                                   table.strides()[0], table.strides()[1],
                                   max_norm,           p};
  run(norm_kernel, device, table.dtype(), args.n * 32, args);
}

}  // namespace fb::cuda
