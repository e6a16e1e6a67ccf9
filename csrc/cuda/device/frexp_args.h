// What the kernel of frexp is given.
#pragma once

namespace fb::device {

struct FrexpArguments {
  const void* in;
  void* mantissa;
  int* exponent;
  long long n;
};

}  // namespace fb::device
