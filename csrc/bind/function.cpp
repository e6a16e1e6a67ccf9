// Function.apply: runs a user's forward and records its node.
#include "bind/function.h"

#include <algorithm>

#include "autograd/batch.h"
#include "autograd/node_streams.h"
#include "autograd/record.h"
#include "bind/call.h"
#include "bind/function_node.h"
#include "core/profile.h"
#include "gen/ops/create.h"

namespace fb::bind {
namespace {

using autograd::Edge;
using autograd::NodeRef;

Ref attribute(PyObject* object, PyObject* name) { return checked(PyObject_GetAttr(object, name)); }

bool holds(PyObject* tuple, PyObject* item) {
  if (!tuple) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i)
    if (PyTuple_GET_ITEM(tuple, i) == item) return true;
  return false;
}

// Inputs are plain while `forward` runs: their tangents are for `jvp`.
class WithoutTangents {
 public:
  explicit WithoutTangents(PyObject* inputs) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(inputs); ++i) {
      PyObject* input = PyTuple_GET_ITEM(inputs, i);
      if (!is_tensor(input) || !(tensor_of(input)->flags & kDual)) continue;
      duals_.push_back(tensor_of(input));
      tensor_of(input)->flags &= static_cast<uint8_t>(~kDual);
    }
  }
  ~WithoutTangents() {
    for (const Tensor& t : duals_) t->flags |= kDual;
  }
  WithoutTangents(const WithoutTangents&) = delete;
  WithoutTangents& operator=(const WithoutTangents&) = delete;

 private:
  std::vector<Tensor> duals_;
};

// One call of apply.
class Application {
 public:
  Application(PyObject* function, Ref inputs)
      : function_(function), inputs_(std::move(inputs)), context_holder_(make_context()) {
    context_ = reinterpret_cast<PyContext*>(context_holder_.get());
    look_at_inputs();
  }

  PyObject* run() {
    const Ref returned = call_forward();
    const bool is_tuple = PyTuple_Check(returned.get());
    const Ref outputs =
        is_tuple ? Ref(new_ref(returned.get())) : checked(PyTuple_Pack(1, returned.get()));
    check_marks(outputs.get());
    if (is_recorded_) make_node(outputs.get());
    const Ref results = finish(outputs.get());
    if (is_dual_) add_tangents(results.get());
    save();
    Py_CLEAR(context_->dirty_tensors);
    Py_CLEAR(context_->non_differentiable);
    return new_ref(is_tuple ? results.get() : PyTuple_GET_ITEM(results.get(), 0));
  }

 private:
  Py_ssize_t input_count() const { return PyTuple_GET_SIZE(inputs_.get()); }
  PyObject* input(Py_ssize_t i) const { return PyTuple_GET_ITEM(inputs_.get(), i); }
  bool is_dirty(PyObject* object) const { return holds(context_->dirty_tensors, object); }

  Ref make_context() const {
    static PyObject* const name = PyUnicode_InternFromString("_backward_cls");
    const Ref type = attribute(function_, name);
    return new_context(reinterpret_cast<PyTypeObject*>(type.get()));
  }

  void look_at_inputs();
  Ref call_forward() const;
  void check_marks(PyObject* outputs) const;
  void make_node(PyObject* outputs);
  Ref finish(PyObject* outputs);
  Tensor finish_output(PyObject* output, uint32_t output_nr);
  void finish_dirty(const Tensor& output, uint32_t output_nr);
  void add_tangents(PyObject* results) const;
  void add_tangents(PyObject* results, int64_t level) const;
  Tensor tangent_for_jvp(const Tensor& input, int64_t level) const;
  void save();

  PyObject* function_;
  Ref inputs_;
  Ref context_holder_;
  PyContext* context_ = nullptr;
  bool is_recorded_ = false;
  bool is_dual_ = false;
  autograd::Recorder recorder_;
  std::vector<Edge> edges_;                 // one for each argument
  NodeRef node_;                            // if the call is recorded
  std::vector<const TensorImpl*> results_;  // outputs that the node made; null for others
};

