// The switches of autocast, and operators with Python bodies on cast inputs.
#include "bind/autocast.h"

#include "bind/ending.h"
#include "bind/tensor_object.h"

namespace nb = nanobind;

namespace fb::bind {
namespace {

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

// The switch that operators look at for a kind of device, "cpu" or "cuda".
autocast::Switch& switch_of(std::string_view kind) {
  FB_CHECK_VALUE(kind == "cpu" || kind == "cuda", "no operator looks at autocast for ", kind);
  return kind == "cpu" ? state.cpu : state.cuda;
}

// What Python has set for the other kinds of devices. Operators never look at it.
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

// Whether it is on, and the type.
nb::tuple pair_of(const autocast::Switch& on) {
  return nb::make_tuple(on.is_on, nb::borrow(dtype_object(on.lower)));
}
autocast::Switch switch_from(nb::handle is_on, nb::handle lower) {
  return {nb::cast<bool>(is_on), checked_dtype(lower)};
}

// Begins a region: the kind of device, whether autocast is on for it, the type, and whether casts
// are kept. Returns the previous switches, for `leave`.
nb::tuple enter(nb::tuple region) {
  nb::tuple before =
      nb::make_tuple(pair_of(state.cpu), pair_of(state.cuda), state.caches, elsewhere());
  const auto kind = nb::cast<nb::str>(nb::object(region[0]));
  const bool caches = nb::cast<bool>(region[3]);
  const std::string_view name = kind.c_str();
  if (name == "cpu" || name == "cuda") {
    switch_of(name) = switch_from(nb::object(region[1]), nb::object(region[2]));
  } else {
    const nb::dict others = nb::steal<nb::dict>(PyDict_Copy(elsewhere().ptr()));
    if (!others.is_valid()) throw PythonError{};
    others[kind] = nb::make_tuple(nb::object(region[1]), nb::object(region[2]));
    set_elsewhere(others);
  }
  state.caches = caches;
  ++state.nesting;
  return before;
}

// Ends a region; the outermost forgets the casts.
void leave(nb::tuple before) {
  const nb::tuple cpu(before[0]), cuda(before[1]);
  state.cpu = switch_from(nb::object(cpu[0]), nb::object(cpu[1]));
  state.cuda = switch_from(nb::object(cuda[0]), nb::object(cuda[1]));
  state.caches = nb::cast<bool>(before[2]);
  set_elsewhere(nb::borrow<nb::dict>(nb::object(before[3])));
  --state.nesting;
  if (state.nesting == 0) autocast::forget_casts();
}

}  // namespace

PyObject* call_python_cast(const autocast::Cast& cast, PythonBody& body, FB_PY_ARGUMENTS) {
  const Py_ssize_t total = nargs + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0);
  const bool is_overridden =
      (body.is_method && overrides(self)) || bind::is_overridden(args, total);
  if (is_overridden) return call_python(body, self, args, nargs, kwnames);
  return guarded(nullptr, [&] {
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
  sub.def("is_on", [](const char* kind) { return switch_of(kind).is_on; });
  sub.def("is_any_on", [] { return autocast::is_on(); });
  sub.def("switch", [](const char* kind, bool on) { switch_of(kind).is_on = on; });
  sub.def("lower",
          [](const char* kind) { return nb::borrow(dtype_object(switch_of(kind).lower)); });
  sub.def("set_lower",
          [](const char* kind, nb::handle dtype) { switch_of(kind).lower = checked_dtype(dtype); });
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
