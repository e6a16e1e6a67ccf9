// Copies and conversions.
#include "gen/ops/copy.h"

#include "ops/output.h"

namespace fb::ops {

void copy_(const Tensor& input, const Tensor& src, bool) { copy_into(input, src); }

Tensor clone(const Tensor& input, std::optional<MemoryFormat> memory_format) {
  const MemoryFormat format = memory_format.value_or(MemoryFormat::kPreserve);
  if (format == MemoryFormat::kPreserve) return copy_of(input);
  Tensor out = make_strided(input.sizes(), strides_for(input.sizes(), format), input.dtype(),
                            input.device());
  copy_into(out, input);
  return out;
}

}  // namespace fb::ops
