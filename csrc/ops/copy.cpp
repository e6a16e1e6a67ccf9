// Copies and conversions.
#include "gen/ops/copy.h"

#include "core/nonblocking.h"
#include "gen/ops/create.h"
#include "ops/layout.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

using MaybeFormat = std::optional<MemoryFormat>;

Tensor copied(const Tensor& input, DType dtype, Device device, MemoryFormat format) {
  Tensor out = format == MemoryFormat::kPreserve
                   ? make_like(input, dtype, device)
                   : make_strided(input.sizes(), strides_for(input.sizes(), format), dtype, device);
  copy_into(out, input);
  return out;
}

// Whether `to` has nothing to do. It compares the exact strides of channels_last, even where the
// elements lie the same in both orders, because kernels choose the layout of their results by them.
bool has_format(const Tensor& input, MemoryFormat format) {
  if (format == MemoryFormat::kPreserve || format == MemoryFormat::kContiguous)
    return input.is_contiguous(format);
  return input.is_contiguous(format) &&
         input.strides() == IntSpan(strides_for(input.sizes(), format));
}

Tensor converted(const Tensor& input, DType dtype, Device device, MaybeFormat memory_format,
                 bool copy = false) {
  const MemoryFormat format = memory_format.value_or(MemoryFormat::kPreserve);
  if (format != MemoryFormat::kPreserve) settle(input);
  if (!copy && dtype == input.dtype() && device == input.device() && has_format(input, format))
    return input;
  return ops::to_copy(input, dtype, device, format);
}

Tensor converted(const Tensor& input, DType dtype, MaybeFormat memory_format, bool copy = false) {
  return converted(input, dtype, input.device(), memory_format, copy);
}

}  // namespace

void compute::copy_(const Tensor& input, const Tensor& src, bool non_blocking) {
  const NonBlocking wanted(non_blocking);
  check_no_partial_overlap(input, src);
  copy_into(input, src);
}

void copy_(const Tensor& input, const Scalar& src, bool) { ops::fill_(input, src); }

Tensor compute::clone(const Tensor& input, MaybeFormat memory_format) {
  return copied(input, input.dtype(), input.device(),
                memory_format.value_or(MemoryFormat::kPreserve));
}

Tensor compute::to_copy(const Tensor& input, DType dtype, std::optional<Device> device,
                        MaybeFormat memory_format) {
  return copied(input, dtype, device.value_or(input.device()),
                memory_format.value_or(MemoryFormat::kPreserve));
}

Tensor to_contiguous(const Tensor& input, MaybeFormat memory_format) {
  FB_CHECK(memory_format != MemoryFormat::kPreserve, "memory_format must not be preserve_format");
  const MemoryFormat format = memory_format.value_or(MemoryFormat::kContiguous);
  settle(input);
  return input.is_contiguous(format) ? input : ops::clone(input, format);
}

Tensor to_dtype(const Tensor& input, DType dtype, bool, bool copy, MaybeFormat memory_format) {
  return converted(input, dtype, memory_format, copy);
}

Tensor to_other(const Tensor& input, const Tensor& other, bool non_blocking, bool copy,
                MaybeFormat memory_format) {
  const NonBlocking wanted(non_blocking);
  return converted(input, other.dtype(), other.device(), memory_format, copy);
}

Tensor to_device(const Tensor& input, std::optional<Device> device, std::optional<DType> dtype,
                 bool non_blocking, bool copy, MaybeFormat memory_format) {
  const NonBlocking wanted(non_blocking);
  return converted(input, dtype.value_or(input.dtype()),
                   device ? actual_device(*device) : input.device(), memory_format, copy);
}

Tensor type_as(const Tensor& input, const Tensor& other) {
  return converted(input, other.dtype(), other.device(), {});
}

Tensor to_bool(const Tensor& input, MaybeFormat f) { return converted(input, DType::kBool, f); }
Tensor to_uint8(const Tensor& input, MaybeFormat f) { return converted(input, DType::kUInt8, f); }
Tensor to_int8(const Tensor& input, MaybeFormat f) { return converted(input, DType::kInt8, f); }
Tensor to_int16(const Tensor& input, MaybeFormat f) { return converted(input, DType::kInt16, f); }
Tensor to_int32(const Tensor& input, MaybeFormat f) { return converted(input, DType::kInt32, f); }
Tensor to_int64(const Tensor& input, MaybeFormat f) { return converted(input, DType::kInt64, f); }
Tensor to_float16(const Tensor& input, MaybeFormat f) {
  return converted(input, DType::kFloat16, f);
}
Tensor to_bfloat16(const Tensor& input, MaybeFormat f) {
  return converted(input, DType::kBFloat16, f);
}
Tensor to_float32(const Tensor& input, MaybeFormat f) {
  return converted(input, DType::kFloat32, f);
}
Tensor to_float64(const Tensor& input, MaybeFormat f) {
  return converted(input, DType::kFloat64, f);
}
Tensor to_complex64(const Tensor& input, MaybeFormat f) {
  return converted(input, DType::kComplex64, f);
}
Tensor to_complex128(const Tensor& input, MaybeFormat f) {
  return converted(input, DType::kComplex128, f);
}

Tensor cpu(const Tensor& input, MaybeFormat memory_format) {
  return converted(input, input.dtype(), kHost, memory_format);
}

}  // namespace fb::ops
