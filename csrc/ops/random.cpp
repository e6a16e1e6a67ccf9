// What the random operators mean: which elements get the next numbers, and which arguments are
// refused.
#include "gen/ops/random.h"

#include <cmath>
#include <limits>

#include "core/generator.h"
#include "cpu/copy.h"
#include "cpu/random.h"
#include "gen/ops/arith.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

Generator& or_default(Generator* generator) { return generator ? *generator : default_generator(); }

// The dims from the slowest to the fastest in memory, which is the order in which PyTorch's
// iterators visit the elements of an output. Its sort is stable from the last dim to the first and
// leaves a size-1 dim of stride 0 alone.
Dims memory_order(const Tensor& t) {
  const IntSpan sizes = t.sizes();
  const IntSpan strides = t.strides();
  const auto slower = [&](int64_t a, int64_t b) {
    if (strides[a] == 0 || strides[b] == 0) return 0;
    if (strides[a] != strides[b]) return strides[a] < strides[b] ? -1 : 1;
    return sizes[a] > sizes[b] ? 1 : 0;
  };
  Dims order;  // fastest first
  for (int64_t i = t.dim() - 1; i >= 0; --i) order.push_back(i);
  for (size_t i = 1; i < order.size(); ++i) {
    size_t at = i;
    for (size_t before = i; before-- > 0;) {
      const int verdict = slower(order[before], order[at]);
      if (verdict < 0) break;
      if (verdict == 0) continue;
      std::swap(order[before], order[at]);
      at = before;
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

Tensor permuted(const Tensor& t, const Dims& order) {
  Dims sizes;
  Dims strides;
  for (const int64_t dim : order) {
    sizes.push_back(t.sizes()[dim]);
    strides.push_back(t.strides()[dim]);
  }
  return as_view(t, sizes, strides);
}

// Calls fill(memory, order) for contiguous memory that becomes the elements of `out` in memory
// order.
template <class Fill>
void fill_in_memory_order(const Tensor& out, Fill&& fill) {
  if (out.numel() == 0) return;
  check_writable(out);
  if (out.is_contiguous()) return fill(out.data(), Dims());
  const Dims order = memory_order(out);
  const Tensor target = permuted(out, order);
  if (target.is_contiguous()) return fill(target.data(), order);
  const Tensor numbers = make_tensor(target.sizes(), target.dtype());
  fill(numbers.data(), order);
  cpu::copy(target, numbers);
}

// The real numbers in a tensor: twice as many as elements if it is complex.
int64_t real_count(const Tensor& t) { return is_complex(t.dtype()) ? 2 * t.numel() : t.numel(); }

void check_implemented(bool condition, const Tensor& t) {
  FB_CHECK_AS(ErrorKind::kNotImplemented, condition, "not implemented for '",
              legacy_name_of(t.dtype()), "'");
}

void fill_normal(const Tensor& out, double mean, double std, Generator* generator) {
  FB_CHECK(std >= 0, "normal expects std >= 0.0, but found std ", std);
  check_implemented(out.numel() == 0 || !is_integral(out.dtype()), out);
  constexpr int64_t kFewest = 16;  // PyTorch's threshold for filling block by block
  const bool in_blocks = out.is_contiguous() && real_count(out) >= kFewest;
  const DType dtype = real_type(out.dtype());
  // The two parts of a complex number share its variance.
  const double spread = is_complex(out.dtype()) ? std / std::sqrt(2.0) : std;
  fill_in_memory_order(out, [&](void* memory, const Dims&) {
    (in_blocks ? cpu::fill_normal_blocks : cpu::fill_normal)(or_default(generator), dtype, memory,
                                                             real_count(out), mean, spread);
  });
}

// Largest and smallest finite value.
std::pair<double, double> limits_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat16: return {-65504.0, 65504.0};
    case DType::kBFloat16: return {-0x1.fep127, 0x1.fep127};
    case DType::kFloat32:
      return {std::numeric_limits<float>::lowest(), std::numeric_limits<float>::max()};
    default: return {std::numeric_limits<double>::lowest(), std::numeric_limits<double>::max()};
  }
}

// Bits of the mantissa, the leading one included.
int digits_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat16: return 11;
    case DType::kBFloat16: return 8;
    case DType::kFloat32: return 24;
    default: return 53;
  }
}

