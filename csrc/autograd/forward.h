// Forward mode: tensors that carry tangents, and operators that carry them along.
//
// Note [Tangents through a node]: the backward of an operator is linear in the gradient that it is
// given, so the backward of that backward applies the operator's own derivative. This gives the
// tangents of every operator that has a node: no formula is written twice. The adjoint of an
// adjoint is the map itself for complex numbers too.
//
// Note [Levels]: `jvp` within `jvp` must not confuse its tangents with those outside. A tensor may
// carry one tangent for each level; numbers of levels are never reused, and inner ones are higher.
// While the tangents of one level are computed, that level and those above it are hidden; visible
// tangents of lower levels give tangents of tangents.
#pragma once

#include <functional>

#include "autograd/node.h"

namespace fb::autograd {

struct Tangent {
  int64_t level;
  Tensor value;
};

int64_t enter_dual_level();
void exit_dual_level(int64_t level);
// The innermost level, or -1.
int64_t current_dual_level();

// Hides this level, and those above it.
class Below {
 public:
  explicit Below(int64_t level);
  ~Below();
  Below(const Below&) = delete;
  Below& operator=(const Below&) = delete;

 private:
  int64_t before_;
};

// A window on `primal` that carries `tangent`.
Tensor make_dual(const Tensor& primal, const Tensor& tangent, int64_t level);
// The tangent of `t`, or the part of its base's tangent if `t` is a view; undefined if none.
Tensor tangent_of(const Tensor& t, int64_t level);
void set_tangent(const Tensor& t, int64_t level, Tensor tangent);
// `t` without its tangent at `level`: a window on it.
Tensor primal_of(const Tensor& t, int64_t level);
// `alias` carries what `t` carries.
void share_tangents(const Tensor& alias, const Tensor& t);
// The visible tangents.
std::vector<Tangent> tangents_of(const Tensor& t);
// The levels at which any of the tensors carries one, the lowest first.
std::vector<int64_t> dual_levels(TensorList tensors);
// Applies a function that only moves elements to a tensor and all of its tangents.
Tensor map_dual(const Tensor& t, const std::function<Tensor(const Tensor&)>& f);

// Whether it carries a tangent of a visible level.
bool has_tangent(const Tensor& t);
// The same of a batch too, whose tangents lie where its samples do. It may be undefined.
bool carries_tangent(const Tensor& t);
bool carries_tangent(std::span<const Tensor> list);

// The inputs of an operator that carry tangents.
class DualInputs {
 public:
  void add(size_t index, const Tensor& t) { inputs_.push_back({index, t}); }

  // The levels of the inputs' tangents, the lowest first.
  std::vector<int64_t> levels() const;
  // Gives the results of a node their tangents; those whose bit is not set have none.
  void carry(Node& node, TensorList results, int64_t level, uint32_t differentiable) const;
  // The results are windows on the first input, which `again` makes of its tangent.
  using Again = std::function<std::vector<Tensor>(const Tensor& tangent)>;
  void carry_views(TensorList results, const Again& again) const;
  // `self` has been changed in place by what the node records.
  void carry_inplace(Node& node, const Tensor& self, int64_t level) const;

 private:
  struct Input {
    size_t index;
    Tensor tensor;
  };
  bool shares_tangent(const Tensor& t, int64_t level) const;
  std::vector<Tensor> tangents(Node& node, TensorList results, int64_t level) const;

  std::vector<Input> inputs_;
};

}  // namespace fb::autograd
