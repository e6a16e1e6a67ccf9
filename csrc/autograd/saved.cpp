// Values that a node keeps for backward.
#include "autograd/saved.h"

#include <mutex>
#include <unordered_map>

#include "kernel/table.h"

namespace fb::autograd {
namespace {

// The last change in place of every storage that a node has saved.
struct Change {
  const char* by;
  uint32_t version;  // after the change
  const SourceLocation* location;
};
std::mutex changes_lock;
std::unordered_map<const StorageImpl*, std::vector<Change>>& changes() {
  static auto* map = new std::unordered_map<const StorageImpl*, std::vector<Change>>;
  return *map;
}
// A limit, for a loop that keeps changing a tensor.
constexpr size_t kRemembered = 64;

std::string change_after(const StorageImpl& storage, uint32_t version) {
  const std::lock_guard guard(changes_lock);
  const auto found = changes().find(&storage);
  if (found != changes().end())
    for (const Change& change : found->second)
      if (change.version > version)
        return std::string(", changed by ") + change.by + change.location->text();
  return "";
}

// Stands for a leaf that a hook has packed, and passes gradients on to it. The leaf's own node can
// belong to one tensor only.
class Alias final : public Node {
 public:
  explicit Alias(const Edge& leaf, const Tensor& t) {
    edges.push_back(leaf);
    outputs.push_back(output_meta(t));
    sequence = next_sequence();
  }
  const char* name() const override { return "AliasBackward0"; }
  void apply(std::span<const Tensor> grads, Gradients& out) override { out[0] = grads[0]; }
};

// Makes gradients of `t` go along `edge`.
void attach(const Tensor& t, const Edge& edge) {
  if (edge.node->is_accumulator)
    set_history(t, NodeRef(new Alias(edge, t)), 0);
  else
    set_history(t, edge.node, edge.output_nr);
}

}  // namespace

constinit thread_local int saved_hook_depth = 0;

void note_change(StorageImpl& storage, const char* by) {
  const SourceLocation* location = interned_location();
  const std::lock_guard guard(changes_lock);
  std::vector<Change>& list = changes()[&storage];
  if (list.size() < kRemembered) list.push_back({by, storage.version, location});
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
  is_result_ = is_result;
  output_nr_ = output_nr;
  if (saved_hook_depth > 0) [[unlikely]] {
    packed_ = saved_hooks.pack(detached(t));
    if (packed_) {
      if (!is_result) packed_->edge = gradient_edge(t);
      return;
    }
  }
  if (is_result && t.is_contiguous() && t.offset() == 0 && !(t->flags & (kDual | kSparse))) {
    storage_ = t.storage();
  } else {
    tensor_ = is_result ? detached(t) : t;
    storage_ = Storage();
    if (is_result) share_tangents(tensor_, t);
  }
  version_ = t->storage->version;
  t->storage->watched = true;
}

Value::operator Tensor() const {
  if (tensor_) return tensor_;
  const Tensor t = make_tensor({}, scalar_.dtype(), kHost);
  kernel::of(t).fill(t, scalar_);
  return t;
}

Tensor SavedTensor::unpack(Node& owner) const {
  if (owner.released) fail_released(owner);
  if (packed_) [[unlikely]]
    return unpack_hooked(owner);
  Tensor t = tensor_;
  if (storage_) {
    const OutputMeta& meta = owner.outputs[output_nr_];
    check_version(*storage_.get(), owner);
    t = contiguous_over(storage_, meta.sizes, meta.dtype, meta.device);
  } else if (t) {
    check_version(*t.storage().get(), owner);
    if (is_result_ && mode.grad_enabled) {
      t = detached(tensor_);
      share_tangents(t, tensor_);
    }
  }
  if (is_result_ && mode.grad_enabled && t && owner.is_connected())
    set_history(t, NodeRef::retain(&owner), output_nr_);
  return t;
}

Tensor SavedTensor::unpack_hooked(Node& owner) const {
  const Tensor t = packed_->unpack();
  const bool has_history = is_result_ ? mode.grad_enabled && owner.is_connected()
                                      : static_cast<bool>(packed_->edge.node);
  if (!has_history) return t;
  const Tensor again = detached(t);
  if (is_result_)
    set_history(again, NodeRef::retain(&owner), output_nr_);
  else
    attach(again, packed_->edge);
  return again;
}

void SavedTensor::fail_changed(const Node& owner) const {
  const Storage& storage = storage_ ? storage_ : tensor_.storage();
  const OutputMeta meta = storage_ ? owner.outputs[output_nr_] : output_meta(tensor_);
  fail(ErrorKind::kRuntime,
       "one of the variables needed for gradient computation has been modified by an inplace "
       "operation: the tensor of type ",
       meta.dtype, " and shape ", meta.sizes, ", saved by ", owner.operator_name(),
       owner.location.text(), change_after(*storage.get(), version_), ", is at version ",
       storage->version, "; expected version ", version_,
       " instead. Use the out-of-place form of the operator that changed it, or clone() the tensor "
       "before changing it.");
}

}  // namespace fb::autograd
