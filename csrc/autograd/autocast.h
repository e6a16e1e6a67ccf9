// Mixed precision: operators that compute in another type than their inputs have.
//
// Note [Autocast]: the table says of some operators, with `autocast=`, what they do with inputs of
// floating-point types while autocast is on: products of matrices run in 16 bits, losses in
// float32. Only these operators look at the switch of their thread. The rest is out of line: it
// casts the inputs, which the graph records like any operator, and calls the operator again with
// autocast off, so that its parts do not cast again. float64, integers and complex numbers stay as
// they are, and so do forms that write to a tensor of the caller's.
#pragma once

#include "autograd/batch_rules.h"

namespace fb::autocast {

using autograd::OwnedOperand;
using ops::Operand;

// The switches of a thread.
struct State {
  bool is_on = false;
  bool caches = true;
  DType lower = DType::kBFloat16;
  int nesting = 0;  // of regions
};
extern constinit thread_local State state;

inline bool is_on() { return state.is_on; }
inline DType lower() { return state.lower; }

// Within its scope operators take their inputs as they are.
class Off {
 public:
  Off() : before_(state.is_on) { state.is_on = false; }
  ~Off() { state.is_on = before_; }
  Off(const Off&) = delete;
  Off& operator=(const Off&) = delete;

 private:
  bool before_;
};

// Whether autocast may change the type of a tensor.
inline bool is_eligible(const Tensor& t) {
  if (!t || t.device().type != DeviceType::kCpu) return false;
  return is_floating(t.dtype()) && t.dtype() != DType::kFloat64;
}

// Inputs in the type that the operator computes in.
class Cast {
 public:
  explicit Cast(DType target) : target_(target) {}

  Tensor operator()(const Tensor& t) const;
  OwnedOperand operator()(const Operand& o) const {
    return o.is_tensor() ? OwnedOperand((*this)(o.tensor())) : OwnedOperand(o.scalar());
  }
  std::vector<Tensor> operator()(TensorList list) const;
  std::optional<std::vector<Tensor>> operator()(const std::optional<TensorList>& list) const {
    if (!list) return {};
    return (*this)(*list);
  }

 private:
  DType target_;
};

// The common type of the inputs; float32 if they differ.
class Widest {
 public:
  void add(const Tensor& t) {
    if (!is_eligible(t)) return;
    type_ = !found_ || type_ == t.dtype() ? t.dtype() : DType::kFloat32;
    found_ = true;
  }
  void add(TensorList list) {
    for (const Tensor& t : list) add(t);
  }
  DType type() const { return type_; }

 private:
  DType type_ = DType::kFloat32;
  bool found_ = false;
};

template <class... Inputs>
DType widest(const Inputs&... inputs) {
  Widest widest;
  (widest.add(inputs), ...);
  return widest.type();
}

// Note [Cached casts]: a parameter that several operators of a region use is cast once, so that
// backward adds its gradients up in 16 bits and casts the sum. The outermost region forgets the
// casts when it ends.
void forget_casts();

}  // namespace fb::autocast
