// New tensors.
#include "gen/ops/create.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/checked.h"
#include "kernel/table.h"
#include "ops/held.h"
#include "ops/host.h"
#include "ops/output.h"
#include "ops/promotion.h"

namespace fb::ops {
namespace {

// Whether `value` is in the range of type `t`, or of its parts; it may be rounded.
bool holds(DType t, double value) {
  return visit_all(t, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using Limits = std::numeric_limits<T>;
    if constexpr (std::is_integral_v<T>)
      return value >= static_cast<double>(Limits::min()) &&
             value <= static_cast<double>(Limits::max());
    const double most = t == DType::kFloat16    ? 65504.0
                        : t == DType::kBFloat16 ? 0x1.fep127
                        : size_of(real_type(t)) == 4
                            ? static_cast<double>(std::numeric_limits<float>::max())
                            : std::numeric_limits<double>::max();
    return std::isinf(value) || !(std::fabs(value) > most);
  });
}

}  // namespace

void check_held(DType t, const Scalar& value) {
  if (t == DType::kBool) return;
  if (value.is_integral() && (value.to<uint64_t>() & ~uint64_t{1}) == 0) return;  // 0 and 1
  const auto number = value.to<Complex<double>>();
  bool is_held = holds(t, number.re) && (is_complex(t) ? holds(t, number.im) : number.im == 0);
  if (t == DType::kUInt8 && value.is_integral()) is_held |= holds(t, -number.re);
  FB_CHECK(is_held, "value ", value, " cannot be converted to type ", t, " without overflow");
}

namespace {

using MaybeDType = std::optional<DType>;
using MaybeDevice = std::optional<Device>;
using MaybeFormat = std::optional<MemoryFormat>;

Tensor filled(Tensor out, const Scalar& value) {
  check_held(out.dtype(), value);
  kernel::of(out).fill(out, value);
  return out;
}

Tensor new_tensor(IntSpan size, MaybeDType dtype, MaybeDevice device) {
  return make_tensor(size, dtype.value_or(default_dtype()), device.value_or(kHost));
}

Tensor new_of(const Tensor& input, IntSpan size, MaybeDType dtype, MaybeDevice device) {
  return make_tensor(size, dtype.value_or(input.dtype()), device.value_or(input.device()));
}

// The number of steps from start to end, exclusive.
int64_t count_steps(const Scalar& start, const Scalar& end, const Scalar& step) {
  if (start.is_integral() && end.is_integral() && step.is_integral()) {
    const auto from = start.to<int64_t>(), to = end.to<int64_t>(), by = step.to<int64_t>();
    FB_CHECK(by != 0, "step must be nonzero");
    FB_CHECK(by > 0 ? to >= from : to <= from, "the range from ", from, " to ", to,
             " is inconsistent with the sign of step ", by);
    const __int128 distance = static_cast<__int128>(to) - from;
    const __int128 count = (distance + by - (by > 0 ? 1 : -1)) / by;
    FB_CHECK(count <= std::numeric_limits<int64_t>::max(), "the range from ", from, " to ", to,
             " has too many steps");
    return static_cast<int64_t>(count);
  }
  const auto from = start.to<double>(), to = end.to<double>(), by = step.to<double>();
  FB_CHECK(by != 0, "step must be nonzero");
  FB_CHECK(std::isfinite(from) && std::isfinite(to), "unsupported range: ", from, " to ", to);
  FB_CHECK(by > 0 ? to >= from : to <= from, "the range from ", from, " to ", to,
           " is inconsistent with the sign of step ", by);
  const double count = std::ceil((to - from) / by);
  FB_CHECK(count < 0x1p62, "the range from ", from, " to ", to, " has too many steps");
  return static_cast<int64_t>(count);
}

// Memory for `steps` numbers from start to end, which may be complex.
Tensor row_between(const Scalar& start, const Scalar& end, int64_t steps, MaybeDType dtype,
                   MaybeDevice device) {
  FB_CHECK(steps >= 0, "number of steps must be non-negative, got ", steps);
  const bool complex =
      start.kind() == Scalar::Kind::kComplex || end.kind() == Scalar::Kind::kComplex;
  const DType type = dtype.value_or(complex ? complex_type(default_dtype()) : default_dtype());
  FB_CHECK(!complex || fb::is_complex(type), "elements of type ", type, " cannot hold ", start,
           " to ", end);
  return make_tensor({steps}, type, device.value_or(kHost));
}

}  // namespace

Tensor compute::empty(IntSpan size, MaybeDType dtype, MaybeDevice device,
                      MaybeFormat memory_format) {
  const MemoryFormat format = memory_format.value_or(MemoryFormat::kContiguous);
  if (format == MemoryFormat::kContiguous) return new_tensor(size, dtype, device);
  FB_CHECK(format != MemoryFormat::kPreserve,
           "preserve_format needs a tensor to preserve the format of");
  return make_strided(size, strides_for(size, format), dtype.value_or(default_dtype()),
                      device.value_or(kHost));
}

