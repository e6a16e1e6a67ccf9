// The types of operator parameters, as the table names them.
#pragma once

#include <cstdint>

namespace fb::ops {

enum class ArgType : uint8_t {
  kTensor,
  kOptTensor,
  kOperand,
  kTensorList,
  kOptTensorList,
  kTensorsOrNone,
  kNumber,
  kOptNumber,
  kInt,
  kOptInt,
  kFloat,
  kOptFloat,
  kOptFloats,
  kOptFactors,
  kBool,
  kOptBool,
  kSize,
  kInts,
  kOptInts,
  kDims,
  kOptDims,
  kSizes,
  kStr,
  kOptStr,
  kDType,
  kOptDType,
  kOptDevice,
  kOptLayout,
  kOptMemoryFormat,
  kOptGenerator,
  kAny,
};

// "Tensor", "int", "tuple of ints": as messages name it.
const char* describe(ArgType type);

}  // namespace fb::ops
