// Tapes for Python: what was recorded becomes tuples that flambeau/_recording/tape.py reads.
#include "bind/tape.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <utility>

#include "bind/boxed.h"
#include "bind/tensor_object.h"
#include "bind/value_types.h"
#include "gen/ops/view.h"
#include "ops/observe.h"
#include "tape/count.h"
#include "tape/invoke.h"

namespace nb = nanobind;

namespace fb::bind {

PyTypeObject* traced_type = nullptr;

namespace {

using tape::Item;
using tape::Record;
using tape::Tape;

// Tensors and sizes as references to their numbers.
class Reader {
 public:
  Reader() {
    const nb::module_ names = nb::module_::import_("flambeau._recording.tape");
    reference_ = names.attr("Ref");
    size_ = names.attr("SizeRef");
  }

  nb::object object_of(const Item& item) const {
    if (item.kind == Item::Kind::kTensor) return reference_(item.numbers[0]);
    if (item.kind == Item::Kind::kSize) return size_(item.numbers[0]);
    if (item.kind == Item::Kind::kSizes) return sizes_of(item);
    if (item.kind == Item::Kind::kValue) return nb::steal(checked(unboxed(item.value)).release());
    nb::list list;
    for (const int32_t number : item.numbers)
      list.append(number < 0 ? nb::object(nb::none()) : reference_(number));
    return list;
  }

  nb::tuple tuple_of(const std::vector<Item>& items) const {
    nb::list list;
    for (const Item& item : items) list.append(object_of(item));
    return nb::tuple(list);
  }

 private:
  nb::object sizes_of(const Item& item) const {
    nb::list list;
    for (size_t i = 0; i < item.numbers.size(); ++i)
      list.append(item.numbers[i] < 0 ? nb::object(nb::int_(item.value.ints()[i]))
                                      : size_(item.numbers[i]));
    return nb::tuple(list);
  }

  nb::object reference_, size_;
};

nb::list calls(const Tape& tape) {
  const Reader reader;
  nb::list list;
  for (const Record& record : tape.records()) {
    const std::string location = record.location.text();
    const nb::object autocast =
        record.autocast ? nb::steal(wrap(*record.autocast)) : nb::object(nb::none());
    list.append(nb::make_tuple(record.op ? ops::name_of(*record.op) : std::string(),
                               record.op ? record.op->profiled : "",
                               reader.tuple_of(record.arguments), reader.tuple_of(record.results),
                               record.op ? static_cast<int>(record.op->flags) : 0,
                               location.empty() ? "" : location.c_str() + 4,  // " at "
                               record.note, record.no_grad, autocast));
  }
  return list;
}

// Sizes of this tape, and numbers.
std::vector<Item> operands_of(const Tape& tape, nb::handle operands) {
  std::vector<Item> items;
  for (const nb::handle each : operands) {
    if (const int32_t size = size_number(tape, each.ptr()); size >= 0) {
      items.push_back(tape.size_item(size));
    } else {
      Item item;
      item.value = ops::Value(read::number(each.ptr()));
      items.push_back(std::move(item));
    }
  }
  return items;
}

PyObject* traced(Tape& tape, int32_t number) {
  const nb::object owner = nb::find(tape);
  return checked(PyObject_CallFunction(reinterpret_cast<PyObject*>(traced_type), "LOi",
                                       static_cast<long long>(tape.sizes()[size_t(number)]),
                                       owner.ptr(), static_cast<int>(number)))
      .release();
}

Tape* tracing_sizes_of(const Tensor& tensor) {
  Tape* tape = tape::tracing();
  return tape && traced_type && tape->is_sized(tensor) ? tape : nullptr;
}

// A stride of contiguous memory: a product of sizes. For other strides all sizes are checked, as
// nothing is known about them.
Ref traced_strides(const Tensor& tensor) {
  Tape* tape = tracing_sizes_of(tensor);
  if (!tape) return {};
  const Ref shape(traced_shape(tensor));
  Ref strides = checked(PyTuple_New(tensor.dim()));
  int64_t expected = 1;
  Ref stride(PyLong_FromLong(1));
  for (int64_t dim = tensor.dim() - 1; dim >= 0; --dim) {
    const auto d = static_cast<size_t>(dim);
    if (tensor.strides()[d] != expected) {
      for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(shape.get()); ++i)
        give_size(*tape, "", -1, PyTuple_GET_ITEM(shape.get(), i));
      tape->settle();
      return {};
    }
    PyTuple_SET_ITEM(strides.get(), dim, new_ref(stride.get()));
    if (dim == 0) break;
    stride = checked(PyNumber_Multiply(PyTuple_GET_ITEM(shape.get(), dim), stride.get()));
    expected *= tensor.sizes()[d];
  }
  return strides;
}

PyObject* traced_count(const Tensor& tensor) {
  Ref shape(traced_shape(tensor));
  if (!shape || tensor.dim() == 0) return nullptr;
  return checked(PyObject_CallMethod(shape.get(), "numel", nullptr)).release();
}

nb::list values(const Tape& tape) {
  nb::list list;
  for (const tape::Met& met : tape.met())
    list.append(nb::make_tuple(nb::steal(wrap(met.tensor)), met.maker, met.shares,
                               nb::steal(wrap(met.original ? met.original : met.tensor))));
  return list;
}

}  // namespace

