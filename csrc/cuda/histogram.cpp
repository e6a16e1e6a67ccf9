// Counting elements by value and by interval.
//
// Counts are integers, whose order does not matter. Weights are sorted by bin and added in order,
// those of bincount only where the program asked for the same sums in every run.
#include "cuda/histogram.h"

#include <algorithm>

#include "core/determinism.h"
#include "cuda/device/histogram_args.h"
#include "cuda/launch.h"
#include "cuda/loop.h"
#include "cuda/order.h"
#include "cuda/radix.h"
#include "cuda/scan.h"
#include "cuda/typed_kernel.h"

namespace fb::cuda {
namespace {

TypedKernel count_kernel("histogram.cuh", "count_bins", "HistogramArguments");
TypedKernel add_kernel("histogram.cuh", "add_counts", "HistogramArguments");
TypedKernel weights_kernel("histogram.cuh", "add_weights", "HistogramArguments");
TypedKernel number_kernel("histogram.cuh", "number_bins", "HistogramArguments");

// Each of which fills bins of its own.
unsigned blocks_of_bins(int64_t n) {
  return static_cast<unsigned>(std::min<int64_t>((n + 256 * 8 - 1) / (256 * 8), 1024));
}

void count(int device, DType dtype, const device::HistogramArguments& args) {
  clear_bytes(device, args.counts, static_cast<size_t>(args.bins) * sizeof(unsigned long long));
  if (args.n == 0) return;
  launch(device, count_kernel.on(device, dtype), {blocks_of_bins(args.n)}, 256, args);
}

// As floating-point numbers.
void count_into(DType dtype, device::HistogramArguments args) {
  const int device = place_of(args.hist);
  use(device);
  const Room<unsigned long long> counts(device, args.bins);
  args.counts = counts.data();
  count(device, dtype, args);
  launch(device, add_kernel.on(device, dtype), {blocks_for(args.bins, 256)}, 256, args);
}

// Weights of elements with these numbers; numbers from `bins` on are left out.
void add_weights(int device, DType dtype, const int64_t* numbers, const void* weights, int64_t n,
                 int64_t bins, void* sums) {
  const Room<int64_t> sorted(device, n), order(device, n);
  sort_numbers(device, numbers, n, bins + 1, sorted.data(), order.data());
  sum_runs(device, dtype, sorted.data(), order.data(), weights, n, bins, sums);
}

}  // namespace

void count_values(const int64_t* values, int64_t n, int64_t* counts, int64_t bins) {
  if (bins == 0) return;
  const int device = place_of(counts);
  use(device);
  device::HistogramArguments args{};
  args.in = values;
  args.counts = reinterpret_cast<unsigned long long*>(counts);
  args.n = n;
  args.bins = bins;
  count(device, DType::kInt64, args);
}

void sum_weights(DType dtype, const int64_t* values, const void* weights, int64_t n, void* sums,
                 int64_t bins) {
  if (n == 0) return;
  const int device = place_of(values);
  use(device);
  if (determinism.load(std::memory_order_relaxed) != Determinism::kAny)
    return add_weights(device, dtype, values, weights, n, bins, sums);
  device::HistogramArguments args{};
  args.in = values;
  args.weights = weights;
  args.hist = sums;
  args.n = n;
  args.bins = bins;
  launch(device, weights_kernel.on(device, dtype), {blocks_of_bins(n)}, 256, args);
}

void histogram(const kernel::HistogramArgs& given, void* hist) {
  if (given.n == 0) return;
  device::HistogramArguments args{};
  args.in = given.in;
  args.edges = given.edges;
  args.hist = hist;
  args.n = given.n;
  args.bins = given.bins;
  args.uniform = given.uniform;
  if (!given.weights) return count_into(given.dtype, args);
  const int device = place_of(hist);
  use(device);
  const Room<int64_t> numbers(device, given.n);
  args.numbers = reinterpret_cast<long long*>(numbers.data());
  launch(device, number_kernel.on(device, given.dtype), {blocks_for(args.n, 256)}, 256, args);
  add_weights(device, given.dtype, numbers.data(), given.weights, given.n, given.bins, hist);
}

void histogram_even(DType dtype, const void* in, int64_t n, double low, double high, int64_t bins,
                    void* hist) {
  if (n == 0) return;
  device::HistogramArguments args{};
  args.in = in;
  args.hist = hist;
  args.n = n;
  args.bins = bins;
  args.low = low, args.high = high;
  count_into(dtype, args);
}

}  // namespace fb::cuda