Tensor compute::empty_strided(IntSpan size, IntSpan stride, MaybeDType dtype, MaybeDevice device) {
  return make_strided(size, stride, dtype.value_or(default_dtype()), device.value_or(kHost));
}

Tensor compute::empty_permuted(IntSpan size, IntSpan physical_layout, MaybeDType dtype,
                               MaybeDevice device) {
  FB_CHECK(physical_layout.size() == size.size(), "physical_layout ", physical_layout,
           " does not name every dimension of size ", size, " once");
  const Dims order = wrap_dims(physical_layout, static_cast<int64_t>(size.size()));
  Dims strides(size.size());
  int64_t step = 1;
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = step;
    step = checked_mul(step, std::max<int64_t>(size[order[i]], 1));
  }
  return make_strided(size, strides, dtype.value_or(default_dtype()), device.value_or(kHost));
}

Tensor compute::zeros(IntSpan size, MaybeDType dtype, MaybeDevice device) {
  return filled(new_tensor(size, dtype, device), 0);
}

Tensor compute::ones(IntSpan size, MaybeDType dtype, MaybeDevice device) {
  return filled(new_tensor(size, dtype, device), 1);
}

Tensor compute::full(IntSpan size, const Scalar& fill_value, MaybeDType dtype, MaybeDevice device) {
  return filled(new_tensor(size, dtype.value_or(scalar_type(fill_value)), device), fill_value);
}

Tensor compute::scalar_tensor(const Scalar& s, MaybeDType dtype, MaybeDevice device) {
  return filled(new_tensor({}, dtype, device), s);
}

Tensor compute::eye(int64_t n, MaybeDType dtype, MaybeDevice device) {
  return compute::eye(n, n, dtype, device);
}

Tensor compute::eye(int64_t n, int64_t m, MaybeDType dtype, MaybeDevice device) {
  FB_CHECK(n >= 0, "n must be greater or equal to 0, got ", n);
  FB_CHECK(m >= 0, "m must be greater or equal to 0, got ", m);
  Tensor out = compute::zeros({n, m}, dtype, device);
  kernel::of(out).fill(as_view(out, {std::min(n, m)}, {m + 1}), 1);
  return out;
}

Tensor compute::arange(const Scalar& end, MaybeDType dtype, MaybeDevice device) {
  return compute::arange(0, end, 1, dtype, device);
}

Tensor compute::arange(const Scalar& start, const Scalar& end, const Scalar& step, MaybeDType dtype,
                       MaybeDevice device) {
  const bool integral = start.is_integral() && end.is_integral() && step.is_integral();
  const DType type = dtype.value_or(integral ? DType::kInt64 : default_dtype());
  // Bounds of int64 ranges are truncated first, as in PyTorch: arange(3.1) has 3 elements.
  const auto bound = [&](const Scalar& s) {
    return type == DType::kInt64 ? Scalar(s.to<int64_t>()) : s;
  };
  FB_CHECK_VALUE(integral || type != DType::kInt64 || step.to<int64_t>() != 0,
                 "step must be nonzero, got ", step, ", which is 0 in int64");
  const int64_t count = count_steps(bound(start), bound(end), bound(step));
  Tensor out = make_tensor({count}, type, device.value_or(kHost));
  kernel::of(out).arange(out, bound(start), bound(step));
  return out;
}

Tensor compute::linspace(const Scalar& start, const Scalar& end, int64_t steps, MaybeDType dtype,
                         MaybeDevice device) {
  Tensor out = row_between(start, end, steps, dtype, device);
  kernel::of(out).linspace(out, start, end);
  return out;
}

Tensor compute::logspace(const Scalar& start, const Scalar& end, int64_t steps, double base,
                         MaybeDType dtype, MaybeDevice device) {
  Tensor out = row_between(start, end, steps, dtype, device);
  kernel::of(out).logspace(out, start, end, base);
  return out;
}

Tensor compute::empty_like(const Tensor& input, MaybeDType dtype, MaybeDevice device,
                           MaybeFormat memory_format) {
  const DType type = dtype.value_or(input.dtype());
  const MemoryFormat format = memory_format.value_or(MemoryFormat::kPreserve);
  const Device where = device.value_or(input.device());
  if (format == MemoryFormat::kPreserve) return make_like(input, type, where);
  return make_strided(input.sizes(), strides_for(input.sizes(), format), type, where);
}

Tensor compute::zeros_like(const Tensor& input, MaybeDType dtype, MaybeDevice device,
                           MaybeFormat memory_format) {
  return filled(compute::empty_like(input, dtype, device, memory_format), 0);
}

