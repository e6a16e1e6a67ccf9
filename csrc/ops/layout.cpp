// Converts deferred layouts to the order of the dimensions.
#include "ops/layout.h"

#include <vector>

#include "core/blocking.h"
#include "kernel/table.h"

namespace fb::ops {
namespace {

// Keeps old memory until no kernel runs: another thread may be in a kernel that reads it. Called
// with the interpreter's lock held.
void retire(Storage storage) {
  // Leaked on purpose: a thread may still be in such a kernel when the program ends.
  static auto& retired = *new std::vector<Storage>;
  if (blocking_regions == 0)
    retired.clear();
  else
    retired.push_back(std::move(storage));
}

}  // namespace

void settle_free(const Tensor& t) {
  const Tensor ordered = make_tensor(t.sizes(), t.dtype(), t.device());
  kernel::copy(ordered, t);
  if (!t->deferred_layout) return;  // another thread was faster
  // The elements have not changed: nodes that saved the tensor may still use it.
  ordered.storage()->version = t.storage()->version;
  ordered.storage()->watched = t.storage()->watched;
  const Dims sizes = t.sizes().vec();
  t->set_contiguous(sizes, t.numel());
  t->offset = 0;
  retire(std::exchange(t->storage, ordered.storage()));
}

}  // namespace fb::ops
