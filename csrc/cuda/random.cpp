// Random numbers: how many threads draw, and how far each of them moves the generator.
#include "cuda/random.h"

#include <algorithm>

#include "core/error.h"
#include "core/tensor.h"
#include "cuda/copy.h"
#include "cuda/device/random_args.h"
#include "cuda/device_error.h"
#include "cuda/launch.h"
#include "cuda/loop.h"
#include "cuda/typed_kernel.h"

namespace fb::cuda {
namespace {

constexpr int kThreads = 256;

TypedKernel fill_kernel("random.cuh", "fill", "FillArguments");
TypedKernel mask_kernel("random.cuh", "fill_mask", "MaskArguments");
TypedKernel bernoulli_kernel("random.cuh", "fill_bernoulli_each", "SampleArguments");
TypedKernel integers_kernel("random.cuh", "fill_integers", "IntegerArguments");
TypedKernel rank_kernel("random.cuh", "rank_keys", "ShuffleArguments");
TypedKernel shuffle_kernel("random.cuh", "shuffle_bits", "ShuffleArguments");
TypedKernel slope_kernel("random.cuh", "scale_negative", "SlopeArguments");
TypedKernel sum_kernel("random.cuh", "sum_weights", "CategoryArguments");
TypedKernel choice_kernel("random.cuh", "choose_category", "CategoryArguments");
TypedKernel fault_kernel("random.cuh", "find_faults", "CategoryArguments");
TypedKernel poisson_kernel("samplers.cuh", "sample_poisson", "SampleArguments");
TypedKernel binomial_kernel("samplers.cuh", "sample_binomial", "SampleArguments");
TypedKernel gamma_kernel("samplers.cuh", "sample_gamma", "SampleArguments");
TypedKernel gamma_gradient_kernel("samplers.cuh", "gamma_gradient", "GradientArguments");
TypedKernel dirichlet_kernel("samplers.cuh", "dirichlet_gradient", "GradientArguments");

// What an element's sampler may draw: more is so unlikely that it does not matter if the next call
// repeats those words.
constexpr uint64_t kWordsPerSample = 256;

device::Draws reserved(Generator& generator, uint64_t words) {
  const Generator::Words taken = generator.reserve(words);
  return {taken.seed, taken.offset};
}

// PyTorch's grid, which decides which numbers an element gets: at most as many blocks as a device
// runs at once, each of whose threads takes `each` numbers at a time.
struct Spread {
  unsigned blocks;
  uint64_t words;  // that a thread draws
};
Spread grid_for(int device, int64_t n, int each) {
  const Properties& p = properties(device);
  const int64_t most =
      std::max<int64_t>(int64_t{p.processors} * (p.threads_per_processor / kThreads), 1);
  const int64_t blocks = std::min(most, (n + kThreads - 1) / kThreads);
  return {static_cast<unsigned>(blocks),
          static_cast<uint64_t>((n - 1) / (blocks * kThreads * each) + 1) * 4};
}

unsigned blocks_of(int64_t threads) {
  const int64_t blocks = (threads + kThreads - 1) / kThreads;
  FB_CHECK_AS(ErrorKind::kNotImplemented, blocks < int64_t{1} << 31,
              "no kernel on cuda for so many elements");
  return static_cast<unsigned>(blocks);
}

int numbers_at_once(DType dtype) { return dtype == DType::kFloat64 ? 2 : 4; }

// The order of device::Distribution.
enum class Distribution {
  kUniform,
  kNormal,
  kLogNormal,
  kExponential,
  kCauchy,
  kGeometric,
  kBernoulli,
};
constexpr const char* kDistributions[] = {
    "Distribution::kUniform",     "Distribution::kNormal", "Distribution::kLogNormal",
    "Distribution::kExponential", "Distribution::kCauchy", "Distribution::kGeometric",
    "Distribution::kBernoulli",
};

void fill_with(Distribution distribution, Generator& generator, DType dtype, void* out, int64_t n,
               double first, double second = 0) {
  if (n == 0) return;
  const int device = place_of(out);
  use(device);
  const auto number = static_cast<int>(distribution);
  const Spread grid = grid_for(device, n, numbers_at_once(dtype));
  const device::FillArguments args{out, n, reserved(generator, grid.words), first, second};
  launch(device, fill_kernel.on(device, dtype, number, kDistributions[number]), {grid.blocks},
         kThreads, args);
}

// A thread for each element.
void sample(TypedKernel& kernel, Generator& generator, DType dtype, void* out, int64_t n,
            const void* first, const void* second = nullptr) {
  if (n == 0) return;
  const int device = place_of(out);
  use(device);
  const device::SampleArguments args{out,   n,      reserved(generator, kWordsPerSample),
                                     first, second, error_site(device, "poisson")};
  launch(device, kernel.on(device, dtype), {blocks_of(n)}, kThreads, args);
}

void differentiate(TypedKernel& kernel, DType dtype, void* out, int64_t n, const void* a,
                   const void* b, const void* c = nullptr) {
  if (n == 0) return;
  const int device = place_of(out);
  use(device);
  const device::GradientArguments args{out, n, {a, b, c}};
  launch(device, kernel.on(device, dtype), {blocks_of(n)}, kThreads, args);
}

}  // namespace

// --- distributions with fixed parameters

void fill_uniform(Generator& generator, DType dtype, void* out, int64_t n, double from, double to) {
  fill_with(Distribution::kUniform, generator, dtype, out, n, from, to);
}

// All tensors are filled in one way: blocks are the CPU's.
void fill_normal_blocks(Generator& generator, DType dtype, void* out, int64_t n, double mean,
                        double std) {
  fill_with(Distribution::kNormal, generator, dtype, out, n, mean, std);
}

void fill_normal(Generator& generator, DType dtype, void* out, int64_t n, double mean, double std) {
  fill_with(Distribution::kNormal, generator, dtype, out, n, mean, std);
}

void fill_log_normal(Generator& generator, DType dtype, void* out, int64_t n, double mean,
                     double std) {
  fill_with(Distribution::kLogNormal, generator, dtype, out, n, mean, std);
}

void fill_exponential(Generator& generator, DType dtype, void* out, int64_t n, double rate) {
  fill_with(Distribution::kExponential, generator, dtype, out, n, rate);
}

void fill_cauchy(Generator& generator, DType dtype, void* out, int64_t n, double median,
                 double sigma) {
  fill_with(Distribution::kCauchy, generator, dtype, out, n, median, sigma);
}

void fill_geometric(Generator& generator, DType dtype, void* out, int64_t n, double p) {
  fill_with(Distribution::kGeometric, generator, dtype, out, n, p);
}

void fill_bernoulli(Generator& generator, DType dtype, void* out, int64_t n, double p) {
  fill_with(Distribution::kBernoulli, generator, dtype, out, n, p);
}

void fill_mask(Generator& generator, void* out, int64_t n, double keep) {
  if (n == 0) return;
  if (n % 2 != 0 || reinterpret_cast<uintptr_t>(out) % 4 != 0)
    return fill_bernoulli(generator, DType::kBool, out, n, keep);
  const int device = place_of(out);
  use(device);
  const bool by_fours = n % 4 == 0;
  const int many = by_fours ? 4 : 2;
  const Spread grid = grid_for(device, n, 4);
  const unsigned blocks = std::min(grid.blocks, blocks_of(n / many));
  const device::MaskArguments args{static_cast<unsigned char*>(out), n,
                                   int64_t{grid.blocks} * kThreads, reserved(generator, grid.words),
                                   static_cast<float>(keep)};
  launch(device, mask_kernel.on(device, DType::kUInt8, many, by_fours ? "4" : "2"), {blocks},
         kThreads, args);
}

void fill_bernoulli_each(Generator& generator, DType dtype, void* out, int64_t n, DType p_dtype,
                         const void* p) {
  if (n == 0) return;
  constexpr uint64_t kWords = 12;  // PyTorch's, of which 4 are drawn
  const int device = place_of(out);
  use(device);
  const device::SampleArguments args{out, n,       reserved(generator, kWords),
                                     p,   nullptr, error_site(device, "bernoulli")};
  const Function kernel =
      bernoulli_kernel.on(device, dtype, static_cast<int>(p_dtype), cpp_name(p_dtype));
  launch(device, kernel, {blocks_of((n + 3) / 4)}, kThreads, args);
}

// --- integers

void fill_integers(Generator& generator, DType dtype, void* out, int64_t n, uint64_t range,
                   int64_t base, bool wide) {
  if (n == 0) return;
  const int device = place_of(out);
  use(device);
  const Spread grid = grid_for(device, n, wide ? 2 : 4);
  const device::IntegerArguments args{out, n, reserved(generator, grid.words), range, base};
  launch(device, integers_kernel.on(device, dtype, wide, wide ? "true" : "false"), {grid.blocks},
         kThreads, args);
}

void fill_permutation(Generator& generator, DType dtype, void* out, int64_t n) {
  if (n == 0) return;
  // Up to here comparing all keys takes less time than it takes to start another kernel.
  constexpr int64_t kFew = 4096;
  const int device = place_of(out);
  use(device);
  const bool few = n <= kFew;
  int bits = 2;
  while (int64_t{1} << bits < n) ++bits;
  const device::ShuffleArguments args{out, n, reserved(generator, 16), bits / 2, bits - bits / 2};
  const unsigned blocks = few ? blocks_of(n) : grid_for(device, n, 1).blocks;
  launch(device, (few ? rank_kernel : shuffle_kernel).on(device, dtype), {blocks}, kThreads, args);
}

// --- parameters for each element

void sample_poisson(Generator& generator, DType dtype, void* out, int64_t n, const void* rate) {
  sample(poisson_kernel, generator, dtype, out, n, rate);
}

void sample_binomial(Generator& generator, DType dtype, void* out, int64_t n, const void* count,
                     const void* p) {
  sample(binomial_kernel, generator, dtype, out, n, count, p);
}

void sample_gamma(Generator& generator, DType dtype, void* out, int64_t n, const void* shape) {
  sample(gamma_kernel, generator, dtype, out, n, shape);
}

void sample_categories(Generator& generator, DType dtype, int64_t* out, int64_t samples,
                       const void* weights, int64_t rows, int64_t categories) {
  if (rows == 0 || samples == 0) return;
  const int device = place_of(out);
  use(device);
  const DType wide = dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  const Tensor sums =
      make_tensor({rows, categories}, wide, Device(DeviceType::kCuda, static_cast<int8_t>(device)));
  device::CategoryArguments args{};
  args.out = reinterpret_cast<long long*>(out);
  args.rows = rows, args.categories = categories, args.samples = samples;
  args.draws = reserved(generator, 4);
  args.weights = weights;
  args.sums = sums.data();
  args.error = error_site(device, "multinomial");
  launch(device, sum_kernel.on(device, dtype), {blocks_of(rows * kThreads)}, kThreads, args);
  launch(device, choice_kernel.on(device, dtype), {blocks_of(rows * samples)}, kThreads, args);
}

WeightFault weight_fault(DType dtype, const void* weights, int64_t rows, int64_t categories) {
  if (rows == 0) return WeightFault::kNone;
  const int device = place_of(weights);
  use(device);
  const Tensor faults =
      make_tensor({2}, DType::kInt32, Device(DeviceType::kCuda, static_cast<int8_t>(device)));
  fill(faults, 0);
  device::CategoryArguments args{};
  args.rows = rows, args.categories = categories;
  args.weights = weights;
  args.faults = faults.data_as<int>();
  launch(device, fault_kernel.on(device, dtype), {blocks_of(rows * kThreads)}, kThreads, args);
  int found[2] = {};
  to_host(faults.data(), sizeof found, found);
  if (found[0]) return WeightFault::kBadWeight;
  return found[1] ? WeightFault::kZeroRow : WeightFault::kNone;
}

void scale_negative(Generator& generator, DType dtype, const void* in, void* out, void* slopes,
                    int64_t n, double lower, double upper) {
  if (n == 0) return;
  const int device = place_of(out);
  use(device);
  const Spread grid = grid_for(device, n, numbers_at_once(dtype));
  const device::SlopeArguments args{in,    out,  slopes, n, reserved(generator, grid.words),
                                    lower, upper};
  launch(device, slope_kernel.on(device, dtype), {grid.blocks}, kThreads, args);
}

void gamma_gradient(DType dtype, void* out, int64_t n, const void* shape, const void* sample) {
  differentiate(gamma_gradient_kernel, dtype, out, n, shape, sample);
}

void dirichlet_gradient(DType dtype, void* out, int64_t n, const void* sample,
                        const void* concentration, const void* total) {
  differentiate(dirichlet_kernel, dtype, out, n, sample, concentration, total);
}

}  // namespace fb::cuda