PyObject* traced_shape(const Tensor& tensor) {
  Tape* tape = tracing_sizes_of(tensor);
  if (!tape) return nullptr;
  Ref sizes = checked(PyTuple_New(tensor.dim()));
  for (int64_t dim = 0; dim < tensor.dim(); ++dim)
    PyTuple_SET_ITEM(sizes.get(), dim, traced(*tape, tape->add_size(tensor, dim)));
  return checked(PyObject_CallOneArg(reinterpret_cast<PyObject*>(size_type), sizes.get()))
      .release();
}

PyObject* traced_rank(const Tensor& tensor) {
  Tape* tape = tracing_sizes_of(tensor);
  if (!tape || !tape->traces_ranks()) return nullptr;
  return traced(*tape, tape->add_rank(tensor));
}

PyObject* traced_answer(const ops::Operator& op, PyObject* const* slots) {
  const std::string_view name = op.name;
  static constexpr std::string_view kNames[] = {"size", "numel", "nelement", "dim", "stride"};
  if (std::find(std::begin(kNames), std::end(kNames), name) == std::end(kNames)) return nullptr;
  const Tensor& tensor = tensor_of(slots[0]);
  if (name == "stride") {
    Ref strides = traced_strides(tensor);
    if (!strides || !*op.overload) return strides.release();
    return new_ref(
        PyTuple_GET_ITEM(strides.get(), wrap_dim(read::integer(slots[1]), tensor.dim())));
  }
  if (name == "dim") return traced_rank(tensor);
  if (name != "size") return traced_count(tensor);
  Tape* tape = tracing_sizes_of(tensor);
  if (!tape || !*op.overload) return traced_shape(tensor);
  const int64_t dim = wrap_dim(read::integer(slots[1]), tensor.dim());
  return traced(*tape, tape->add_size(tensor, dim));
}

int64_t size_value(PyObject* size) {
  const Ref value = checked(PyObject_GetAttrString(size, "value"));
  return read::integer(value.get());
}

int32_t size_number(const Tape& tape, PyObject* object) {
  if (!is_size(object)) return -1;
  const Ref owner = checked(PyObject_GetAttrString(object, "tape"));
  // A size kept from another recording is a plain number here.
  const nb::object own = nb::find(tape);
  if (owner.get() != own.ptr()) return -1;
  const Ref number = checked(PyObject_GetAttrString(object, "number"));
  return static_cast<int32_t>(PyLong_AsLong(number.get()));
}

void give_size(Tape& tape, const char* parameter, int32_t element, PyObject* object,
               int32_t place) {
  if (const int32_t size = size_number(tape, object); size >= 0)
    tape.give(parameter, element, size, place);
}

GivenSizes::GivenSizes(Tape& tape, const Overload& overload, PyObject* const* slots) : tape_(tape) {
  tape_.settle();  // left over from a call that failed
  for (int i = 0; i < overload.count; ++i) {
    PyObject* given = slots[overload.args[i].slot];
    if (!given) continue;
    const char* name = overload.args[i].name;
    give_size(tape_, name, -1, given, i);
    if (!PyTuple_Check(given) && !PyList_Check(given)) continue;
    for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(given); ++k)
      give_size(tape_, name, static_cast<int32_t>(k), PySequence_Fast_GET_ITEM(given, k), i);
  }
}

GivenSizes::~GivenSizes() { tape_.settle(); }

void note_read(const Tensor& tensor, const char* how) {
  Tape* tape = tape::current();
  if (tape && tape->on_read) tape->on_read(how, tensor);
}

void note_read(const Tensor& tensor, const char* how, const Scalar& value) {
  Tape* tape = tape::current();
  if (!tape) return;
  if (tape->known_number_of(tensor) >= 0) tape->add_read(tensor, how, ops::Value(value));
  if (tape->on_read) tape->on_read(how, tensor);
}

Tensor recorded_detach(const Tensor& tensor) {
  static const ops::Operator& op = *tape::find_op("detach");
  const ops::Value given(tensor);
  observe::Call call(observe::Call::Outside{}, op, &given, 1);
  return call.done(ops::detach(tensor));
}

