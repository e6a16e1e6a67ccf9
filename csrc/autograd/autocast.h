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

// For one kind of device.
struct Switch {
  bool is_on = false;
  DType lower = DType::kBFloat16;
};

// The switches of a thread.
struct State {
  Switch cpu;
  Switch cuda{false, DType::kFloat16};
  bool caches = true;
  int nesting = 0;  // of regions

  const Switch* of(Device device) const {
    if (device.type == DeviceType::kCpu) return &cpu;
    return device.type == DeviceType::kCuda ? &cuda : nullptr;
  }
};
extern constinit thread_local State state;

inline bool is_on() { return state.cpu.is_on | state.cuda.is_on; }
inline bool is_on_cuda() { return state.cuda.is_on; }

// Within its scope operators take their inputs as they are.
class Off {
 public:
  Off() : cpu_(state.cpu.is_on), cuda_(state.cuda.is_on) {
    state.cpu.is_on = state.cuda.is_on = false;
  }
  ~Off() { state.cpu.is_on = cpu_, state.cuda.is_on = cuda_; }
  Off(const Off&) = delete;
  Off& operator=(const Off&) = delete;

 private:
  bool cpu_, cuda_;
};

// Whether autocast may change the type of a tensor while these switches are set.
inline bool is_eligible(const Tensor& t, const State& switches) {
  if (!t) return false;
  const Switch* const own = switches.of(t.device());
  return own && own->is_on && is_floating(t.dtype()) && t.dtype() != DType::kFloat64;
}

// The 16-bit type of each device, as a target of casts.
struct Lower {};
constexpr Lower lower() { return {}; }

// Inputs in the type that the operator computes in. It keeps the switches of when it was made, as
// the operator runs with all of them off.
class Cast {
 public:
  explicit Cast(DType target) : switches_(state), target_(target) {}
  explicit Cast(Lower) : switches_(state) {}

  Tensor operator()(const Tensor& t) const;
  OwnedOperand operator()(const Operand& o) const {
    return o.is_tensor() ? OwnedOperand((*this)(o.tensor())) : OwnedOperand(o.scalar());
  }
  std::vector<Tensor> operator()(TensorList list) const;
  std::optional<std::vector<Tensor>> operator()(const std::optional<TensorList>& list) const {
    if (!list) return {};
    return (*this)(*list);
  }

 protected:
  State switches_;

 private:
  std::optional<DType> target_;
};

// The same for tensors of a GPU alone.
class CastOnCuda : public Cast {
 public:
  explicit CastOnCuda(DType target) : Cast(target) { switches_.cpu.is_on = false; }
};

// The common type of the inputs; float32 if they differ.
class Widest {
 public:
  void add(const Tensor& t) {
    if (!is_eligible(t, state)) return;
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
