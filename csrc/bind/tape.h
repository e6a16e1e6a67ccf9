// Tapes for Python, and what the binding tells them: sizes that are arguments, elements that leave.
//
// Callers test observe::any() first, so that it costs nothing otherwise.
#pragma once

#include <nanobind/nanobind.h>

#include "bind/call.h"
#include "core/observe.h"
#include "tape/tape.h"

namespace fb::bind {

void add_tape(nanobind::module_& m);

// --- while a tape traces sizes; null if none does, or if the tensor does not depend on the inputs
PyObject* traced_shape(const Tensor& tensor);
PyObject* traced_rank(const Tensor& tensor);
// The answer of an operator that asks for sizes: size(), numel(), dim().
PyObject* traced_answer(const ops::Operator& op, PyObject* const* slots);

// flambeau._recording.sizes.TracedInt, once it is imported: what such sizes are for Python.
extern PyTypeObject* traced_type;
inline bool is_size(PyObject* object) { return Py_TYPE(object) == traced_type; }
// The number that a size is in this call.
int64_t size_value(PyObject* size);
// The number of a size on a tape; -1 for any other object.
int32_t size_number(const tape::Tape& tape, PyObject* object);
// If an object is a traced size, passes it to the next call.
void give_size(tape::Tape& tape, const char* parameter, int32_t element, PyObject* object,
               int32_t place = -1);

// The sizes among the arguments of a call. Those that have found no place in it by its end become
// checks.
class GivenSizes {
 public:
  GivenSizes(tape::Tape& tape, const Overload& overload, PyObject* const* slots);
  ~GivenSizes();
  GivenSizes(const GivenSizes&) = delete;
  GivenSizes& operator=(const GivenSizes&) = delete;

 private:
  tape::Tape& tape_;
};

// Python reads elements of a tensor, one or several; the recorder may refuse that.
void note_read(const Tensor& tensor, const char* how);
void note_read(const Tensor& tensor, const char* how, const Scalar& value);
// Whether a tape runs in this thread, outside of operators.
inline bool is_recorded() {
  return observe::watches(observe::kRecord) && tape::current() != nullptr;
}
// The tensor without its history, which is a call on the tape.
Tensor recorded_detach(const Tensor& tensor);
// Python makes a tensor of its own data.
inline Tensor noted(Tensor made) {
  if (is_recorded()) [[unlikely]]
    tape::current()->note_made(made);
  return made;
}

}  // namespace fb::bind