int64_t rounded_to(DType dtype, int64_t value) {
  double rounded = 0;
  visit_real(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    rounded = convert<double>(convert<T>(value));
  });
  return static_cast<int64_t>(rounded);
}

// The distance between neighbouring numbers of a floating type near `value`.
int64_t spacing_at(DType dtype, int64_t value) {
  int exponent = 0;
  for (uint64_t rest = static_cast<uint64_t>(std::abs(value)); rest >>= 1;) ++exponent;
  return int64_t{1} << std::max(exponent - digits_of(dtype) + 1, 0);
}

// Bounds moved inwards to where rounding to the type cannot leave them again.
int64_t first_inside(DType dtype, int64_t from) {
  const int64_t next = rounded_to(dtype, from + 1);
  return next < from ? next + spacing_at(dtype, from + 1) : from;
}
int64_t end_inside(DType dtype, int64_t to) {
  const int64_t last = rounded_to(dtype, to - 1);
  return last >= to ? last - spacing_at(dtype, to - 1) : to;
}

// Integers of an integral type.
std::pair<int64_t, int64_t> integer_limits(DType dtype) {
  switch (dtype) {
    case DType::kBool: return {0, 1};
    case DType::kUInt8: return {0, 255};
    case DType::kInt8: return {-128, 127};
    case DType::kInt16: return {-32768, 32767};
    case DType::kInt32: return {-(int64_t{1} << 31), (int64_t{1} << 31) - 1};
    default: return {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  }
}

void check_in_range(DType dtype, int64_t first, int64_t last) {
  FB_CHECK(!is_complex(dtype), "handles only integral, floating-point and boolean types, got ",
           dtype);
  const auto check = [&](auto limits, auto value, const char* what) {
    FB_CHECK(value >= limits.first && value <= limits.second, what, " is out of bounds for ",
             dtype);
  };
  if (is_floating(dtype)) {
    check(limits_of(dtype), static_cast<double>(first), "from");
    check(limits_of(dtype), static_cast<double>(last), "to - 1");
  } else {
    check(integer_limits(dtype), first, "from");
    check(integer_limits(dtype), last, "to - 1");
  }
}

void fill_integers(const Tensor& out, uint64_t range, int64_t base, bool wide,
                   Generator* generator) {
  fill_in_memory_order(out, [&](void* memory, const Dims&) {
    cpu::fill_integers(or_default(generator), out.dtype(), memory, out.numel(), range, base, wide);
  });
}

// A range this large takes 64-bit draws, so that the remainder favours no number by more than a
// twentieth or so.
constexpr uint64_t kWideRange = uint64_t{1} << 28;

void fill_integers_between(const Tensor& out, int64_t from, int64_t to, Generator* generator) {
  FB_CHECK(from < to, "random_ expects 'from' to be less than 'to', but got from=", from,
           " >= to=", to);
  const DType dtype = out.dtype();
  if (is_floating(dtype)) {
    from = first_inside(dtype, from);
    to = end_inside(dtype, to);
    FB_CHECK(from < to,
             "random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, but got "
             "from=",
             from, " >= to=", to);
  }
  check_in_range(dtype, from, to - 1);
  const uint64_t range = static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
  fill_integers(out, range, from, range >= kWideRange, generator);
}

void fill_integers_from(const Tensor& out, int64_t from, Generator* generator) {
  const DType dtype = out.dtype();
  if (from == std::numeric_limits<int64_t>::min()) {
    const bool holds_it =
        dtype == DType::kInt64 || (is_floating(dtype) && dtype != DType::kFloat16);
    FB_CHECK(holds_it || out.numel() == 0,
             "the full 64-bit range needs int64, float64, float32 or bfloat16, got ", dtype);
    return fill_integers(out, 0, 0, true, generator);
  }
  int64_t last;
  if (is_floating(dtype)) {
    last = int64_t{1} << digits_of(dtype);
    from = first_inside(dtype, from);
    FB_CHECK(from < last,
             "random_ expects 'from' casted to dtype to be less than or equal to 'to_inc' casted "
             "to dtype, but got from=",
             from, " > to_inc=", last);
  } else {
    last = integer_limits(dtype).second;
  }
  check_in_range(dtype, from, last);
  const uint64_t range = static_cast<uint64_t>(last) - static_cast<uint64_t>(from) + 1;
  fill_integers(out, range, from, range >= kWideRange, generator);
}

Tensor like(const Tensor& input, std::optional<DType> dtype, std::optional<Device> device,
            std::optional<MemoryFormat> format) {
  const DType type = dtype.value_or(input.dtype());
  const Device place = device.value_or(input.device());
  if (format.value_or(MemoryFormat::kPreserve) == MemoryFormat::kPreserve &&
      place == input.device())
    return make_like(input, type);
  return make_strided(input.sizes(), strides_for(input.sizes(), *format), type, place);
}

void check_no_negative(const Tensor& std) {
  FB_CHECK(!is_complex(std.dtype()), "normal expects standard deviation to be non-complex");
  const Tensor values = contiguous(cast(std, DType::kFloat64));
  for (int64_t i = 0; i < values.numel(); ++i)
    FB_CHECK(values.data_as<double>()[i] >= 0, "normal expects all elements of std >= 0.0");
}

}  // namespace

