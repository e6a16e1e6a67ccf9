// torch.Generator and torch.default_generator.
#include "core/generator.h"

#include <nanobind/nanobind.h>

#include "bind/generator_object.h"
#include "bind/tensor_object.h"
#include "bind/value_types.h"
#include "core/device_names.h"

namespace nb = nanobind;

namespace fb::bind {
namespace {

PyTypeObject* generator_type = nullptr;

// Any 64 bits, as a signed or an unsigned number.
uint64_t seed_of(nb::handle value) {
  FB_CHECK(PyLong_Check(value.ptr()) && !PyBool_Check(value.ptr()),
           "manual_seed expected a long, but got ", Py_TYPE(value.ptr())->tp_name);
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (overflow == 0) return static_cast<uint64_t>(number);
  const unsigned long long positive = overflow > 0 ? PyLong_AsUnsignedLongLong(value.ptr()) : 0;
  if (overflow < 0 || PyErr_Occurred()) {
    PyErr_Clear();
    fail(ErrorKind::kValue, "Overflow when unpacking long long");
  }
  return positive;
}

void initialise(Generator* memory, nb::handle device) {
  if (!device.is_none()) {
    FB_CHECK_TYPE(is_device_like(device.ptr()),
                  "Generator(): argument 'device' (position 1) must be torch.device, not ",
                  Py_TYPE(device.ptr())->tp_name);
    const Device wanted = device_of(device.ptr());
    FB_CHECK(wanted.type == DeviceType::kCpu, "there is no generator for device ", text_of(wanted));
  }
  new (memory) Generator();
}

nb::object get_state(const Generator& generator) {
  Tensor state = make_tensor({static_cast<int64_t>(Generator::kStateSize)}, DType::kUInt8, kHost);
  generator.save_state(state.data_as<uint8_t>());
  return nb::steal(wrap(std::move(state)));
}

void set_state(Generator& generator, nb::handle state) {
  FB_CHECK_TYPE(is_tensor(state.ptr()), "expected a torch.ByteTensor, but got ",
                Py_TYPE(state.ptr())->tp_name);
  const Tensor& bytes = tensor_of(state.ptr());
  FB_CHECK_TYPE(bytes.dtype() == DType::kUInt8 && bytes.device().type == DeviceType::kCpu,
                "RNG state must be a torch.ByteTensor");
  FB_CHECK(bytes.is_contiguous(), "RNG state must be contiguous");
  generator.load_state(bytes.data_as<const uint8_t>(), static_cast<size_t>(bytes.numel()));
}

[[noreturn]] void refuse_graphs(const char* what) {
  fail(ErrorKind::kNotImplemented, what, " is not supported in this Generator");
}
[[noreturn]] void refuse_offset() {
  fail(ErrorKind::kRuntime, "CPU Generator does not use offset");
}

nb::object cpu_device() { return nb::steal(device_object(kHost)); }

void define_state(nb::class_<Generator>& type) {
  type.def("get_state", &get_state, "The state as a uint8 tensor, in PyTorch's layout.")
      .def(
          "set_state",
          [](nb::handle self, nb::handle new_state) {
            set_state(nb::cast<Generator&>(self), new_state);
            return nb::borrow(self);
          },
          nb::arg("new_state").none(),
          "Goes on from a state that get_state, here or in PyTorch, returned.")
      .def(
          "clone_state", [](const Generator& self) { return new Generator(self); },
          nb::rv_policy::take_ownership, "A generator that goes on with the same stream.")
      .def(
          "graphsafe_get_state", [](const Generator&) { refuse_graphs("graphsafe_get_state"); },
          "Only generators of GPUs have it.")
      .def(
          "graphsafe_set_state",
          [](Generator&, nb::handle) { refuse_graphs("graphsafe_set_state"); }, nb::arg("state"),
          "Only generators of GPUs have it.")
      .def(
          "get_offset", [](const Generator&) { refuse_offset(); },
          "Only generators of GPUs have it.")
      .def(
          "set_offset", [](Generator&, nb::handle) { refuse_offset(); }, nb::arg("offset"),
          "Only generators of GPUs have it.")
      .def("__reduce__", [](const Generator& self) {
        const nb::object rebuild =
            nb::module_::import_("flambeau.random").attr("_rebuild_generator");
        return nb::make_tuple(rebuild, nb::make_tuple(get_state(self)));
      });
}

}  // namespace

bool is_generator(PyObject* object) { return PyObject_TypeCheck(object, generator_type); }
Generator* generator_of(PyObject* object) { return nb::inst_ptr<Generator>(object); }
PyObject* generator_object(Generator* generator) {
  const nb::object found = nb::find(generator);
  return found.is_valid() ? new_ref(found.ptr()) : none();
}

void add_generator_type(PyObject* module) {
  nb::module_ m = nb::borrow<nb::module_>(module);
  nb::class_<Generator> type(m, "Generator",
                             "A source of random numbers: PyTorch's Mersenne Twister.");
  generator_type = reinterpret_cast<PyTypeObject*>(type.ptr());
  type.def("__init__", &initialise, nb::arg("device").none() = nb::none())
      .def_prop_ro(
          "device", [](const Generator&) { return cpu_device(); }, "Always the CPU.")
      .def(
          "manual_seed",
          [](nb::handle self, nb::handle seed) {
            nb::cast<Generator&>(self).manual_seed(seed_of(seed));
            return nb::borrow(self);
          },
          nb::arg("seed").none(),
          "Starts the stream of `seed`, any 64-bit number, and returns the generator.")
      .def("seed", &Generator::seed,
           "Starts a stream that cannot be foreseen and returns its seed.")
      .def("initial_seed", &Generator::initial_seed, "The seed that the stream was started with.");
  define_state(type);
  m.attr("default_generator") = nb::cast(&default_generator(), nb::rv_policy::reference);
}

}  // namespace fb::bind
