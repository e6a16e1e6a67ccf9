// torch.Generator and torch.default_generator.
#include "core/generator.h"

#include <nanobind/nanobind.h>

#include "bind/generator_object.h"
#include "bind/tensor_object.h"
#include "bind/value_types.h"
#include "core/device_memory.h"
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
    FB_CHECK(wanted.type == DeviceType::kCpu || wanted.type == DeviceType::kCuda,
             "there is no generator for device ", text_of(wanted));
    if (wanted.type == DeviceType::kCuda) {
      start_device[static_cast<int>(wanted.type)](wanted);
      const int8_t current = memory_of(wanted).current();
      new (memory) Generator(Device(wanted.type, wanted.index < 0 ? current : wanted.index));
      return;
    }
  }
  new (memory) Generator(kHost);
}

nb::object get_state(const Generator& generator) {
  Tensor state = make_tensor({static_cast<int64_t>(generator.state_size())}, DType::kUInt8, kHost);
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
void check_has_offset(const Generator& generator) {
  FB_CHECK(generator.is_on_gpu(), "CPU Generator does not use offset");
}

nb::object device_in(const Generator& generator) {
  return nb::steal(device_object(generator.device()));
}

// --- what Python calls, with signatures that `inspect` reads

Generator& generator_in(PyObject* self) { return nb::cast<Generator&>(nb::handle(self)); }

PyObject* generator_get_state(PyObject* self, PyObject*) {
  return guarded(nullptr, [&] { return get_state(generator_in(self)).release().ptr(); });
}

PyObject* generator_set_state(PyObject* self, PyObject* new_state) {
  return guarded(nullptr, [&] {
    set_state(generator_in(self), new_state);
    return new_ref(self);
  });
}

PyObject* generator_clone_state(PyObject* self, PyObject*) {
  return guarded(nullptr, [&] {
    auto* copy = new Generator(generator_in(self));
    return nb::cast(copy, nb::rv_policy::take_ownership).release().ptr();
  });
}

PyObject* generator_manual_seed(PyObject* self, PyObject* seed) {
  return guarded(nullptr, [&] {
    generator_in(self).manual_seed(seed_of(seed));
    return new_ref(self);
  });
}

PyObject* generator_seed(PyObject* self, PyObject*) {
  return guarded(nullptr, [&] { return PyLong_FromUnsignedLongLong(generator_in(self).seed()); });
}

PyObject* generator_initial_seed(PyObject* self, PyObject*) {
  return guarded(nullptr,
                 [&] { return PyLong_FromUnsignedLongLong(generator_in(self).initial_seed()); });
}

PyMethodDef kMethods[] = {
    {"manual_seed", generator_manual_seed, METH_O, R"(manual_seed($self, seed, /)
--

Start the stream of a seed and return the generator.

Args:
    seed: Any 64-bit number. Equal seeds give equal numbers.

Example:
    >>> generator = torch.Generator().manual_seed(7)
    >>> first = torch.rand(2, generator=generator)
    >>> bool((torch.rand(2, generator=generator.manual_seed(7)) == first).all())
    True

See also:
    `torch.manual_seed`, `Generator.seed`.)"},
    {"seed", generator_seed, METH_NOARGS, R"(seed($self, /)
--

Start a stream from a seed that the system gives, and return the seed.

Example:
    >>> generator = torch.Generator()
    >>> generator.seed() == generator.initial_seed()
    True)"},
    {"initial_seed", generator_initial_seed, METH_NOARGS, R"(initial_seed($self, /)
--

Return the seed that the stream was started with.

Example:
    >>> torch.Generator().manual_seed(7).initial_seed()
    7)"},
    {"get_state", generator_get_state, METH_NOARGS, R"(get_state($self, /)
--

Return the state as a uint8 tensor, in PyTorch's layout.

Example:
    >>> generator = torch.Generator()
    >>> state = generator.get_state()
    >>> first = torch.rand(2, generator=generator)
    >>> bool((torch.rand(2, generator=generator.set_state(state)) == first).all())
    True)"},
    {"set_state", generator_set_state, METH_O, R"(set_state($self, new_state, /)
--

Continue from a state that `get_state` returned, here or in PyTorch.

Args:
    new_state: The state, a uint8 tensor.

Returns:
    The generator.)"},
    {"clone_state", generator_clone_state, METH_NOARGS, R"(clone_state($self, /)
--

Return a second generator that continues the same stream.)"},
    {nullptr, nullptr, 0, nullptr}};

constexpr const char* kDoc = R"(Source of random numbers: a Mersenne Twister, on GPUs Philox.

Functions that draw take one as `generator`. Each has a stream of its own, so that
what it gives does not depend on what other parts of a program draw.

Args:
    device: The device of the tensors that it fills. Default: the CPU.

Attributes:
    device: The device of the tensors that it fills.

Example:
    >>> generator = torch.Generator().manual_seed(0)
    >>> torch.randint(10, (4,), generator=generator)
    tensor([4, 9, 3, 0])
    >>> torch.randperm(4, generator=generator.manual_seed(0))
    tensor([0, 1, 3, 2])

See also:
    `torch.manual_seed`, `torch.get_rng_state`.)";

void define_state(nb::class_<Generator>& type) {
  type.def(
          "graphsafe_get_state", [](const Generator&) { refuse_graphs("graphsafe_get_state"); },
          "Only generators of GPUs have it.")
      .def(
          "graphsafe_set_state",
          [](Generator&, nb::handle) { refuse_graphs("graphsafe_set_state"); }, nb::arg("state"),
          "Only generators of GPUs have it.")
      .def(
          "get_offset",
          [](const Generator& self) {
            check_has_offset(self);
            return self.offset();
          },
          "Where the stream is; only generators of GPUs have it.")
      .def(
          "set_offset",
          [](Generator& self, uint64_t offset) {
            check_has_offset(self);
            self.set_offset(offset);
          },
          nb::arg("offset"), "Continue the stream there; only generators of GPUs have it.")
      .def("__reduce__", [](const Generator& self) {
        const nb::object rebuild =
            nb::module_::import_("flambeau.random").attr("_rebuild_generator");
        if (!self.is_on_gpu()) return nb::make_tuple(rebuild, nb::make_tuple(get_state(self)));
        return nb::make_tuple(rebuild, nb::make_tuple(get_state(self), device_in(self)));
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
  nb::class_<Generator> type(m, "Generator", kDoc);
  generator_type = reinterpret_cast<PyTypeObject*>(type.ptr());
  type.def("__init__", &initialise, nb::arg("device").none() = nb::none())
      .def_prop_ro("device", &device_in, "The device of the tensors that it fills.");
  for (PyMethodDef* method = kMethods; method->ml_name; ++method)
    type.attr(method->ml_name) = nb::steal(PyDescr_NewMethod(generator_type, method));
  define_state(type);
  m.attr("default_generator") = nb::cast(&default_generator(), nb::rv_policy::reference);
  m.def("_gpu_generator", [](int index) {
    const Device device(DeviceType::kCuda, static_cast<int8_t>(index));
    start_device[static_cast<int>(device.type)](device);
    return nb::cast(&default_generator(device), nb::rv_policy::reference);
  });
  m.def("_seed_gpu_generators", [](nb::handle seed) { seed_gpu_generators(seed_of(seed)); });
}

}  // namespace fb::bind