// --- filling a tensor

void uniform_(const Tensor& input, double from, double to, Generator* generator) {
  const DType dtype = real_type(input.dtype());
  check_implemented(!is_integral(dtype), input);
  const auto [lowest, highest] = limits_of(dtype);
  FB_CHECK(from >= lowest && from <= highest, "from is out of bounds for ", dtype);
  FB_CHECK(to >= lowest && to <= highest, "to is out of bounds for ", dtype);
  FB_CHECK(from <= to, "uniform_ expects to return a [from, to) range, but found from=", from,
           " > to=", to);
  FB_CHECK(to - from <= highest, "uniform_ expects to-from <= ", highest, ", but found to=", to,
           " and from=", from);
  fill_in_memory_order(input, [&](void* memory, const Dims&) {
    cpu::fill_uniform(or_default(generator), dtype, memory, real_count(input), from, to);
  });
}

void normal_(const Tensor& input, double mean, double std, Generator* generator) {
  fill_normal(input, mean, std, generator);
}

void log_normal_(const Tensor& input, double mean, double std, Generator* generator) {
  FB_CHECK(std > 0, "log_normal_ expects std > 0.0, but found std=", std);
  check_implemented(input.numel() == 0 || is_floating(input.dtype()), input);
  fill_in_memory_order(input, [&](void* memory, const Dims&) {
    cpu::fill_log_normal(or_default(generator), input.dtype(), memory, input.numel(), mean, std);
  });
}

void exponential_(const Tensor& input, double lambd, Generator* generator) {
  FB_CHECK(lambd > 0, "exponential_ expects lambda > 0.0, but found lambda=", lambd);
  FB_CHECK(
      input.numel() == 0 || is_floating(input.dtype()),
      "Exponential distribution is a continuous probability distribution. dtype must be a floating "
      "point but you specified ",
      input.dtype());
  fill_in_memory_order(input, [&](void* memory, const Dims&) {
    cpu::fill_exponential(or_default(generator), input.dtype(), memory, input.numel(), lambd);
  });
}

void cauchy_(const Tensor& input, double median, double sigma, Generator* generator) {
  FB_CHECK(sigma > 0, "cauchy_ expects sigma > 0.0, but found sigma=", sigma);
  FB_CHECK(is_floating(input.dtype()),
           "Cauchy distribution is a continuous probability distribution. dtype must be a floating "
           "point but you specified ",
           input.dtype());
  fill_in_memory_order(input, [&](void* memory, const Dims&) {
    cpu::fill_cauchy(or_default(generator), input.dtype(), memory, input.numel(), median, sigma);
  });
}

void geometric_(const Tensor& input, double p, Generator* generator) {
  FB_CHECK(p > 0 && p < 1, "geometric_ expects p to be in (0, 1), but got p=", p);
  check_implemented(
      input.numel() == 0 || (!is_complex(input.dtype()) && input.dtype() != DType::kBool), input);
  fill_in_memory_order(input, [&](void* memory, const Dims&) {
    cpu::fill_geometric(or_default(generator), input.dtype(), memory, input.numel(), p);
  });
}

