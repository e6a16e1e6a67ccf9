// Loops around element functions over strided operands of any element types.
#pragma once

#include "core/tensor.h"
#include "cuda/device/pointwise_args.h"
#include "kernel/pointwise.h"

namespace fb::cuda {

// Numbers behind those of the table: loops that no operator of it has.
inline constexpr int kIdentity = -1;

struct LoopOperand {
  // As device::InputKind.
  enum class Kind : uint8_t { kArray, kNumber, kElement } kind = Kind::kArray;
  DType memory = DType::kFloat32, kernel = DType::kFloat32;
  const void* data =
      nullptr;  // of the device; of the host for a number, which has the kernel's type
};

// Of contiguous arrays.
struct FlatCall {
  int device;
  int function;  // PointwiseId or kIdentity
  DType dtype;   // the element function's
  int inputs;
  LoopOperand in[kernel::kMaxPointwiseInputs];
  const void* params = nullptr;
  void* out;
  DType out_memory;
};

struct LoopCall : FlatCall {
  Dims strides[kernel::kMaxPointwiseInputs];  // in bytes, by dimension of the shape; of arrays
  Dims out_strides;
};

// Over a shape whose dimensions are walked in `order`, from slowest to fastest.
void run_loop(const LoopCall& call, IntSpan shape, IntSpan order);
void run_contiguous(const FlatCall& call, int64_t n);

// The device that an address belongs to.
int place_of(const void* address);
inline int place_of(const Tensor& t) { return t.device().index; }

// Strides in bytes of a tensor that is broadcast to a shape.
Dims byte_strides(const Tensor& t, IntSpan shape);
// The dimensions from the slowest to the fastest of these strides.
Dims order_by_stride(IntSpan strides);

// As C++ of the kernels: "Half", "int64_t".
const char* cpp_name(DType dtype);

}  // namespace fb::cuda
