// Random numbers of given distributions: checks of arguments, and compositions.
#include "gen/ops/random.h"

#include <cmath>
#include <limits>

#include "gen/ops/arith.h"
#include "gen/ops/create.h"
#include "gen/ops/reduce.h"
#include "gen/ops/sort.h"
#include "ops/random_fill.h"

namespace fb::ops {
namespace {

// The real numbers in a tensor: twice as many as elements if it is complex.
int64_t real_count(const Tensor& t) { return is_complex(t.dtype()) ? 2 * t.numel() : t.numel(); }

// Checks what a weighted choice without replacement would silently get wrong.
void check_weights(const Tensor& weights) {
  const Tensor rows = contiguous(
      cast(weights, weights.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32));
  const int64_t categories = rows.size(-1);
  if (rows.numel() == 0) return;
  const kernel::WeightFault fault = kernel::of(rows).weight_fault(
      rows.dtype(), rows.data(), rows.numel() / categories, categories);
  FB_CHECK(fault != kernel::WeightFault::kBadWeight,
           "probability tensor contains either `inf`, `nan` or element < 0");
  FB_CHECK(fault != kernel::WeightFault::kZeroRow,
           "invalid multinomial distribution (sum of probabilities <= 0)");
}

void check_no_negative(const Tensor& std) {
  FB_CHECK(!is_complex(std.dtype()), "expects standard deviation to be non-complex");
  const Tensor values = contiguous(cast(std, DType::kFloat64));
  FB_CHECK(kernel::of(values).all_within(values.dtype(), values.data(), values.numel(),
                                         {0, std::numeric_limits<double>::infinity()}),
           "expects all elements of std >= 0.0");
}

}  // namespace

// --- filling a tensor

void compute::uniform_(const Tensor& input, double from, double to, Generator* generator) {
  const DType dtype = real_type(input.dtype());
  const auto [lowest, highest] = limits_of(dtype);
  FB_CHECK(from >= lowest && from <= highest, "from is out of bounds for ", dtype);
  FB_CHECK(to >= lowest && to <= highest, "to is out of bounds for ", dtype);
  FB_CHECK(from <= to, "expects to return a [from, to) range, but found from=", from, " > to=", to);
  FB_CHECK(to - from <= highest, "expects to-from <= ", highest, ", but found to=", to,
           " and from=", from);
  fill_in_memory_order(input, [&](void* memory, const Dims&) {
    kernel::of(input).fill_uniform(generator_for(input, generator), dtype, memory,
                                   real_count(input), from, to);
  });
}

void compute::normal_(const Tensor& input, double mean, double std, Generator* generator) {
  FB_CHECK(std >= 0, "expects std >= 0.0, but found std ", std);
  check_implemented(input.numel() == 0 || !is_integral(input.dtype()), input);
  constexpr int64_t kFewest = 16;  // PyTorch's threshold for filling block by block
  const bool in_blocks = input.is_contiguous() && real_count(input) >= kFewest;
  const DType dtype = real_type(input.dtype());
  // The two parts of a complex number share its variance.
  const double spread = is_complex(input.dtype()) ? std / std::sqrt(2.0) : std;
  fill_in_memory_order(input, [&](void* memory, const Dims&) {
    const kernel::Random& fill = kernel::of(input);
    (in_blocks ? fill.fill_normal_blocks : fill.fill_normal)(
        generator_for(input, generator), dtype, memory, real_count(input), mean, spread);
  });
}

void compute::log_normal_(const Tensor& input, double mean, double std, Generator* generator) {
  FB_CHECK(std > 0, "expects std > 0.0, but found std=", std);
  check_implemented(input.numel() == 0 || is_floating(input.dtype()), input);
  fill_in_memory_order(input, [&](void* memory, const Dims&) {
    kernel::of(input).fill_log_normal(generator_for(input, generator), input.dtype(), memory,
                                      input.numel(), mean, std);
  });
}

void compute::exponential_(const Tensor& input, double lambd, Generator* generator) {
  FB_CHECK(lambd > 0, "expects lambda > 0.0, but found lambda=", lambd);
  FB_CHECK(
      input.numel() == 0 || is_floating(input.dtype()),
      "Exponential distribution is a continuous probability distribution. dtype must be a floating "
      "point but you specified ",
      input.dtype());
  fill_in_memory_order(input, [&](void* memory, const Dims&) {
    kernel::of(input).fill_exponential(generator_for(input, generator), input.dtype(), memory,
                                       input.numel(), lambd);
  });
}

void compute::cauchy_(const Tensor& input, double median, double sigma, Generator* generator) {
  FB_CHECK(sigma > 0, "expects sigma > 0.0, but found sigma=", sigma);
  fill_in_memory_order(input, [&](void* memory, const Dims&) {
    kernel::of(input).fill_cauchy(generator_for(input, generator), input.dtype(), memory,
                                  input.numel(), median, sigma);
  });
}

void compute::geometric_(const Tensor& input, double p, Generator* generator) {
  FB_CHECK(p > 0 && p < 1, "expects p to be in (0, 1), but got p=", p);
  check_implemented(
      input.numel() == 0 || (!is_complex(input.dtype()) && input.dtype() != DType::kBool), input);
  fill_in_memory_order(input, [&](void* memory, const Dims&) {
    kernel::of(input).fill_geometric(generator_for(input, generator), input.dtype(), memory,
                                     input.numel(), p);
  });
}

void compute::bernoulli_(const Tensor& input, const Tensor& p, Generator* generator) {
  if (input.numel() == 0) return;
  check_implemented(!is_complex(input.dtype()), input);
  check_implemented(is_floating(p.dtype()), p);
  const Tensor stretched =
      as_view(p, input.sizes(), broadcast_strides(p.sizes(), p.strides(), input.sizes()));
  fill_in_memory_order(input, [&](void* memory, const Dims& order) {
    const Tensor probabilities = contiguous(order.empty() ? stretched : permuted(stretched, order));
    kernel::of(input).fill_bernoulli_each(generator_for(input, generator), input.dtype(), memory,
                                          input.numel(), p.dtype(), probabilities.data());
  });
}

void compute::bernoulli_(const Tensor& input, double p, Generator* generator) {
  FB_CHECK(p >= 0 && p <= 1, "expects p to be in [0, 1], but got p=", p);
  check_implemented(input.numel() == 0 || !is_complex(input.dtype()), input);
  fill_in_memory_order(input, [&](void* memory, const Dims&) {
    kernel::of(input).fill_bernoulli(generator_for(input, generator), input.dtype(), memory,
                                     input.numel(), p);
  });
}

// --- new tensors

Tensor compute::rand(IntSpan size, Generator* generator, std::optional<DType> dtype,
                     std::optional<Device> device) {
  Tensor out = make_tensor(size, dtype.value_or(default_dtype()), device.value_or(kHost));
  compute::uniform_(out, 0, 1, generator);
  return out;
}

Tensor compute::randn(IntSpan size, Generator* generator, std::optional<DType> dtype,
                      std::optional<Device> device) {
  return compute::normal(0.0, 1.0, size, generator, dtype, device);
}

Tensor compute::rand_like(const Tensor& input, Generator* generator, std::optional<DType> dtype,
                          std::optional<Device> device, std::optional<MemoryFormat> memory_format) {
  Tensor out = compute::empty_like(input, dtype, device, memory_format);
  compute::uniform_(out, 0, 1, generator);
  return out;
}

Tensor compute::randn_like(const Tensor& input, Generator* generator, std::optional<DType> dtype,
                           std::optional<Device> device,
                           std::optional<MemoryFormat> memory_format) {
  Tensor out = compute::empty_like(input, dtype, device, memory_format);
  compute::normal_(out, 0, 1, generator);
  return out;
}

Tensor compute::normal(const Tensor& mean, const Tensor& std, Generator* generator) {
  check_no_negative(std);
  Tensor out =
      make_tensor(broadcast_shapes(mean.sizes(), std.sizes()), mean.dtype(), mean.device());
  compute::normal_(out, 0, 1, generator);
  compute::mul_(out, std);
  compute::add_(out, mean);
  return out;
}

Tensor compute::normal(const Tensor& mean, double std, Generator* generator) {
  Tensor out = make_tensor(mean.sizes(), mean.dtype(), mean.device());
  compute::normal_(out, 0, std, generator);
  compute::add_(out, mean);
  return out;
}

Tensor compute::normal(double mean, const Tensor& std, Generator* generator) {
  check_no_negative(std);
  Tensor out = make_tensor(std.sizes(), std.dtype(), std.device());
  compute::normal_(out, 0, 1, generator);
  compute::mul_(out, std);
  compute::add_(out, mean);
  return out;
}

Tensor compute::normal(double mean, double std, IntSpan size, Generator* generator,
                       std::optional<DType> dtype, std::optional<Device> device) {
  Tensor out = make_tensor(size, dtype.value_or(default_dtype()), device.value_or(kHost));
  compute::normal_(out, mean, std, generator);
  return out;
}

// --- tensors that are parameters

Tensor compute::bernoulli(const Tensor& input, Generator* generator) {
  Tensor out = make_tensor(input.sizes(), input.dtype(), input.device());
  compute::bernoulli_(out, input, generator);
  return out;
}

Tensor compute::bernoulli(const Tensor& input, double p, Generator* generator) {
  Tensor out = make_tensor(input.sizes(), input.dtype(), input.device());
  compute::bernoulli_(out, p, generator);
  return out;
}

Tensor compute::multinomial(const Tensor& input, int64_t num_samples, bool replacement,
                            Generator* generator) {
  FB_CHECK(input.dim() == 1 || input.dim() == 2, "prob_dist must be 1 or 2 dim, got shape ",
           input.sizes());
  FB_CHECK(num_samples > 0, "cannot sample n_sample <= 0 samples");
  const int64_t categories = input.size(-1);
  FB_CHECK(replacement || num_samples <= categories,
           "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  FB_CHECK(categories <= int64_t{1} << 24, "number of categories cannot exceed 2^24");
  Dims shape = input.sizes().vec();
  shape.back() = num_samples;
  Tensor out = make_tensor(shape, DType::kInt64, input.device());
  if (out.numel() == 0) return out;
  if (replacement && num_samples > 1) {
    const Tensor weights = contiguous(input);
    kernel::of(out).sample_categories(generator_for(out, generator), input.dtype(),
                                      out.data_as<int64_t>(), num_samples, weights.data(),
                                      out.numel() / num_samples, categories);
    return out;
  }
  // The largest quotient weight / exponential number belongs to a category with a probability in
  // proportion to its weight; the order of the others is that of drawing without replacement.
  check_weights(input);
  Tensor keys = make_like(input, input.dtype());
  compute::exponential_(keys, 1, generator);
  keys = compute::div(input, keys);
  if (num_samples == 1) return compute::argmax(keys, -1, true);
  return std::get<1>(compute::topk(keys, num_samples));
}

Tensor compute::poisson(const Tensor& input, Generator* generator) {
  Tensor out = make_tensor(input.sizes(), input.dtype(), input.device());
  const Tensor rate = contiguous(input);
  kernel::of(out).sample_poisson(generator_for(out, generator), input.dtype(), out.data(),
                                 out.numel(), rate.data());
  return out;
}

namespace {

Tensor broadcast_contiguous(const Tensor& t, const Dims& shape) {
  return contiguous(as_view(t, shape, broadcast_strides(t.sizes(), t.strides(), shape)));
}

}  // namespace

Tensor compute::binomial(const Tensor& count, const Tensor& prob, Generator* generator) {
  for (const Tensor* t : {&count, &prob})
    FB_CHECK_VALUE(is_floating(t->dtype()),
                   "only supports floating-point dtypes, got: ", t->dtype());
  FB_CHECK(count.dtype() == prob.dtype(), "expected count and prob of the same dtype, got ",
           count.dtype(), " and ", prob.dtype());
  const Dims shape = broadcast_shapes(count.sizes(), prob.sizes());
  Tensor out = make_tensor(shape, count.dtype(), count.device());
  kernel::of(out).sample_binomial(generator_for(out, generator), out.dtype(), out.data(),
                                  out.numel(), broadcast_contiguous(count, shape).data(),
                                  broadcast_contiguous(prob, shape).data());
  return out;
}

Tensor compute::_standard_gamma(const Tensor& input, Generator* generator) {
  Tensor out = make_tensor(input.sizes(), input.dtype(), input.device());
  const Tensor shape = contiguous(input);
  kernel::of(out).sample_gamma(generator_for(out, generator), out.dtype(), out.data(), out.numel(),
                               shape.data());
  return out;
}

Tensor compute::_standard_gamma_grad(const Tensor& input, const Tensor& output) {
  FB_CHECK(input.dtype() == output.dtype(), "expected input and output of the same dtype, got ",
           input.dtype(), " and ", output.dtype());
  const Dims shape = broadcast_shapes(input.sizes(), output.sizes());
  Tensor out = make_tensor(shape, input.dtype(), input.device());
  kernel::of(out).gamma_gradient(out.dtype(), out.data(), out.numel(),
                                 broadcast_contiguous(input, shape).data(),
                                 broadcast_contiguous(output, shape).data());
  return out;
}

Tensor compute::_dirichlet_grad(const Tensor& x, const Tensor& alpha, const Tensor& total) {
  FB_CHECK(x.dtype() == alpha.dtype() && x.dtype() == total.dtype(),
           "expected x, alpha and total of the same dtype, got ", x.dtype(), ", ", alpha.dtype(),
           " and ", total.dtype());
  const Dims shape = broadcast_shapes(broadcast_shapes(x.sizes(), alpha.sizes()), total.sizes());
  Tensor out = make_tensor(shape, x.dtype(), x.device());
  kernel::of(out).dirichlet_gradient(
      out.dtype(), out.data(), out.numel(), broadcast_contiguous(x, shape).data(),
      broadcast_contiguous(alpha, shape).data(), broadcast_contiguous(total, shape).data());
  return out;
}

Tensor compute::_sample_dirichlet(const Tensor& input, Generator* generator) {
  // Gamma numbers in double precision, so that small concentrations do not all become 0.
  const Tensor gamma = compute::_standard_gamma(cast(input, DType::kFloat64), generator);
  const Tensor total = compute::sum(gamma, IntSpan{-1}, true);
  const Tensor share = cast(compute::div(gamma, total), input.dtype());
  const bool narrow = input.dtype() == DType::kFloat32;
  const double smallest =
      narrow ? std::numeric_limits<float>::min() : std::numeric_limits<double>::min();
  const double largest = narrow ? std::nextafter(1.0f, 0.0f) : std::nextafter(1.0, 0.0);
  return compute::clamp(share, Scalar(smallest), Scalar(largest));
}

}  // namespace fb::ops
