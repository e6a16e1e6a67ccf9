// backward() and grad(), and the modes of recording.
#include "bind/backward.h"

#include "autograd/batch.h"
#include "autograd/engine.h"
#include "autograd/history.h"
#include "autograd/saved.h"
#include "bind/call.h"
#include "bind/hooks.h"
#include "bind/nested_calls.h"
#include "bind/node_object.h"

namespace nb = nanobind;

namespace fb::bind {
namespace {

using autograd::Edge;

const Tensor& tensor_in(nb::handle object) {
  FB_CHECK_TYPE(is_tensor(object.ptr()), "expected a Tensor, got ", Py_TYPE(object.ptr())->tp_name);
  return tensor_of(object.ptr());
}

// Why a tensor has no history, if known.
std::string why_cut(const Tensor& t) {
  if (t->flags & kCut && t->cut)
    return std::string(" Its history was cut off by ") + t->cut->by + t->cut->location->text() +
           ".";
  if (const autograd::Cut* cut = autograd::last_number_taken())
    return std::string(" The last value taken out of a graph as a Python number was by ") +
           cut->by + cut->location->text() + ".";
  return "";
}

Edge root_edge(const Tensor& t, size_t index) {
  Edge edge = autograd::gradient_edge(t);
  FB_CHECK(edge.node, "element ", index,
           " of tensors does not require grad and does not have a grad_fn.", why_cut(t));
  return edge;
}

// An input may be a tensor, or (node, number): a GradientEdge.
Edge edge_of(nb::handle object, size_t index, const char* what) {
  if (!is_tensor(object.ptr()) && PyTuple_Check(object.ptr()) &&
      PyTuple_GET_SIZE(object.ptr()) >= 2 && is_node(PyTuple_GET_ITEM(object.ptr(), 0))) {
    const autograd::NodeRef node = node_ref(PyTuple_GET_ITEM(object.ptr(), 0));
    const int64_t number = read::integer(PyTuple_GET_ITEM(object.ptr(), 1));
    const auto results = static_cast<int64_t>(node->outputs.size());
    FB_CHECK_INDEX(number >= 0 && number < results, "a gradient edge names result ", number, " of ",
                   node->name(), ", which has ", results);
    return {node, static_cast<uint32_t>(number)};
  }
  const Tensor& t = tensor_in(object);
  if (std::string_view(what) == "root") return root_edge(t, index);
  FB_CHECK(autograd::requires_grad(t),
           "One of the differentiated Tensors does not require grad: input ", index, " of shape ",
           t.sizes(), ".", why_cut(t));
  return autograd::gradient_edge(t);
}

std::vector<int64_t> batch_levels_in(nb::handle object) {
  if (!is_tensor(object.ptr())) return {};
  return autograd::batch_levels_of(tensor_of(object.ptr()));
}

// The graph of a batched tensor is that of all its samples.
Tensor samples_like(const Tensor& grad, nb::handle root) {
  return autograd::samples_of(grad, batch_levels_in(root));
}

nb::object run_backward(nb::sequence tensors, nb::sequence grads, bool keep_graph,
                        bool create_graph, nb::sequence inputs, bool allow_unused,
                        bool accumulate) {
  std::vector<Edge> roots;
  std::vector<Tensor> given;
  for (nb::handle root : tensors) {
    const size_t i = roots.size();
    roots.push_back(edge_of(root, i, "root"));
    nb::object grad = grads[i];
    given.push_back(grad.is_none() ? Tensor() : samples_like(tensor_in(grad), root));
  }
  std::vector<Edge> wanted;
  for (nb::handle input : inputs) {
    if (accumulate && is_tensor(input.ptr())) autograd::retain_grad(tensor_of(input.ptr()));
    wanted.push_back(edge_of(input, wanted.size(), "input"));
  }
  const autograd::BackwardOptions options{keep_graph, create_graph, accumulate};
  const std::vector<Tensor> found =
      nested_call([&] { return autograd::backward(roots, given, wanted, options); });
  if (accumulate) return nb::tuple();
  nb::list result;
  for (size_t i = 0; i < found.size(); ++i) {
    const nb::object input = inputs[i];
    FB_CHECK(found[i] || allow_unused,
             "One of the differentiated Tensors appears to not have been used in the graph: input ",
             i, ". Set allow_unused=True if this is the desired behavior.");
    result.append(found[i]
                      ? nb::steal(wrap(autograd::make_batched(found[i], batch_levels_in(input))))
                      : nb::none());
  }
  return nb::tuple(result);
}

// Both take (inference, recording) or (detection, checking for NaN), and return the previous
// values.
nb::tuple exchange_inference(nb::tuple mode) {
  const bool is_on = nb::cast<bool>(mode[0]), records = nb::cast<bool>(mode[1]);
  const bool was_on = std::exchange(autograd::mode.inference, is_on);
  inference_depth += static_cast<int>(is_on) - static_cast<int>(was_on);
  return nb::make_tuple(was_on, autograd::set_grad_enabled(records));
}

nb::tuple exchange_anomaly(nb::tuple mode) {
  const auto before = autograd::anomaly;
  autograd::anomaly = {nb::cast<bool>(mode[0]), nb::cast<bool>(mode[1])};
  return nb::make_tuple(before.enabled, before.check_nan);
}

PyObject* is_grad_enabled(PyObject*, PyObject*) {
  return PyBool_FromLong(autograd::mode.grad_enabled);
}
PyObject* is_inference_mode_enabled(PyObject*, PyObject*) {
  return PyBool_FromLong(autograd::mode.inference);
}
PyObject* is_anomaly_enabled(PyObject*, PyObject*) {
  return PyBool_FromLong(autograd::anomaly.enabled);
}
PyObject* is_anomaly_check_nan_enabled(PyObject*, PyObject*) {
  return PyBool_FromLong(autograd::anomaly.check_nan);
}

PyMethodDef kModes[] = {
    {"is_grad_enabled", is_grad_enabled, METH_NOARGS, R"(is_grad_enabled($module, /)
--

Return whether operators on tensors that require gradients are recorded now.

Example:
    >>> torch.is_grad_enabled()
    True
    >>> with torch.no_grad():
    ...     torch.is_grad_enabled()
    False

See also:
    `torch.no_grad`, `torch.enable_grad`, `torch.set_grad_enabled`.)"},
    {"is_inference_mode_enabled", is_inference_mode_enabled, METH_NOARGS,
     R"(is_inference_mode_enabled($module, /)
--

Return whether `inference_mode` is on.

Example:
    >>> with torch.inference_mode():
    ...     torch.is_inference_mode_enabled()
    True

See also:
    `torch.inference_mode`, `torch.is_grad_enabled`.)"},
    {"is_anomaly_enabled", is_anomaly_enabled, METH_NOARGS, R"(is_anomaly_enabled($module, /)
--

Return whether `detect_anomaly` is on.

Example:
    >>> torch.is_anomaly_enabled()
    False

See also:
    `autograd.detect_anomaly`.)"},
    {"is_anomaly_check_nan_enabled", is_anomaly_check_nan_enabled, METH_NOARGS,
     R"(is_anomaly_check_nan_enabled($module, /)
--

Return whether `detect_anomaly` looks for NaN.

Example:
    >>> with torch.autograd.set_detect_anomaly(True, check_nan=False):
    ...     torch.is_anomaly_check_nan_enabled()
    False

See also:
    `autograd.detect_anomaly`.)"},
    {nullptr, nullptr, 0, nullptr}};

void add_modes(nb::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), kModes) < 0) throw PythonError{};
  m.def("_set_grad_enabled", autograd::set_grad_enabled, nb::arg("enabled"));
  m.def("_exchange_inference", exchange_inference, nb::arg("mode"));
  m.def("_exchange_anomaly", exchange_anomaly, nb::arg("mode"));
}

