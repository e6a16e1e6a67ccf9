// Tapes for Python: what was recorded becomes tuples that flambeau/_tape.py reads.
#include "bind/tape.h"

#include <nanobind/stl/string.h>

#include "bind/boxed.h"
#include "bind/tensor_object.h"
#include "tape/count.h"
#include "tape/tape.h"

namespace nb = nanobind;

namespace fb::bind {
namespace {

using tape::Item;
using tape::Record;
using tape::Tape;

// Tensors as references to their numbers.
class Reader {
 public:
  Reader() : reference_(nb::module_::import_("flambeau._tape").attr("Ref")) {}

  nb::object object_of(const Item& item) const {
    if (item.kind == Item::Kind::kTensor) return reference_(item.numbers[0]);
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
  nb::object reference_;
};

nb::list calls(const Tape& tape) {
  const Reader reader;
  nb::list list;
  for (const Record& record : tape.records()) {
    const std::string location = record.location.text();
    list.append(nb::make_tuple(ops::name_of(*record.op), record.op->profiled,
                               reader.tuple_of(record.arguments), reader.tuple_of(record.results),
                               static_cast<int>(record.op->flags),
                               location.empty() ? "" : location.c_str() + 4));  // " at "
  }
  return list;
}

nb::list values(const Tape& tape) {
  nb::list list;
  for (const tape::Met& met : tape.met())
    list.append(nb::make_tuple(nb::steal(wrap(met.tensor)), met.maker, met.shares));
  return list;
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
  nb::class_<Tape>(m, "_Tape")
      .def(nb::init<bool>(), nb::arg("in_parts"))
      .def("start", &Tape::start)
      .def("stop", &Tape::stop)
      .def(
          "number",
          [](Tape& tape, nb::handle tensor) {
            FB_CHECK_TYPE(is_tensor(tensor.ptr()), "a tape numbers tensors, not ",
                          Py_TYPE(tensor.ptr())->tp_name);
            return tape.number_of(tensor_of(tensor.ptr()));
          },
          nb::arg("tensor"))
      .def("__len__", [](const Tape& tape) { return tape.records().size(); })
      .def("calls", &calls)
      .def("values", &values);
  m.def("_count_start", &tape::start_counting);
  m.def("_count_stop", &tape::stop_counting);
  m.def("_counted", [] {
    nb::dict result;
    for (const auto& [name, count] : tape::counted()) result[name.c_str()] = count;
    return result;
  });
}

}  // namespace fb::bind