void bernoulli_(const Tensor& input, const Tensor& p, Generator* generator) {
  if (input.numel() == 0) return;
  check_implemented(!is_complex(input.dtype()), input);
  check_implemented(is_floating(p.dtype()), p);
  const Tensor stretched =
      as_view(p, input.sizes(), broadcast_strides(p.sizes(), p.strides(), input.sizes()));
  fill_in_memory_order(input, [&](void* memory, const Dims& order) {
    const Tensor probabilities = contiguous(order.empty() ? stretched : permuted(stretched, order));
    cpu::fill_bernoulli(or_default(generator), input.dtype(), memory, input.numel(), p.dtype(),
                        probabilities.data());
  });
}

void bernoulli_(const Tensor& input, double p, Generator* generator) {
  FB_CHECK(p >= 0 && p <= 1, "bernoulli_ expects p to be in [0, 1], but got p=", p);
  check_implemented(input.numel() == 0 || !is_complex(input.dtype()), input);
  fill_in_memory_order(input, [&](void* memory, const Dims&) {
    cpu::fill_bernoulli(or_default(generator), input.dtype(), memory, input.numel(), p);
  });
}

void random_(const Tensor& input, Generator* generator) {
  check_implemented(input.numel() == 0 || !is_complex(input.dtype()), input);
  const DType dtype = input.dtype();
  const bool wide = dtype == DType::kInt64 || dtype == DType::kFloat64;
  const uint64_t last = is_floating(dtype) ? uint64_t{1} << digits_of(dtype)
                                           : static_cast<uint64_t>(integer_limits(dtype).second);
  fill_integers(input, last + 1, 0, wide, generator);
}

void random_(const Tensor& input, int64_t to, Generator* generator) {
  fill_integers_between(input, 0, to, generator);
}

void random_(const Tensor& input, int64_t from, std::optional<int64_t> to, Generator* generator) {
  if (to)
    fill_integers_between(input, from, *to, generator);
  else
    fill_integers_from(input, from, generator);
}

// --- new tensors

Tensor rand(IntSpan size, Generator* generator, std::optional<DType> dtype,
            std::optional<Device> device) {
  Tensor out = make_tensor(size, dtype.value_or(default_dtype()), device.value_or(Device{}));
  uniform_(out, 0, 1, generator);
  return out;
}

Tensor randn(IntSpan size, Generator* generator, std::optional<DType> dtype,
             std::optional<Device> device) {
  return normal(0.0, 1.0, size, generator, dtype, device);
}

Tensor randint(int64_t high, IntSpan size, Generator* generator, std::optional<DType> dtype,
               std::optional<Device> device) {
  return randint(0, high, size, generator, dtype, device);
}

Tensor randint(int64_t low, int64_t high, IntSpan size, Generator* generator,
               std::optional<DType> dtype, std::optional<Device> device) {
  Tensor out = make_tensor(size, dtype.value_or(DType::kInt64), device.value_or(Device{}));
  fill_integers_between(out, low, high, generator);
  return out;
}

Tensor randperm(int64_t n, Generator* generator, std::optional<DType> dtype,
                std::optional<Device> device) {
  Tensor out = make_tensor({n}, dtype.value_or(DType::kInt64), device.value_or(Device{}));
  check_implemented(!is_complex(out.dtype()) && out.dtype() != DType::kBool, out);
  const int64_t largest = is_floating(out.dtype()) ? (int64_t{1} << digits_of(out.dtype())) + 1
                                                   : integer_limits(out.dtype()).second;
  // PyTorch lets bfloat16 repeat numbers.
  FB_CHECK(n <= largest || out.dtype() == DType::kBFloat16, "n cannot be greater than ", largest,
           " for dtype ", out.dtype(), ", got ", n);
  cpu::fill_permutation(or_default(generator), out.dtype(), out.data(), n);
  return out;
}

Tensor rand_like(const Tensor& input, Generator* generator, std::optional<DType> dtype,
                 std::optional<Device> device, std::optional<MemoryFormat> memory_format) {
  Tensor out = like(input, dtype, device, memory_format);
  uniform_(out, 0, 1, generator);
  return out;
}

Tensor randn_like(const Tensor& input, Generator* generator, std::optional<DType> dtype,
                  std::optional<Device> device, std::optional<MemoryFormat> memory_format) {
  Tensor out = like(input, dtype, device, memory_format);
  normal_(out, 0, 1, generator);
  return out;
}

Tensor randint_like(const Tensor& input, int64_t high, Generator* generator,
                    std::optional<DType> dtype, std::optional<Device> device,
                    std::optional<MemoryFormat> memory_format) {
  return randint_like(input, 0, high, generator, dtype, device, memory_format);
}

