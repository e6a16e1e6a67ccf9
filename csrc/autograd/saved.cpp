// Values that a node keeps for backward.
#include "autograd/saved.h"

#include <mutex>
#include <unordered_map>

namespace fb::autograd {
namespace {

// The last change in place of every storage that a node has saved.
struct Change {
  const char* by;
  uint32_t version;  // after the change
  const Place* place;
};
std::mutex changes_lock;
std::unordered_map<const StorageImpl*, std::vector<Change>>& changes() {
  static auto* map = new std::unordered_map<const StorageImpl*, std::vector<Change>>;
  return *map;
}
// A loop that changes a tensor for ever must not remember for ever.
constexpr size_t kRemembered = 64;

[[noreturn]] void fail_changed(const Tensor& t, uint32_t saved, const Node& owner) {
  std::string by;
  {
    const std::lock_guard guard(changes_lock);
    const auto found = changes().find(t.storage().get());
    if (found != changes().end())
      for (const Change& change : found->second)
        if (change.version > saved) {
          by = std::string(", changed by ") + change.by + change.place->text();
          break;
        }
  }
  fail(ErrorKind::kRuntime,
       "one of the variables needed for gradient computation has been modified by an inplace "
       "operation: the tensor of type ",
       t.dtype(), " and shape ", t.sizes(), ", saved by ", owner.operator_name(),
       owner.place.text(), by, ", is at version ", t.storage()->version, "; expected version ",
       saved,
       " instead. Use the out-of-place form of the operator that changed it, or clone() the "
       "tensor before changing it.");
}

// Makes gradients of `t` go along `edge`.
void attach(const Tensor& t, const Edge& edge) {
  if (dynamic_cast<AccumulateGrad*>(edge.node.get())) {
    t->flags |= kRequiresGrad;
    meta_of(t).accumulator = edge.node.get();
  } else {
    set_history(t, edge.node, edge.output_nr);
  }
}

}  // namespace

constinit thread_local int saved_hook_depth = 0;

void note_change(StorageImpl& storage, const char* by) {
  const Place* place = interned_place();
  const std::lock_guard guard(changes_lock);
  std::vector<Change>& list = changes()[&storage];
  if (list.size() < kRemembered) list.push_back({by, storage.version, place});
}

void forget_changes(const StorageImpl& storage) {
  const std::lock_guard guard(changes_lock);
  changes().erase(&storage);
}

void SavedTensor::keep(const Tensor& t, bool is_result, uint32_t output_nr) {
  if (!t) return;
  FB_CHECK(!(t->flags & kInference),
           "Inference tensors cannot be saved for backward. Please do not use Tensors created in "
           "inference mode in computation tracked by autograd. To work around this, you can make a "
           "clone to get a normal tensor and use it in autograd, or use `torch.no_grad()` instead "
           "of `torch.inference_mode()`.");
  if (saved_hook_depth > 0) [[unlikely]] {
    packed_ = saved_hooks.pack(detached(t));
    if (packed_) {
      // What the hook gives back has no history.
      is_result_ = is_result;
      output_nr_ = output_nr;
      if (!is_result) edge_ = std::make_unique<Edge>(gradient_edge(t));
      return;
    }
  }
  is_result_ = is_result;
  tensor_ = is_result ? detached(t) : t;
  output_nr_ = output_nr;
  version_ = t->storage->version;
  t->storage->watched = true;
}

Value::operator Tensor() const {
  if (tensor_) return tensor_;
  const Tensor t = make_tensor({}, scalar_.dtype());
  scalar_.store(t.dtype(), t.data());
  return t;
}

Tensor SavedTensor::unpack(Node& owner) const {
  if (owner.released) fail_released(owner);
  if (packed_) {
    const Tensor t = packed_->unpack();
    if (!mode.grad_enabled) return t;
    const Tensor again = detached(t);
    if (is_result_)
      set_history(again, NodeRef::retain(&owner), output_nr_);
    else if (edge_->node)
      attach(again, *edge_);
    return again;
  }
  if (!tensor_) return tensor_;
  if (tensor_->storage->version != version_) [[unlikely]]
    fail_changed(tensor_, version_, owner);
  if (!is_result_ || !mode.grad_enabled) return tensor_;
  const Tensor again = detached(tensor_);
  set_history(again, NodeRef::retain(&owner), output_nr_);
  return again;
}

}  // namespace fb::autograd