void Application::look_at_inputs() {
  Ref needs = checked(PyTuple_New(input_count()));
  for (Py_ssize_t i = 0; i < input_count(); ++i) {
    const Tensor t = is_tensor(input(i)) ? tensor_of(input(i)) : Tensor();
    const bool needs_grad = t && autograd::requires_grad(t);
    PyTuple_SET_ITEM(needs.get(), i, PyBool_FromLong(needs_grad));
    is_recorded_ |= needs_grad && autograd::is_recording();
    is_dual_ |= t && t->flags & kDual;
    recorder_.input(t);
    // Taken before `forward` runs, which may change the inputs and with them their history.
    edges_.push_back(needs_grad ? autograd::gradient_edge(t) : Edge());
  }
  Py_XSETREF(context_->needs_input_grad, needs.release());
}

Ref Application::call_forward() const {
  static PyObject* const call = PyUnicode_InternFromString("_fb_call_forward");
  const autograd::GradMode off(false);
  const WithoutTangents plain(inputs_.get());
  return checked(
      PyObject_CallMethodObjArgs(function_, call, context_holder_.get(), inputs_.get(), nullptr));
}

// Checks the tensors that the user marked.
void Application::check_marks(PyObject* outputs) const {
  for (PyObject* marked : {context_->dirty_tensors, context_->non_differentiable}) {
    if (!marked) continue;
    const bool dirty = marked == context_->dirty_tensors;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(marked); ++i) {
      PyObject* item = PyTuple_GET_ITEM(marked, i);
      FB_CHECK_TYPE(is_tensor(item), dirty ? "mark_dirty" : "mark_non_differentiable",
                    " takes tensors, but argument ", i, " is of type ", Py_TYPE(item)->tp_name);
      FB_CHECK(!dirty || holds(outputs, item),
               "Some elements marked as dirty during the forward method were not returned as "
               "output. The inputs that are modified inplace must all be outputs of the Function.");
    }
  }
}

void Application::make_node(PyObject* outputs) {
  FunctionNode& node = node_of(context_);
  node_ = FunctionNode::retain(context_);
  node.sequence = autograd::next_sequence();
  if (profile::is_on()) [[unlikely]]
    profile::note_node(node.sequence);
  node.location = SourceLocation::here();
  // A changed view comes first: see CopySlices.
  std::vector<Py_ssize_t> order;
  for (Py_ssize_t i = 0; i < input_count(); ++i)
    if (is_tensor(input(i)))
      order.insert(is_dirty(input(i)) && tensor_of(input(i))->base ? order.begin() : order.end(),
                   i);
  node.edge_of_argument.assign(static_cast<size_t>(input_count()), FunctionNode::kNoEdge);
  for (size_t edge = 0; edge < order.size(); ++edge) {
    const auto argument = static_cast<size_t>(order[edge]);
    if (edges_[argument].node && edge < 32) node.wanted |= 1u << edge;
    node.edge_of_argument[argument] = static_cast<int>(edge);
    node.edges.push_back(std::move(edges_[argument]));
  }
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(outputs); ++i) {
    PyObject* output = PyTuple_GET_ITEM(outputs, i);
    node.is_tensor_output.push_back(is_tensor(output));
    node.outputs.push_back(is_tensor(output) ? autograd::output_meta(tensor_of(output))
                                             : autograd::OutputMeta());
    if (has_chosen_stream && is_tensor(output)) [[unlikely]]
      autograd::note_stream(node, tensor_of(output).device());
  }
}

Ref Application::finish(PyObject* outputs) {
  Ref results = checked(PyTuple_New(PyTuple_GET_SIZE(outputs)));
  results_.resize(static_cast<size_t>(PyTuple_GET_SIZE(outputs)));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(outputs); ++i) {
    PyObject* output = PyTuple_GET_ITEM(outputs, i);
    PyTuple_SET_ITEM(results.get(), i,
                     is_tensor(output) ? wrap(finish_output(output, static_cast<uint32_t>(i)))
                                       : new_ref(output));
  }
  return results;
}

