// The element functions of pointwise operators, by their number (kernel::PointwiseId).
#pragma once

namespace fb::cuda {

struct ElementFunction {
  const char* name;  // of the type in gen/device/<family>.h
  const char* family;
  int inputs, params;
};
extern const ElementFunction kElementFunctions[];
extern const int kElementFunctionCount;

}  // namespace fb::cuda
