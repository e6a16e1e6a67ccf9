// Profiler sessions for Python: what was recorded becomes tuples that flambeau.profiler reads.
#include "bind/profile.h"

#include <nanobind/stl/string.h>

#include <string>
#include <unordered_map>

#include "bind/source_location.h"
#include "bind/tensor_object.h"
#include "bind/value_types.h"
#include "core/profile.h"

namespace nb = nanobind;

namespace fb::bind {
namespace {

// The modules that were called, held until the last session ends. Guarded by the interpreter's
// lock; leaked if the program ends before its session, as there is no interpreter then.
std::vector<nb::object>& called_modules = *new std::vector<nb::object>;
std::unordered_map<PyObject*, uint64_t> module_numbers;

uint64_t number_of(PyObject* module) {
  const auto [found, is_new] = module_numbers.try_emplace(module, called_modules.size());
  if (is_new) called_modules.push_back(nb::borrow(module));
  return found->second;
}

// --- from events to Python

nb::object object_of(const profile::Shape& shape) {
  const nb::object sizes = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(shape.sizes.size())));
  for (size_t i = 0; i < shape.sizes.size(); ++i)
    PyTuple_SET_ITEM(sizes.ptr(), static_cast<Py_ssize_t>(i), PyLong_FromLongLong(shape.sizes[i]));
  return nb::make_tuple(sizes, nb::borrow(dtype_object(shape.dtype)));
}
nb::object object_of(int64_t value) { return nb::int_(value); }
template <class T>
nb::object object_of(const std::vector<T>& values) {
  nb::list list;
  for (const T& value : values) list.append(object_of(value));
  return list;
}
nb::object object_of(std::monostate) { return nb::none(); }
nb::object object_of(const std::string& text) { return nb::str(text.c_str(), text.size()); }
nb::object object_of(const Scalar& value) {
  switch (value.kind()) {
    case Scalar::Kind::kBool: return nb::bool_(value.to<bool>());
    case Scalar::Kind::kInt: return nb::int_(value.to<int64_t>());
    case Scalar::Kind::kFloat: return nb::float_(value.to<double>());
    case Scalar::Kind::kComplex: break;
  }
  const auto number = value.to<Complex<double>>();
  return nb::steal(PyComplex_FromDoubles(number.re, number.im));
}

nb::object arguments_of(const profile::Event& event) {
  if (!event.details || event.details->arguments.empty()) return nb::none();
  nb::list list;
  for (const profile::Argument& argument : event.details->arguments)
    list.append(std::visit([](const auto& value) { return object_of(value); }, argument));
  return list;
}

nb::object stack_of(const profile::Event& event) {
  if (!event.details || event.details->stack.empty()) return nb::none();
  nb::list list;
  for (const auto& [code, position] : event.details->stack)
    list.append(nb::steal(describe_frame(code, position)));
  return list;
}

void append_track(nb::list& events, const profile::Track& track, int64_t began) {
  constexpr int64_t kBefore = -1;
  std::vector<int64_t> numbers;  // of the track's events, among those of the session
  track.each([&](profile::Event& event) {
    const bool is_ours = event.start >= began;
    numbers.push_back(is_ours ? static_cast<int64_t>(events.size()) : kBefore);
    if (!is_ours) return;
    const int64_t parent = event.parent ? numbers[event.parent->index] : kBefore;
    events.append(nb::make_tuple(static_cast<int>(event.kind), event.name, track.thread,
                                 event.start, event.end.load(std::memory_order_acquire), parent,
                                 event.sequence.load(std::memory_order_relaxed), event.bytes,
                                 std::atomic_ref(event.subject).load(std::memory_order_relaxed),
                                 arguments_of(event), stack_of(event)));
  });
}

void stop(uint64_t session) {
  profile::stop(session);
  if (profile::is_on()) return;
  module_numbers.clear();
  // Destroying the modules may call other modules.
  std::vector<nb::object> gone;
  gone.swap(called_modules);
}

// A session of the reader's own, so that the events stay if the program ends the other one
// meanwhile: making Python objects may run finalizers.
class Reading {
 public:
  Reading() : session_(profile::start(0)) {}
  ~Reading() { stop(session_); }
  Reading(const Reading&) = delete;

 private:
  uint64_t session_;
};

nb::list read(uint64_t session) {
  nb::list events;
  const Reading reading;
  if (!profile::is_running(session)) return events;
  const int64_t began = profile::began(session);
  for (const auto& track : profile::tracks()) append_track(events, *track, began);
  return events;
}

// What record_function opens and closes.
class Range {
 public:
  Range(std::string name, std::string text) : name_(std::move(name)), text_(std::move(text)) {}

  void open() {
    if (!profile::is_on()) return;
    std::vector<profile::Argument> arguments;
    if (!text_.empty()) arguments.emplace_back(text_);
    range_.open(name_, std::move(arguments));
  }
  void close() { range_.close(); }

 private:
  std::string name_;
  std::string text_;
  profile::Range range_;
};

}  // namespace

void ModuleSpan::begin(PyObject* module) {
  open_as(profile::Kind::kModule, Py_TYPE(module)->tp_name, 0, number_of(module),
          profile::details_now());
}

void add_profile(nb::module_& m) {
  m.attr("_PROFILE_ARGUMENTS") = static_cast<int>(profile::kArguments);
  m.attr("_PROFILE_MEMORY") = static_cast<int>(profile::kMemory);
  m.attr("_PROFILE_STACKS") = static_cast<int>(profile::kStacks);
  m.attr("_PROFILE_MODULES") = static_cast<int>(profile::kModules);
  m.def("_profile_start", &profile::start, nb::arg("wants"));
  m.def("_profile_read", &read, nb::arg("session"));
  m.def("_profile_stop", &stop, nb::arg("session"));
  m.def("_profile_now", &profile::now);
  m.def("_is_profiling", &profile::is_on);
  m.def("_profile_modules", [] {
    nb::list modules;
    const std::vector<nb::object> called = called_modules;  // which a finalizer may change
    for (const nb::object& module : called) modules.append(module);
    return modules;
  });
  nb::class_<Range>(m, "_ProfileRange")
      .def(nb::init<std::string, std::string>(), nb::arg("name"), nb::arg("args"))
      .def("open", &Range::open)
      .def("close", &Range::close);
}

}  // namespace fb::bind
