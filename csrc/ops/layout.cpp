// Layouts of our own end where somebody looks.
#include "ops/layout.h"

#include "cpu/copy.h"

namespace fb::ops {

void settle_free(const Tensor& t) {
  const Tensor ordered = make_tensor(t.sizes(), t.dtype(), t.device());
  cpu::copy(ordered, t);
  // Nothing has happened to the elements: who has saved the tensor may go on using it.
  ordered.storage()->version = t.storage()->version;
  ordered.storage()->watched = t.storage()->watched;
  const Dims sizes = t.sizes().vec();
  t->set_contiguous(sizes, t.numel());
  t->offset = 0;
  t->storage = ordered.storage();
}

}  // namespace fb::ops