namespace {

// --- switches of blocks: see Note [Interrupts] in scope.cpp

void check_idle(const Tape& tape) { FB_CHECK(!tape.is_running(), "this recording runs already"); }

nb::object start_tape(nb::object object) {
  auto& tape = nb::cast<Tape&>(object);
  check_idle(tape);
  tape.start();
  return object;
}

// Starts a tape for an object that is told of reads, and of sizes that leave: the tape, the object
// and two functions of its own, of which the second may be None.
nb::object start_recording(nb::tuple what) {
  FB_CHECK_TYPE(what.size() == 4, "a recording takes 4 objects, not ", what.size());
  auto& tape = nb::cast<Tape&>(what[0]);
  check_idle(tape);
  tape.owner = nb::handle(what[1]).ptr();
  tape.on_read = [call = nb::object(what[2])](const char* how, const Tensor& tensor) {
    const Ref object(wrap(tensor));
    checked(PyObject_CallFunction(call.ptr(), "sO", how, object.get()));
  };
  if (const nb::object call = what[3]; !call.is_none())
    tape.on_leave = [call](int64_t value, const std::string& location) {
      checked(
          PyObject_CallFunction(call.ptr(), "Ls", static_cast<long long>(value), location.c_str()));
    };
  tape.start();
  return what[0];
}

void stop_tape(Tape& tape) {
  tape.stop();
  tape.owner = nullptr;
  // They hold their object, which holds the tape; dropping them may run anything.
  const auto on_read = std::exchange(tape.on_read, nullptr);
  const auto on_leave = std::exchange(tape.on_leave, nullptr);
}

// The innermost object that records this thread.
nb::object recorder() {
  for (const Tape* tape = tape::innermost(); tape; tape = tape->outer())
    if (tape->owner) return nb::borrow(static_cast<PyObject*>(tape->owner));
  return nb::none();
}

}  // namespace

void add_tape(nb::module_& m) {
  tape::install_recording();
  m.attr("_OP_WRITES") = static_cast<int>(ops::kWrites);
  m.attr("_OP_STORES") = static_cast<int>(ops::kStores);
  m.attr("_OP_VIEWS") = static_cast<int>(ops::kViews);
  m.attr("_OP_RANDOM") = static_cast<int>(ops::kRandom);
  m.attr("_OP_WRITES_MANY") = static_cast<int>(ops::kWritesMany);
  m.attr("_OP_INNER") = static_cast<int>(ops::kInner);
  m.attr("_OP_COMPOSITE") = static_cast<int>(ops::kComposite);
  m.attr("_OP_MANY") = static_cast<int>(ops::kManyResults);
  nb::class_<Tape>(m, "_Tape")
      .def(
          "__init__",
          [](Tape* self, bool in_parts, int tracing) {
            FB_CHECK_VALUE(tracing >= 0 && tracing <= 2, "a tape traces 0, 1 or 2, not ", tracing);
            new (self) Tape(in_parts, static_cast<tape::Tracing>(tracing));
          },
          nb::arg("in_parts"), nb::arg("tracing") = 0)
      .def(
          "number",
          [](Tape& tape, nb::handle tensor) {
            FB_CHECK_TYPE(is_tensor(tensor.ptr()), "a tape numbers tensors, not ",
                          Py_TYPE(tensor.ptr())->tp_name);
            return tape.number_of(tensor_of(tensor.ptr()));
          },
          nb::arg("tensor"))
      .def("known_number",
           [](const Tape& tape, nb::handle t) { return tape.known_number_of(tensor_of(t.ptr())); })
      .def("mark_sized", [](Tape& tape, nb::handle t) { tape.mark_sized(tensor_of(t.ptr())); })
      .def("add_arithmetic",
           [](Tape& tape, const std::string& name, nb::handle operands, int64_t value) {
             return tape.add_arithmetic(tape::arithmetic_named(name), operands_of(tape, operands),
                                        value);
           })
      .def("add_check",
           [](Tape& tape, const std::string& name, nb::handle outcome, nb::handle operands) {
             tape.add_check(name.c_str(), ops::Value(read::number(outcome.ptr())),
                            operands_of(tape, operands));
           })
      .def("leave",
           [](Tape& tape, int32_t size) {
             FB_CHECK_VALUE(size >= 0 && size_t(size) < tape.sizes().size(), "a tape has no size ",
                            size);
             tape.leave(size);
           })
      .def("__len__", [](const Tape& tape) { return tape.records().size(); })
      .def("calls", &calls)
      .def("values", &values);
  m.def("_start_tape", &start_tape, nb::arg("tape"));
  m.def("_start_recording", &start_recording, nb::arg("what"));
  m.def("_stop_tape", &stop_tape, nb::arg("tape"));
  m.def("_recorder", &recorder);
  m.def("_set_traced_int", [](nb::handle type) {
    Py_INCREF(type.ptr());
    traced_type = reinterpret_cast<PyTypeObject*>(type.ptr());
  });
  m.def("_note_read", [](const std::string& how, nb::handle tensor) {
    try {
      note_read(tensor_of(tensor.ptr()), how.c_str());
    } catch (const PythonError&) {
      nb::raise_python_error();
    }
  });
  m.def("_pause_tapes", &tape::set_paused, nb::arg("is_paused"));
  m.def("_is_recorded", &is_recorded);
  m.def("_count_start", &tape::start_counting);
  m.def("_count_stop", &tape::stop_counting);
  m.def("_counted", [] {
    nb::dict result;
    for (const auto& [name, count] : tape::counted()) result[name.c_str()] = count;
    return result;
  });
}

}  // namespace fb::bind
