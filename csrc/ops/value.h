// An argument or a result of an operator as a value: whatever a signature of the table may hold.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "ops/types.h"

namespace fb::ops {

class Value {
 public:
  // In the order of the alternatives of `held_`.
  enum class Kind : uint8_t {
    kNone,
    kTensor,
    kNumber,
    kTensors,
    kInts,
    kFloats,
    kText,
    kDType,
    kDevice,
    kLayout,
    kMemoryFormat,
    kGenerator,
  };

  // Out of line, so that not every user of values compiles them.
  Value() noexcept;
  Value(const Value& other);
  Value(Value&& other) noexcept;
  Value& operator=(const Value& other);
  Value& operator=(Value&& other) noexcept;
  ~Value();

  // An undefined tensor is None.
  Value(const Tensor& tensor) {
    if (tensor) held_.emplace<Tensor>(tensor);
  }
  Value(const Scalar& number) : held_(number) {}
  Value(bool number) : held_(Scalar(number)) {}
  Value(int64_t number) : held_(Scalar(number)) {}
  Value(double number) : held_(Scalar(number)) {}
  Value(TensorList tensors) : held_(std::vector<Tensor>(tensors.begin(), tensors.end())) {}
  Value(std::vector<Tensor> tensors) : held_(std::move(tensors)) {}
  Value(IntSpan numbers) : held_(numbers.vec()) {}
  Value(const Dims& numbers) : held_(numbers) {}
  Value(const std::vector<int64_t>& numbers) : held_(IntSpan(numbers).vec()) {}
  Value(std::vector<double> numbers) : held_(std::move(numbers)) {}
  Value(std::string text) : held_(std::move(text)) {}
  Value(DType dtype) : held_(dtype) {}
  Value(Device device) : held_(device) {}
  Value(Layout layout) : held_(layout) {}
  Value(MemoryFormat format) : held_(format) {}
  // Not owned.
  Value(Generator* generator) {
    if (generator) held_ = generator;
  }
  Value(const Operand& operand) {
    if (operand.is_tensor())
      held_ = operand.tensor();
    else
      held_ = operand.scalar();
  }
  template <class T>
  Value(const std::optional<T>& value) {
    if (value) *this = Value(*value);
  }
  Value(const char*) = delete;  // would convert to bool

  Kind kind() const { return static_cast<Kind>(held_.index()); }
  bool is(Kind kind) const { return this->kind() == kind; }
  bool is_none() const { return is(Kind::kNone); }

  // The value, of a kind that the caller has checked.
  const Tensor& tensor() const { return *std::get_if<Tensor>(&held_); }
  const Scalar& number() const { return *std::get_if<Scalar>(&held_); }
  const std::vector<Tensor>& tensors() const { return *std::get_if<std::vector<Tensor>>(&held_); }
  const Dims& ints() const { return *std::get_if<Dims>(&held_); }
  const std::vector<double>& floats() const { return *std::get_if<std::vector<double>>(&held_); }
  const std::string& text() const { return *std::get_if<std::string>(&held_); }
  DType dtype() const { return *std::get_if<DType>(&held_); }
  Device device() const { return *std::get_if<Device>(&held_); }
  Layout layout() const { return *std::get_if<Layout>(&held_); }
  MemoryFormat memory_format() const { return *std::get_if<MemoryFormat>(&held_); }
  Generator* generator() const { return *std::get_if<Generator*>(&held_); }

 private:
  std::variant<std::monostate, Tensor, Scalar, std::vector<Tensor>, Dims, std::vector<double>,
               std::string, DType, Device, Layout, MemoryFormat, Generator*>
      held_;
};

// "Tensor", "int", "list of ints": as messages name what came.
const char* describe(const Value& value);

}  // namespace fb::ops
