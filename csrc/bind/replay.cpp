// Programs that run again, for Python: flambeau/_recording/program.py gives their steps.
#include "bind/replay.h"

#include <nanobind/stl/string.h>

#include "bind/boxed.h"
#include "bind/call.h"
#include "tape/invoke.h"
#include "tape/replay.h"

namespace nb = nanobind;

namespace fb::bind {
namespace {

using ops::ArgType;
using tape::Replay;
using tape::Source;
using tape::Step;

// nanobind does not know PythonError; its own exception carries the Python error that is set.
[[noreturn]] void raise(const char* name) {
  set_python_error(name);
  nb::raise_python_error();
}

int32_t slot_of(PyObject* number) {
  const int64_t slot = read::integer(number);
  FB_CHECK_VALUE(slot >= -1 && slot <= std::numeric_limits<int32_t>::max(),
                 "a program has no value ", slot);
  return static_cast<int32_t>(slot);
}

// The slot that a Ref of Python's names; -1 for any other object.
class Slots {
 public:
  Slots() : reference_(nb::module_::import_("flambeau._recording.tape").attr("Ref")) {}

  int32_t of(PyObject* object) const {
    if (reinterpret_cast<PyObject*>(Py_TYPE(object)) != reference_.ptr()) return -1;
    const int32_t slot = slot_of(PyTuple_GET_ITEM(object, 0));
    FB_CHECK_VALUE(slot >= 0, "a program has no value ", slot);
    return slot;
  }

 private:
  nb::object reference_;
};

bool takes_tensors(ArgType type) {
  return type == ArgType::kTensorList || type == ArgType::kOptTensorList ||
         type == ArgType::kTensorsOrNone;
}

Source list_source(const Slots& slots, const ops::Parameter& parameter, PyObject* list) {
  Source source;
  const bool is_of_tensors = takes_tensors(parameter.type);
  source.kind = is_of_tensors ? Source::Kind::kTensors : Source::Kind::kSizes;
  Dims numbers;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list); ++i) {
    PyObject* item = PySequence_Fast_GET_ITEM(list, i);
    const int32_t slot = slots.of(item);
    source.slots.push_back(slot);
    FB_CHECK_TYPE(slot >= 0 || (is_of_tensors ? item == Py_None : is_integer_like(item)),
                  "argument '", parameter.name, "' must be ", describe(parameter.type),
                  ", and its element ", i, " is ", type_name(item));
    if (!is_of_tensors) numbers.push_back(slot >= 0 ? 0 : read::integer(item));
  }
  source.value = ops::Value(numbers);
  return source;
}

Source source_of(const Slots& slots, const ops::Parameter* parameter, PyObject* object) {
  Source source;
  if (const int32_t slot = slots.of(object); slot >= 0) {
    source.kind = Source::Kind::kSlot;
    source.slots.push_back(slot);
    return source;
  }
  if (!parameter) {  // of a note
    source.value =
        PyUnicode_Check(object) ? ops::Value(read::text(object)) : ops::Value(read::number(object));
    return source;
  }
  if (PyTuple_Check(object) || PyList_Check(object)) {
    bool has_slots = takes_tensors(parameter->type);
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); ++i)
      has_slots |= slots.of(PySequence_Fast_GET_ITEM(object, i)) >= 0;
    if (has_slots) return list_source(slots, *parameter, object);
  }
  if (object == Py_None) return source;  // its default
  FB_CHECK_TYPE(fits(parameter->type, object) && !is_tensor(object), "argument '", parameter->name,
                "' must be ", describe(parameter->type), ", not ", type_name(object));
  source.value = boxed(parameter->type, object);
  return source;
}

std::vector<int32_t> slots_of(nb::handle list) {
  std::vector<int32_t> slots;
  for (const nb::handle each : list) slots.push_back(slot_of(each.ptr()));
  return slots;
}

