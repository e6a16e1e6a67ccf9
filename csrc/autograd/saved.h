// Values that a node keeps for backward, and the check that nobody changed them meanwhile.
#pragma once

#include <memory>

#include "autograd/history.h"
#include "ops/types.h"

namespace fb::autograd {

// What a user's pack hook made of a tensor.
class Packed {
 public:
  virtual ~Packed() = default;
  virtual Tensor unpack() = 0;

  Edge edge;  // of an input: what the hook gives back has no history
};
// Installed by the binding; null results mean that no hook is active.
struct SavedHooks {
  std::unique_ptr<Packed> (*pack)(const Tensor& t) = nullptr;
};
inline SavedHooks saved_hooks;
// How many hooks are active on this thread.
extern constinit thread_local int saved_hook_depth;

class SavedTensor {
 public:
  void save(const Tensor& t) { keep(t, false, t ? t->output_nr : 0); }
  // A result of the node itself: holding it whole would be a cycle, so only its elements are kept,
  // and the history is put back when it is read. The node knows type and shape of its results.
  void save_result(const Tensor& t, uint32_t output_nr) { keep(t, true, output_nr); }

  // Undefined if nothing was saved. Refuses a tensor that was changed in place since.
  Tensor unpack(Node& owner) const;
  void release() {
    tensor_ = Tensor();
    storage_ = Storage();
    packed_.reset();
  }

 private:
  void keep(const Tensor& t, bool is_result, uint32_t output_nr);
  Tensor unpack_hooked(Node& owner) const;
  void check_version(const StorageImpl& storage, const Node& owner) const {
    if (storage.version != version_) [[unlikely]]
      fail_changed(owner);
  }
  [[noreturn]] void fail_changed(const Node& owner) const;

  Tensor tensor_;    // an input, or a result that is not contiguous
  Storage storage_;  // of a contiguous result
  std::unique_ptr<Packed> packed_;
  uint32_t version_ = 0;
  uint32_t output_nr_ = 0;
  bool is_result_ = false;
};

// A tensor or a number that a formula reads.
class Value {
 public:
  Value(Tensor tensor) : tensor_(std::move(tensor)) {}
  Value(const Scalar& scalar) : scalar_(scalar) {}
  bool is_tensor() const { return tensor_.defined(); }
  const Tensor& tensor() const { return tensor_; }
  const Scalar& scalar() const { return scalar_; }
  operator ops::Operand() const { return tensor_ ? ops::Operand(tensor_) : ops::Operand(scalar_); }
  // A number becomes a tensor without dimensions.
  operator Tensor() const;

 private:
  Tensor tensor_;
  Scalar scalar_;
};

class SavedOperand {
 public:
  void save(const ops::Operand& value) {
    if (value.is_tensor())
      tensor_.save(value.tensor());
    else
      scalar_ = value.scalar();
    is_tensor_ = value.is_tensor();
  }
  Value unpack(Node& owner) const {
    return is_tensor_ ? Value(tensor_.unpack(owner)) : Value(scalar_);
  }
  const SavedTensor& tensor() const { return tensor_; }
  void release() { tensor_.release(); }

 private:
  SavedTensor tensor_;
  Scalar scalar_;
  bool is_tensor_ = false;
};

class SavedTensors {
 public:
  void resize(size_t count) { items_ = std::vector<SavedTensor>(count); }
  SavedTensor& operator[](size_t i) { return items_[i]; }
  void save(TensorList tensors) {
    items_ = std::vector<SavedTensor>(tensors.size());
    for (size_t i = 0; i < tensors.size(); ++i)
      if (tensors[i]) items_[i].save(tensors[i]);
  }
  std::vector<Tensor> unpack(Node& owner) const {
    if (owner.released) fail_released(owner);
    std::vector<Tensor> tensors;
    for (const SavedTensor& item : items_) tensors.push_back(item.unpack(owner));
    return tensors;
  }
  void release() { items_.clear(); }

 private:
  std::vector<SavedTensor> items_;
};

}  // namespace fb::autograd
