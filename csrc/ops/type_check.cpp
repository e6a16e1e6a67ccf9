// The error for a type that an operator does not take.
#include "ops/type_check.h"

#include <string>

#include "core/error.h"

namespace fb::ops {

void refuse_type(TypeMask listed, DType t, bool convertible) {
  std::string types;
  for (int i = 0; i < kDTypeCount; ++i)
    if (listed >> i & 1) types += (types.empty() ? "" : ", ") + std::string(name_of(DType(i)));
  fail(ErrorKind::kNotImplemented, "not implemented for dtype ", t, "; it takes ", types,
       convertible ? "; pass dtype= to convert" : "");
}

}  // namespace fb::ops
