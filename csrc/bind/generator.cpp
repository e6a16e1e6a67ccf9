// torch.Generator.
#include <nanobind/nanobind.h>

#include "bind/generator_object.h"
#include "core/generator.h"

namespace nb = nanobind;

namespace fb::bind {
namespace {

PyTypeObject* generator_type = nullptr;

}  // namespace

bool is_generator(PyObject* object) { return Py_TYPE(object) == generator_type; }
Generator* generator_of(PyObject* object) { return nb::inst_ptr<Generator>(object); }

void add_generator_type(PyObject* module) {
  nb::module_ m = nb::borrow<nb::module_>(module);
  nb::class_<Generator> type(m, "Generator");
  generator_type = reinterpret_cast<PyTypeObject*>(type.ptr());
  type.def(nb::init<>());
}

}  // namespace fb::bind
