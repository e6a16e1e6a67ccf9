// The switches of autocast, and operators with Python bodies on cast inputs.
#include "bind/autocast.h"

#include "bind/ending.h"
#include "bind/tensor_object.h"

namespace nb = nanobind;

namespace fb::bind {
namespace {

using autocast::State;
using autocast::state;

Ref cast_object(const autocast::Cast& cast, PyObject* object) {
  return Ref(is_tensor(object) ? wrap(cast(tensor_of(object))) : new_ref(object));
}

bool has_out(PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  const Py_ssize_t count = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    const char* name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(kwnames, i));
    if (name && std::string_view(name) == "out") return args[nargs + i] != Py_None;
  }
  return false;
}

DType checked_dtype(nb::handle d) {
  FB_CHECK_TYPE(is_dtype(d.ptr()), "argument 'dtype' must be torch.dtype, not ",
                Py_TYPE(d.ptr())->tp_name);
  return dtype_of(d.ptr());
}

// What Python has set for other devices than the CPU. Operators never look at it.
struct Elsewhere {
  static constexpr char kName[] = "flambeau.autocast";
  Ref switches;
};

// A dictionary that is replaced and never changed.
nb::dict elsewhere() {
  const Elsewhere* here = OfThread<Elsewhere>::find();
  return here && here->switches ? nb::borrow<nb::dict>(here->switches.get()) : nb::dict();
}

void set_elsewhere(nb::dict switches) {
  // Held: the old object is destroyed after it has been replaced.
  const Ref before =
      std::exchange(OfThread<Elsewhere>::get().switches, Ref(switches.release().ptr()));
}

// The switches: on, type, whether casts are kept, and those of other devices.
nb::tuple switches_now() {
  return nb::make_tuple(state.is_on, nb::borrow(dtype_object(state.lower)), state.caches,
                        elsewhere());
}

State state_of(nb::tuple switches, int nesting) {
  return {nb::cast<bool>(switches[0]), nb::cast<bool>(switches[2]), checked_dtype(switches[1]),
          nesting};
}

// Begins a region; returns the previous switches, for `leave`. For a device other than the CPU its
// switches come as a dictionary to add to the others, and those of the CPU are None.
nb::tuple enter(nb::tuple region) {
  nb::tuple before = switches_now();
  if (region[0].is_none()) {
    const nb::dict others = nb::steal<nb::dict>(PyDict_Copy(elsewhere().ptr()));
    if (!others.is_valid() || PyDict_Update(others.ptr(), nb::object(region[3]).ptr()) < 0)
      throw PythonError{};
    set_elsewhere(others);
    state.caches = nb::cast<bool>(region[2]);
    ++state.nesting;
  } else {
    state = state_of(region, state.nesting + 1);
  }
  return before;
}

// Ends a region; the outermost forgets the casts.
void leave(nb::tuple before) {
  const State after = state_of(before, state.nesting - 1);
  set_elsewhere(nb::borrow<nb::dict>(nb::object(before[3])));
  state = after;
  if (state.nesting == 0) autocast::forget_casts();
}

}  // namespace

PyObject* call_python_cast(DType target, PythonBody& body, FB_PY_ARGUMENTS) {
  const Py_ssize_t total = nargs + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0);
  const bool is_overridden =
      (body.is_method && overrides(self)) || bind::is_overridden(args, total);
  if (is_overridden) return call_python(body, self, args, nargs, kwnames);
  return guarded(nullptr, [&] {
    const autocast::Cast cast(target);
    const autocast::Off off;
    if (has_out(args, nargs, kwnames)) return call_python(body, self, args, nargs, kwnames);
    std::vector<Ref> kept;
    std::vector<PyObject*> given;
    for (Py_ssize_t i = 0; i < total; ++i)
      given.push_back(kept.emplace_back(cast_object(cast, args[i])).get());
    const Ref owner = body.is_method ? cast_object(cast, self) : Ref(new_ref(self));
    return call_python(body, owner.get(), given.data(), nargs, kwnames);
  });
}

void add_autocast(nb::module_& m) {
  nb::module_ sub = m.def_submodule("_autocast");
  sub.def("is_on", [] { return state.is_on; });
  sub.def("switch", [](bool on) { state.is_on = on; });
  sub.def("lower", [] { return nb::borrow(dtype_object(state.lower)); });
  sub.def("set_lower", [](nb::handle dtype) { state.lower = checked_dtype(dtype); });
  sub.def("caches", [] { return state.caches; });
  sub.def("set_caches", [](bool enabled) { state.caches = enabled; });
  sub.def("nest", [](int by) { return state.nesting += by; });
  sub.def("elsewhere", &elsewhere);
  sub.def("set_elsewhere", &set_elsewhere, nb::arg("switches"));
  sub.def("enter", &enter);
  sub.def("leave", &leave);
  sub.def("forget_casts", &autocast::forget_casts);
}

}  // namespace fb::bind