// (whether gradients are off, the type of autocast or None)
void read_mode(PyObject* mode, Step& step) {
  FB_CHECK_TYPE(PyTuple_Check(mode) && PyTuple_GET_SIZE(mode) == 2,
                "the mode of a step must be a pair, not ", type_name(mode));
  PyObject* no_grad = PyTuple_GET_ITEM(mode, 0);
  PyObject* autocast = PyTuple_GET_ITEM(mode, 1);
  FB_CHECK_TYPE(PyBool_Check(no_grad), "'no_grad' in the mode of a step must be bool, not ",
                type_name(no_grad));
  FB_CHECK_TYPE(autocast == Py_None || is_dtype(autocast),
                "'autocast' in the mode of a step must be torch.dtype or None, not ",
                type_name(autocast));
  step.has_mode = true;
  step.no_grad = no_grad == Py_True;
  step.autocast = read::optional_dtype(autocast);
  FB_CHECK_VALUE(!step.autocast || is_floating(*step.autocast),
                 "'autocast' in the mode of a step must be a floating type, not ", *step.autocast);
}

// (operator, note, arguments, results, mode or None, dead). `shown` is the operator in messages.
Step step_of(const Slots& slots, nb::handle data, const char*& shown) {
  Step step;
  const auto name = nb::cast<std::string>(data[0]);
  step.note = nb::cast<std::string>(data[1]);
  if (!name.empty()) {
    step.op = tape::find_op(name);
    FB_CHECK_VALUE(step.op && !step.op->is(ops::kInner), "there is no operator called '", name,
                   "'");
    shown = step.op->shown;
  }
  const nb::object given = data[2];
  const auto count = static_cast<size_t>(nb::len(given));
  FB_CHECK_TYPE(!step.op || count <= step.op->count, "expected at most ",
                step.op ? static_cast<int>(step.op->count) : 0, " arguments, got ", count);
  for (size_t i = 0; i < count; ++i) {
    const nb::object argument = given[i];
    step.arguments.push_back(
        source_of(slots, step.op ? &step.op->parameters[i] : nullptr, argument.ptr()));
  }
  step.results = slots_of(data[3]);
  if (const nb::object mode = data[4]; !mode.is_none()) read_mode(mode.ptr(), step);
  step.dead = slots_of(data[5]);
  return step;
}

Replay* made(size_t slot_count, nb::handle steps, nb::handle outputs) {
  const char* op = nullptr;  // of the step that is read
  try {
    const Slots slots;
    std::vector<Step> list;
    for (const nb::handle each : steps) {
      op = nullptr;
      list.push_back(step_of(slots, each, op));
    }
    op = nullptr;
    return new Replay(slot_count, std::move(list), slots_of(outputs));
  } catch (const nb::python_error&) {
    throw;
  } catch (...) {
    raise(op);
  }
}

// Pairs of a slot and a tensor.
std::vector<Replay::Input> inputs_of(nb::handle pairs) {
  std::vector<Replay::Input> inputs;
  for (const nb::handle pair : pairs) {
    const nb::object value = pair[1];
    PyObject* object = value.ptr();
    FB_CHECK_TYPE(is_tensor(object), "a program runs on tensors, not on ", type_name(object));
    FB_CHECK_TYPE(!overrides(object), "a recorded program calls operators directly, which ",
                  type_name(object), " does not support");
    inputs.push_back({nb::cast<int32_t>(pair[0]), ops::Value(tensor_of(object))});
  }
  return inputs;
}

nb::list run(const Replay& replay, nb::handle inputs, bool checks) {
  const char* running = nullptr;
  try {
    const std::vector<Replay::Input> given = inputs_of(inputs);
    nb::list results;
    for (const ops::Value& value : replay.run(given, checks, running))
      results.append(nb::steal(checked(unboxed(value)).release()));
    return results;
  } catch (const nb::python_error&) {
    throw;
  } catch (...) {
    raise(running);
  }
}

}  // namespace

void add_replay(nb::module_& m) {
  nb::class_<Replay>(m, "_Replay").def("run", &run, nb::arg("inputs"), nb::arg("checks"));
  m.def("_replay", &made, nb::rv_policy::take_ownership);
  m.def("_check_decision", [](nb::handle given) {
    try {
      const Slots slots;
      std::vector<ops::Value> values;
      for (const nb::handle each : given)
        values.push_back(source_of(slots, nullptr, each.ptr()).value);
      tape::check_decision(values);
    } catch (const nb::python_error&) {
      throw;
    } catch (...) {
      raise(nullptr);
    }
  });
}

}  // namespace fb::bind
