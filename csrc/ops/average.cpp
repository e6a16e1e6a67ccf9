// Running averages of many tensors at once.
#include "gen/ops/average.h"

#include "core/error.h"
#include "gen/ops/arith.h"

namespace fb::ops {

void _lerp_all(TensorList tensors, TensorList ends, double weight) {
  FB_CHECK(tensors.size() == ends.size(), "expected as many ends as tensors, ", tensors.size(),
           ", but got ", ends.size());
  for (size_t i = 0; i < tensors.size(); ++i) lerp_(tensors[i], ends[i], Scalar(weight));
}

}  // namespace fb::ops