Tensor compute::ones_like(const Tensor& input, MaybeDType dtype, MaybeDevice device,
                          MaybeFormat memory_format) {
  return filled(compute::empty_like(input, dtype, device, memory_format), 1);
}

Tensor compute::full_like(const Tensor& input, const Scalar& fill_value, MaybeDType dtype,
                          MaybeDevice device, MaybeFormat memory_format) {
  return filled(compute::empty_like(input, dtype, device, memory_format), fill_value);
}

Tensor compute::new_empty(const Tensor& input, IntSpan size, MaybeDType dtype, MaybeDevice device) {
  return new_of(input, size, dtype, device);
}

Tensor compute::new_zeros(const Tensor& input, IntSpan size, MaybeDType dtype, MaybeDevice device) {
  return filled(new_of(input, size, dtype, device), 0);
}

Tensor compute::new_ones(const Tensor& input, IntSpan size, MaybeDType dtype, MaybeDevice device) {
  return filled(new_of(input, size, dtype, device), 1);
}

Tensor compute::new_full(const Tensor& input, IntSpan size, const Scalar& fill_value,
                         MaybeDType dtype, MaybeDevice device) {
  return filled(new_of(input, size, dtype, device), fill_value);
}

Tensor compute::new_empty_strided(const Tensor& input, IntSpan size, IntSpan stride,
                                  MaybeDType dtype, MaybeDevice device) {
  return make_strided(size, stride, dtype.value_or(input.dtype()), device.value_or(input.device()));
}

void compute::fill_(const Tensor& input, const Operand& value) {
  check_writable(input);
  if (!value.is_tensor()) {
    check_held(input.dtype(), value.scalar());
    return kernel::of(input).fill(input, value.scalar());
  }
  const Tensor& from = value.tensor();
  FB_CHECK(from.dim() == 0, "value must be a number or a zero-dimensional tensor, got shape ",
           from.sizes());
  kernel::of(input).fill(input, host_number(from));
}

Tensor compute::fill(const Tensor& input, const Operand& value) {
  Tensor out = make_like(input, input.dtype());
  compute::fill_(out, value);
  return out;
}

void compute::zero_(const Tensor& input) {
  check_writable(input);
  kernel::of(input).fill(input, 0);
}

namespace {

using Count = __int128;  // rows times columns may be more than 64 bits hold

// How many (r, c) of a matrix have c - r >= offset: all of the first rows, then one element less in
// each row.
Count count_above(Count row, Count col, Count offset) {
  if (col == 0) return 0;
  const Count whole = std::clamp<Count>(1 - offset, 0, row);
  const Count last = std::clamp<Count>(col - offset, 0, row);
  const Count rest = last - whole;
  return whole * col + rest * (col - whole - offset) - rest * (rest - 1) / 2;
}

Tensor make_indices(Count count, MaybeDevice device) {
  FB_CHECK_AS(ErrorKind::kOutOfMemory, count <= std::numeric_limits<int64_t>::max() / 16,
              "not enough memory for ", static_cast<double>(count), " indices");
  return make_tensor({2, static_cast<int64_t>(count)}, DType::kInt64, device.value_or(kHost));
}

void check_matrix(int64_t row, int64_t col) {
  FB_CHECK(row >= 0, "row must be non-negative, got ", row);
  FB_CHECK(col >= 0, "col must be non-negative, got ", col);
}

void fill_indices(const Tensor& out, const kernel::Triangle& triangle) {
  if (out.numel() == 0) return;
  auto* rows = out.data_as<int64_t>();
  kernel::of(out).triangle_indices(triangle, rows, rows + out.size(1));
}

}  // namespace

Tensor compute::tril_indices(int64_t row, int64_t col, int64_t offset, MaybeDType dtype,
                             MaybeDevice device) {
  check_matrix(row, col);
  const int64_t diagonal = std::clamp(offset, -row, col);  // those beyond are alike
  const Count above = count_above(row, col, Count{diagonal} + 1);
  const Tensor out = make_indices(Count{row} * col - above, device);
  fill_indices(out, {std::max<int64_t>(0, -diagonal), row, col, diagonal, true});
  return cast(out, dtype.value_or(DType::kInt64));
}

Tensor compute::triu_indices(int64_t row, int64_t col, int64_t offset, MaybeDType dtype,
                             MaybeDevice device) {
  check_matrix(row, col);
  const int64_t diagonal = std::clamp(offset, -row, col);  // those beyond are alike
  const Tensor out = make_indices(count_above(row, col, diagonal), device);
  const auto last = static_cast<int64_t>(std::min(Count{row}, Count{col} - diagonal));
  fill_indices(out, {0, last, col, diagonal, false});
  return cast(out, dtype.value_or(DType::kInt64));
}

}  // namespace fb::ops