Tensor Application::finish_output(PyObject* output, uint32_t output_nr) {
  Tensor t = tensor_of(output);
  const bool is_changed = is_dirty(output);
  if (is_changed) t.bump_version(Py_TYPE(context_)->tp_name);
  const bool is_passed_on = !is_changed && holds(inputs_.get(), output);
  if (is_passed_on) {
    // The user's own tensor keeps its history: the result is a view of it.
    const Tensor of = t;
    t = autograd::detached(of);
    autograd::link_view(t, of, ViewOrigin::kFunction);
  }
  const bool is_differentiable = is_floating(t.dtype()) || is_complex(t.dtype());
  if (!is_recorded_ || !is_differentiable || holds(context_->non_differentiable, output)) {
    if (autograd::requires_grad(t) && !is_changed && !t->base) autograd::detach_(t);
    return recorder_.pass(t);
  }
  if (is_changed) {
    finish_dirty(t, output_nr);
  } else {
    if (t->base) t->view_origin = ViewOrigin::kFunction;
    autograd::set_history(t, node_, output_nr);
  }
  results_[output_nr] = t.get();
  return t;
}

void Application::finish_dirty(const Tensor& output, uint32_t output_nr) {
  autograd::check_inplace(output);
  if (!output->base) {
    autograd::set_history(output, node_, output_nr);
    return;
  }
  FB_CHECK(node_->outputs.size() == 1,
           "If your Function modifies inplace an input that is a view of another Tensor, your "
           "Function cannot return more than one Tensor. Make sure the input is not a view (using "
           ".clone() for example) or split your Function in two: one doing the inplace that "
           "returns a single Tensor and a second one that does the other operations.");
  autograd::rebase_history(output, node_);
}

// Forward mode: the user's jvp gives the tangents of the results.
void Application::add_tangents(PyObject* results) const {
  std::vector<Tensor> inputs;
  for (Py_ssize_t i = 0; i < input_count(); ++i)
    if (is_tensor(input(i))) inputs.push_back(tensor_of(input(i)));
  for (const int64_t level : autograd::dual_levels(inputs)) add_tangents(results, level);
}

// Inputs without a tangent get zeros, or None if the user has asked for that.
Tensor Application::tangent_for_jvp(const Tensor& input, int64_t level) const {
  const Tensor tangent = autograd::tangent_of(input, level);
  const bool may_move = is_floating(input.dtype()) || is_complex(input.dtype());
  if (tangent || !may_move || !context_->materialize_grads) return tangent;
  return ops::zeros_like(autograd::primal_of(input, level));
}

void Application::add_tangents(PyObject* results, int64_t level) const {
  const Ref tangents = checked(PyTuple_New(input_count()));
  for (Py_ssize_t i = 0; i < input_count(); ++i) {
    const Tensor tangent =
        is_tensor(input(i)) ? tangent_for_jvp(tensor_of(input(i)), level) : Tensor();
    PyTuple_SET_ITEM(tangents.get(), i, tangent ? wrap(tangent) : none());
  }
  const autograd::Below hidden(level);
  static PyObject* const name = PyUnicode_InternFromString("apply_jvp");
  const Ref method = attribute(context_holder_.get(), name);
  const Ref returned = checked(PyObject_CallObject(method.get(), tangents.get()));
  const Ref moved = PyTuple_Check(returned.get()) ? Ref(new_ref(returned.get()))
                                                  : checked(PyTuple_Pack(1, returned.get()));
  const char* function = node_of(context_).operator_name();
  FB_CHECK(PyTuple_GET_SIZE(moved.get()) == PyTuple_GET_SIZE(results), "the jvp of ", function,
           " returned ", PyTuple_GET_SIZE(moved.get()), " tangents, but there are ",
           PyTuple_GET_SIZE(results), " outputs");
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(results); ++i) {
    PyObject* item = PyTuple_GET_ITEM(moved.get(), i);
    if (item == Py_None) continue;
    PyObject* output = PyTuple_GET_ITEM(results, i);
    FB_CHECK(is_tensor(item) && is_tensor(output), "the jvp of ", function,
             " returned a tangent for output ", i,
             " that is not a tensor, or for an output that is not a tensor");
    const Tensor& t = tensor_of(output);
    FB_CHECK(tensor_of(item).sizes() == t.sizes(), "the jvp of ", function,
             " returned a tangent of shape ", tensor_of(item).sizes(), " for output ", i,
             " of shape ", t.sizes());
    autograd::set_tangent(t, level, tensor_of(item));
  }
}

