// Python arguments: does an object fit a parameter, and what is its value?
#pragma once

#include <string>

#include "bind/tensor_object.h"
#include "ops/arg_type.h"
#include "ops/types.h"

namespace fb::bind {

using ops::ArgType;
using ops::Operand;

// Whether `object` can be read as `type`.
bool fits(ArgType type, PyObject* object);
// A Python int, or something equivalent to one (a NumPy integer, an integral tensor of a single
// element).
bool is_integer_like(PyObject* object);
// A Python number, a NumPy scalar; not a tensor.
bool is_number(PyObject* object);

// Lists that a call owns while it runs; they convert to the spans that operators take.
struct OptionalInts {
  bool present = false;
  Dims values;
  operator std::optional<IntSpan>() const {
    return present ? std::optional<IntSpan>(values) : std::nullopt;
  }
};
struct OptionalTensors {
  bool present = false;
  std::vector<Tensor> values;
  operator std::optional<TensorList>() const {
    return present ? std::optional<TensorList>(values) : std::nullopt;
  }
};

// Readers assume that `fits` returned true. The optional ones take null (left out) and None.
namespace read {

inline const Tensor& tensor(PyObject* o) { return tensor_of(o); }
const Tensor& optional_tensor(PyObject* o);
Operand operand(PyObject* o);
std::vector<Tensor> tensor_list(PyObject* o);
std::vector<Tensor> tensors_or_none(PyObject* o);
OptionalTensors optional_tensor_list(PyObject* o);
Scalar number(PyObject* o);
std::optional<Scalar> optional_number(PyObject* o);
int64_t integer(PyObject* o);
std::optional<int64_t> optional_integer(PyObject* o);
double real_number(PyObject* o);
std::optional<double> optional_real_number(PyObject* o);
std::optional<std::vector<double>> optional_float_list(PyObject* o);
bool boolean(PyObject* o);
std::optional<bool> optional_boolean(PyObject* o);
Dims int_list(PyObject* o);
OptionalInts optional_int_list(PyObject* o);
// Sizes of which some may be None, which is read as the least int64.
Dims open_sizes(PyObject* o);
std::string text(PyObject* o);
std::optional<std::string> optional_text(PyObject* o);
DType dtype_value(PyObject* o);
std::optional<DType> optional_dtype(PyObject* o);
std::optional<Device> optional_device(PyObject* o);
std::optional<Layout> optional_layout(PyObject* o);
std::optional<MemoryFormat> optional_memory_format(PyObject* o);
Generator* optional_generator(PyObject* o);

}  // namespace read
}  // namespace fb::bind
