// Element-wise operators: promotion, broadcasting, layout of the result, then the kernel of the
// device.
#pragma once

#include <span>

#include "kernel/pointwise.h"
#include "ops/output.h"
#include "ops/types.h"

namespace fb::ops {

enum class Promotion : uint8_t { kSame, kFloat };
enum class PointwiseOutput : uint8_t { kSame, kBool, kReal, kComplex };

// What the generator knows of an element-wise operator.
struct PointwiseOp {
  const char* name;
  const char* inplace_name;
  uint8_t inputs;
  Promotion promotion;
  PointwiseOutput output;
  uint8_t bool_inputs;  // bit k: operand k is bool whatever the others are
  uint16_t dtypes;      // bit t: the operator takes element type t
  kernel::PointwiseId function;
  // Refuses arguments that the element function cannot handle; `common` is the type that operands
  // are converted to. Null if there is nothing to check.
  void (*check)(std::span<const Operand> inputs, std::span<const Scalar> params, DType common);
  OutRule out;
};

Tensor pointwise(const PointwiseOp& op, std::span<const Operand> inputs,
                 std::span<const Scalar> params);
// Writes into `out`, which is resized to the result's shape.
void pointwise_out(const PointwiseOp& op, std::span<const Operand> inputs,
                   std::span<const Scalar> params, const Tensor& out);
// Writes into the first operand, whose shape and type stay.
void pointwise_inplace(const PointwiseOp& op, std::span<const Operand> inputs,
                       std::span<const Scalar> params, const Tensor& self);

// The order, slowest dimension first, in which an element-wise loop over these tensors should run,
// and in which a fresh result is laid out.
Dims iteration_order(IntSpan shape, std::span<const Tensor* const> tensors);

}  // namespace fb::ops