void add_engine(nb::module_& m) {
  m.def("_run_backward", run_backward, nb::arg("tensors"), nb::arg("grads"), nb::arg("keep_graph"),
        nb::arg("create_graph"), nb::arg("inputs"), nb::arg("allow_unused"), nb::arg("accumulate"));
  m.def("_current_run", autograd::current_run);
  m.def("_run_has_inputs", autograd::run_has_inputs);
  m.def("_will_run", [](nb::handle node) { return autograd::will_run(node_of(node.ptr())); });
  m.def("_retain_grad", [](nb::handle t) { autograd::retain_grad(tensor_in(t)); });
  m.def("_gradient_edge", [](nb::handle t) {
    const Edge edge = autograd::gradient_edge(tensor_in(t));
    FB_CHECK(edge.node, "Cannot get gradient edge for a Tensor that does not require grad.");
    return nb::make_tuple(nb::steal(wrap_node(edge.node)), edge.output_nr);
  });
  m.def("_bump_version", [](nb::handle t) { tensor_in(t).bump_version("increment_version"); });
  // `hooks`: a dictionary of functions that take the leaf.
  m.def("_after_accumulation",
        [](nb::handle t, nb::handle hooks) { set_accumulation_hooks(tensor_in(t), hooks.ptr()); });
}

// Python 3.10 does not print notes, but tools that print exceptions find them where later versions
// keep them.
void add_note_to(PyObject* exception, const char* text) {
#if PY_VERSION_HEX >= 0x030B0000
  Py_XDECREF(PyObject_CallMethod(exception, "add_note", "s", text));
#else
  Ref notes(PyObject_GetAttrString(exception, "__notes__"));
  if (!notes) {
    PyErr_Clear();
    notes = Ref(PyList_New(0));
    if (!notes || PyObject_SetAttrString(exception, "__notes__", notes.get()) < 0) return;
  }
  const Ref note(PyUnicode_FromString(text));
  if (note) PyList_Append(notes.get(), note.get());
#endif
}

// Python's exceptions travel through the engine as PythonError.
void note_in_python(const std::string& text) {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  if (!type) return;
  PyErr_NormalizeException(&type, &value, &trace);
  if (trace) PyException_SetTraceback(value, trace);
  add_note_to(value, text.c_str());
  PyErr_Clear();
  PyErr_Restore(type, value, trace);
}

}  // namespace

void add_backward(nb::module_& m) {
  autograd::check_interrupt = [] {
    if (PyErr_CheckSignals() < 0) throw PythonError{};
  };
  autograd::add_note = note_in_python;
  add_modes(m);
  add_engine(m);
}

}  // namespace fb::bind
