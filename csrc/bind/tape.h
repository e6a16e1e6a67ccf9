// Tapes for Python, and what the binding tells them: sizes that are arguments, elements that leave.
//
// All of it stands behind observe::any() where it is asked, so that nobody else pays for it.
#pragma once

#include <nanobind/nanobind.h>

#include "bind/call.h"
#include "core/observe.h"
#include "tape/tape.h"

namespace fb::bind {

void add_tape(nanobind::module_& m);

// --- while a tape traces sizes; null where none does, or the tensor does not depend on the inputs
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
// Gives the next call the size that an object is, if it is one.
void give_size(tape::Tape& tape, const char* parameter, int32_t element, PyObject* object,
               int32_t place = -1);

// Sizes among the arguments of a call, which have found their places when it is over, or are
// checked.
class GivenSizes {
 public:
  GivenSizes(tape::Tape& tape, const Overload& overload, PyObject* const* slots);
  ~GivenSizes();
  GivenSizes(const GivenSizes&) = delete;
  GivenSizes& operator=(const GivenSizes&) = delete;

 private:
  tape::Tape& tape_;
};

// Python reads elements of a tensor, one or several; whoever records may refuse it.
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