void Application::save() {
  FunctionNode& node = node_of(context_);
  const Ref saved(std::exchange(context_->to_save, nullptr));
  if (!saved || !is_recorded_) return;
  const auto count = static_cast<size_t>(PyTuple_Size(saved.get()));
  node.saved.resize(count);
  for (size_t i = 0; i < count; ++i) {
    PyObject* item = PyTuple_GET_ITEM(saved.get(), static_cast<Py_ssize_t>(i));
    if (item == Py_None) continue;
    FB_CHECK_TYPE(is_tensor(item), "save_for_backward can only save variables, but argument ", i,
                  " is of type ", Py_TYPE(item)->tp_name);
    const Tensor& t = tensor_of(item);
    const auto found = std::find(results_.begin(), results_.end(), t.get());
    if (found != results_.end())
      node.saved[i].save_result(t, static_cast<uint32_t>(found - results_.begin()));
    else
      node.saved[i].save(t);
  }
  node.has_saved = count > 0;
}

// The inputs as positional arguments. Keywords get edges, and so do arguments left out if `forward`
// takes no ctx.
Ref bound_inputs(PyObject* function, PyObject* const* args, Py_ssize_t count, PyObject* kwnames) {
  Ref positional = checked(PyTuple_New(count));
  for (Py_ssize_t i = 0; i < count; ++i) PyTuple_SET_ITEM(positional.get(), i, new_ref(args[i]));
  static PyObject* const fills = PyUnicode_InternFromString("_fb_fills_defaults");
  if (!kwnames && attribute(function, fills).get() == Py_False) return positional;
  const Ref keywords = checked(PyDict_New());
  for (Py_ssize_t i = 0; kwnames && i < PyTuple_GET_SIZE(kwnames); ++i)
    if (PyDict_SetItem(keywords.get(), PyTuple_GET_ITEM(kwnames, i), args[count + i]) < 0)
      throw PythonError{};
  static PyObject* const bind = PyUnicode_InternFromString("_fb_bind");
  return checked(
      PyObject_CallMethodObjArgs(function, bind, positional.get(), keywords.get(), nullptr));
}

bool has_batch(PyObject* inputs) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(inputs); ++i) {
    PyObject* input = PyTuple_GET_ITEM(inputs, i);
    if (is_tensor(input) && tensor_of(input)->flags & kBatched) return true;
  }
  return false;
}

// Inside vmap: the Function's own rule applies it to a batch.
PyObject* apply_batched(PyObject* function, PyObject* inputs) {
  const Ref module = checked(PyImport_ImportModule("flambeau.func._functions"));
  return checked(PyObject_CallMethod(module.get(), "apply_batched", "OO", function, inputs))
      .release();
}

// _apply_function(cls, *args): made a class method of Function.
PyObject* apply_function(FB_PY_ARGUMENTS) {
  static_cast<void>(self);
  return guarded(nullptr, [&] {
    FB_ASSERT(nargs > 0);
    profile::Span span;
    if (profile::is_on()) [[unlikely]]
      span.open_as(profile::Kind::kOperator, reinterpret_cast<PyTypeObject*>(args[0])->tp_name, 0,
                   0, profile::details_now());
    Ref inputs = bound_inputs(args[0], args + 1, nargs - 1, kwnames);
    if (autograd::in_map() && has_batch(inputs.get())) return apply_batched(args[0], inputs.get());
    return Application(args[0], std::move(inputs)).run();
  });
}

PyMethodDef kFunctions[] = {
    {"_apply_function", as_cfunction(apply_function), METH_FASTCALL | METH_KEYWORDS,
     "_apply_function($module, function, /, *args, **kwargs)\n--\n\n"
     "Runs a Function's forward and records its node."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void add_function(PyObject* module) {
  add_context_type(module);
  if (PyModule_AddFunctions(module, kFunctions) < 0) throw PythonError{};
}

}  // namespace fb::bind
