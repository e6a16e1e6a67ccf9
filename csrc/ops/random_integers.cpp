// Random integers: the range that a type allows, and how to draw from it.
#include <limits>

#include "gen/ops/create.h"
#include "gen/ops/random.h"
#include "ops/random_fill.h"

namespace fb::ops {
namespace {

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
  if (from == std::numeric_limits<int64_t>::max()) return from;
  const int64_t next = rounded_to(dtype, from + 1);
  return next < from ? next + spacing_at(dtype, from + 1) : from;
}
int64_t end_inside(DType dtype, int64_t to) {
  if (to == std::numeric_limits<int64_t>::min()) return to;
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
    kernel::of(out).fill_integers(generator_for(out, generator), out.dtype(), memory, out.numel(),
                                  range, base, wide);
  });
}

// A range this large takes 64-bit draws, so that the remainder favours no number by more than a
// twentieth or so.
constexpr uint64_t kWideRange = uint64_t{1} << 28;

void fill_integers_between(const Tensor& out, int64_t from, int64_t to, Generator* generator) {
  FB_CHECK(from < to, "expects 'from' to be less than 'to', but got from=", from, " >= to=", to);
  const DType dtype = out.dtype();
  if (is_floating(dtype)) {
    from = first_inside(dtype, from);
    to = end_inside(dtype, to);
    FB_CHECK(from < to,
             "expects 'from' casted to dtype to be less than 'to' casted to dtype, but got "
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
             "expects 'from' casted to dtype to be less than or equal to 'to_inc' casted "
             "to dtype, but got from=",
             from, " > to_inc=", last);
  } else {
    last = integer_limits(dtype).second;
  }
  check_in_range(dtype, from, last);
  const uint64_t range = static_cast<uint64_t>(last) - static_cast<uint64_t>(from) + 1;
  fill_integers(out, range, from, range >= kWideRange, generator);
}

}  // namespace

void compute::random_(const Tensor& input, Generator* generator) {
  check_implemented(input.numel() == 0 || !is_complex(input.dtype()), input);
  const DType dtype = input.dtype();
  const bool wide = dtype == DType::kInt64 || dtype == DType::kFloat64;
  const uint64_t last = is_floating(dtype) ? uint64_t{1} << digits_of(dtype)
                                           : static_cast<uint64_t>(integer_limits(dtype).second);
  fill_integers(input, last + 1, 0, wide, generator);
}

void compute::random_(const Tensor& input, int64_t to, Generator* generator) {
  fill_integers_between(input, 0, to, generator);
}

void compute::random_(const Tensor& input, int64_t from, std::optional<int64_t> to,
                      Generator* generator) {
  if (to)
    fill_integers_between(input, from, *to, generator);
  else
    fill_integers_from(input, from, generator);
}

Tensor compute::randint(int64_t high, IntSpan size, Generator* generator,
                        std::optional<DType> dtype, std::optional<Device> device) {
  return compute::randint(0, high, size, generator, dtype, device);
}

Tensor compute::randint(int64_t low, int64_t high, IntSpan size, Generator* generator,
                        std::optional<DType> dtype, std::optional<Device> device) {
  Tensor out = make_tensor(size, dtype.value_or(DType::kInt64), device.value_or(kHost));
  fill_integers_between(out, low, high, generator);
  return out;
}

Tensor compute::randperm(int64_t n, Generator* generator, std::optional<DType> dtype,
                         std::optional<Device> device) {
  Tensor out = make_tensor({n}, dtype.value_or(DType::kInt64), device.value_or(kHost));
  const int64_t largest = is_floating(out.dtype()) ? (int64_t{1} << digits_of(out.dtype())) + 1
                                                   : integer_limits(out.dtype()).second;
  // As in PyTorch, bfloat16 may repeat numbers.
  FB_CHECK(n <= largest || out.dtype() == DType::kBFloat16, "n cannot be greater than ", largest,
           " for dtype ", out.dtype(), ", got ", n);
  kernel::of(out).fill_permutation(generator_for(out, generator), out.dtype(), out.data(), n);
  return out;
}

Tensor compute::randint_like(const Tensor& input, int64_t high, Generator* generator,
                             std::optional<DType> dtype, std::optional<Device> device,
                             std::optional<MemoryFormat> memory_format) {
  return compute::randint_like(input, 0, high, generator, dtype, device, memory_format);
}

Tensor compute::randint_like(const Tensor& input, int64_t low, int64_t high, Generator* generator,
                             std::optional<DType> dtype, std::optional<Device> device,
                             std::optional<MemoryFormat> memory_format) {
  Tensor out = compute::empty_like(input, dtype, device, memory_format);
  fill_integers_between(out, low, high, generator);
  return out;
}

}  // namespace fb::ops
