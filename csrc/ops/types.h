// The vocabulary of operator signatures.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "core/tensor.h"

namespace fb {

class Generator;

namespace ops {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// An operand that is a tensor or a Python number. Borrows the tensor: for arguments only.
class Operand {
 public:
  Operand(const Tensor& tensor) : tensor_(&tensor) {}
  Operand(const Scalar& scalar) : scalar_(scalar) {}
  Operand(double value) : scalar_(value) {}
  Operand(int64_t value) : scalar_(value) {}
  Operand(int value) : scalar_(value) {}

  bool is_tensor() const { return tensor_ != nullptr; }
  const Tensor& tensor() const { return *tensor_; }
  const Scalar& scalar() const { return scalar_; }

 private:
  const Tensor* tensor_ = nullptr;
  Scalar scalar_;
};

// A result that Python sees as a list rather than a tuple.
struct TensorVector : std::vector<Tensor> {
  using std::vector<Tensor>::vector;
};

// Two results where an argument such as return_indices asks for both, else the first alone.
using OneOrTwo = std::variant<Tensor, std::tuple<Tensor, Tensor>>;

}  // namespace ops
}  // namespace fb
