// Values: copies, and names of kinds and types for messages.
#include "ops/value.h"

#include "ops/arg_type.h"

namespace fb::ops {

Value::Value() noexcept = default;
Value::Value(const Value& other) = default;
Value::Value(Value&& other) noexcept = default;
Value& Value::operator=(const Value& other) = default;
Value& Value::operator=(Value&& other) noexcept = default;
Value::~Value() = default;

const char* describe(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kNone: return "None";
    case Value::Kind::kTensor: return "Tensor";
    case Value::Kind::kNumber:
      switch (value.number().kind()) {
        case Scalar::Kind::kBool: return "bool";
        case Scalar::Kind::kInt: return "int";
        case Scalar::Kind::kFloat: return "float";
        case Scalar::Kind::kComplex: return "complex";
      }
      break;
    case Value::Kind::kTensors: return "list of Tensors";
    case Value::Kind::kInts: return "list of ints";
    case Value::Kind::kFloats: return "list of floats";
    case Value::Kind::kText: return "str";
    case Value::Kind::kDType: return "torch.dtype";
    case Value::Kind::kDevice: return "torch.device";
    case Value::Kind::kLayout: return "torch.layout";
    case Value::Kind::kMemoryFormat: return "torch.memory_format";
    case Value::Kind::kGenerator: return "torch.Generator";
  }
  return "object";
}

const char* describe(ArgType type) {
  switch (type) {
    case ArgType::kTensor:
    case ArgType::kOptTensor: return "Tensor";
    case ArgType::kOperand: return "Tensor or Number";
    case ArgType::kTensorList:
    case ArgType::kOptTensorList: return "tuple of Tensors";
    case ArgType::kTensorsOrNone: return "tuple of Tensors and None";
    case ArgType::kNumber:
    case ArgType::kOptNumber: return "Number";
    case ArgType::kInt:
    case ArgType::kOptInt: return "int";
    case ArgType::kFloat:
    case ArgType::kOptFloat: return "float";
    case ArgType::kOptFloats: return "tuple of floats";
    case ArgType::kOptFactors: return "float or tuple of floats";
    case ArgType::kBool:
    case ArgType::kOptBool: return "bool";
    case ArgType::kSize:
    case ArgType::kInts:
    case ArgType::kOptInts: return "tuple of ints";
    case ArgType::kDims:
    case ArgType::kOptDims: return "int or tuple of ints";
    case ArgType::kSizes: return "int or tuple of ints and None";
    case ArgType::kStr:
    case ArgType::kOptStr: return "str";
    case ArgType::kDType:
    case ArgType::kOptDType: return "torch.dtype";
    case ArgType::kOptDevice: return "torch.device";
    case ArgType::kOptLayout: return "torch.layout";
    case ArgType::kOptMemoryFormat: return "torch.memory_format";
    case ArgType::kOptGenerator: return "torch.Generator";
    case ArgType::kAny: return "object";
  }
  return "object";
}

}  // namespace fb::ops