Tensor randint_like(const Tensor& input, int64_t low, int64_t high, Generator* generator,
                    std::optional<DType> dtype, std::optional<Device> device,
                    std::optional<MemoryFormat> memory_format) {
  Tensor out = like(input, dtype, device, memory_format);
  fill_integers_between(out, low, high, generator);
  return out;
}

Tensor normal(const Tensor& mean, const Tensor& std, Generator* generator) {
  check_no_negative(std);
  Tensor out =
      make_tensor(broadcast_shapes(mean.sizes(), std.sizes()), mean.dtype(), mean.device());
  normal_(out, 0, 1, generator);
  mul_(out, std);
  add_(out, mean);
  return out;
}

Tensor normal(const Tensor& mean, double std, Generator* generator) {
  Tensor out = make_tensor(mean.sizes(), mean.dtype(), mean.device());
  normal_(out, 0, std, generator);
  add_(out, mean);
  return out;
}

Tensor normal(double mean, const Tensor& std, Generator* generator) {
  check_no_negative(std);
  Tensor out = make_tensor(std.sizes(), std.dtype(), std.device());
  normal_(out, 0, 1, generator);
  mul_(out, std);
  add_(out, mean);
  return out;
}

Tensor normal(double mean, double std, IntSpan size, Generator* generator,
              std::optional<DType> dtype, std::optional<Device> device) {
  Tensor out = make_tensor(size, dtype.value_or(default_dtype()), device.value_or(Device{}));
  normal_(out, mean, std, generator);
  return out;
}

// --- tensors that are parameters

Tensor bernoulli(const Tensor& input, Generator* generator) {
  Tensor out = make_tensor(input.sizes(), input.dtype(), input.device());
  bernoulli_(out, input, generator);
  return out;
}

Tensor bernoulli(const Tensor& input, double p, Generator* generator) {
  Tensor out = make_tensor(input.sizes(), input.dtype(), input.device());
  bernoulli_(out, p, generator);
  return out;
}

Tensor multinomial(const Tensor& input, int64_t num_samples, bool replacement,
                   Generator* generator) {
  FB_CHECK(input.dim() == 1 || input.dim() == 2, "prob_dist must be 1 or 2 dim, got shape ",
           input.sizes());
  FB_CHECK(is_floating(input.dtype()),
           "multinomial only supports floating-point dtypes for input, got: ",
           legacy_name_of(input.dtype()));
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
    cpu::sample_categories(or_default(generator), input.dtype(), out.data_as<int64_t>(),
                           num_samples, weights.data(), out.numel() / num_samples, categories);
    return out;
  }
  fail(ErrorKind::kNotImplemented, "without replacement");
}

Tensor poisson(const Tensor& input, Generator* generator) {
  check_implemented(is_floating(input.dtype()), input);
  Tensor out = make_tensor(input.sizes(), input.dtype(), input.device());
  const Tensor rate = contiguous(input);
  cpu::sample_poisson(or_default(generator), input.dtype(), out.data(), out.numel(), rate.data());
  return out;
}

Tensor binomial(const Tensor& count, const Tensor& prob, Generator* generator) {
  for (const Tensor* t : {&count, &prob})
    FB_CHECK_VALUE(is_floating(t->dtype()),
                   "binomial only supports floating-point dtypes, got: ", t->dtype());
  FB_CHECK(count.dtype() == prob.dtype(), "expected count and prob of one dtype, got ",
           count.dtype(), " and ", prob.dtype());
  const Dims shape = broadcast_shapes(count.sizes(), prob.sizes());
  const auto stretched = [&](const Tensor& t) {
    return contiguous(as_view(t, shape, broadcast_strides(t.sizes(), t.strides(), shape)));
  };
  Tensor out = make_tensor(shape, count.dtype(), count.device());
  cpu::sample_binomial(or_default(generator), out.dtype(), out.data(), out.numel(),
                       stretched(count).data(), stretched(prob).data());
  return out;
}

Tensor _standard_gamma(const Tensor& input, Generator* generator) {
  Tensor out = make_tensor(input.sizes(), input.dtype(), input.device());
  const Tensor shape = contiguous(input);
  cpu::sample_gamma(or_default(generator), out.dtype(), out.data(), out.numel(), shape.data());
  return out;
}

}  // namespace fb::ops
