// device, layout and memory_format.
#include "bind/value_types.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <string>

#include "bind/override.h"
#include "core/device_names.h"

namespace nb = nanobind;

namespace fb::bind {
namespace {

struct LayoutObject {
  Layout value;
  const char* name;
  bool is_name_only = false;  // no tensor has this layout
};
struct MemoryFormatObject {
  MemoryFormat value;
};

constexpr const char* kLayoutNames[] = {"strided",    "sparse_coo", "sparse_csr",
                                        "sparse_csc", "sparse_bsr", "sparse_bsc"};
constexpr int kLayoutCount = std::size(kLayoutNames);
constexpr const char* kMemoryFormatNames[] = {"contiguous_format", "preserve_format",
                                              "channels_last", "channels_last_3d"};

PyObject* layout_objects[kLayoutCount];
PyTypeObject* device_type = nullptr;
PyTypeObject* layout_type = nullptr;
PyTypeObject* memory_format_type = nullptr;
constexpr int kMemoryFormatCount = 4;
PyObject* memory_format_objects[kMemoryFormatCount];

bool is_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isalpha(c) || c == '_'; });
}

Device parse_device(std::string_view text) {
  // The words are PyTorch's: packages read the list of devices out of them.
  FB_CHECK(!text.empty(), "Device string must not be empty");
  const auto colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  FB_CHECK(is_word(name), "Invalid device string: '", text, "'");
  const std::optional<DeviceType> type = find_device_type(name);
  FB_CHECK(type, "Expected one of ", known_device_types(),
           " device type at start of device string: ", name);
  Device device{*type};
  if (colon == std::string_view::npos) return device;
  int index = 0;
  const std::string_view digits = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  const bool has_leading_zero = digits.size() > 1 && digits.front() == '0';
  FB_CHECK(error == std::errc() && end == digits.data() + digits.size() && index >= 0 &&
               index < 128 && !has_leading_zero,
           "Invalid device string: '", text, "'");
  device.index = static_cast<int8_t>(index);
  return device;
}

Device checked_device(const std::string& type, std::optional<int> index) {
  Device device = parse_device(type);
  if (!index) return device;
  FB_CHECK(device.index < 0,
           "type (string) must not include an index because index was passed explicitly: ", type);
  FB_CHECK(*index >= 0, "Device index must not be negative, got ", *index);
  FB_CHECK(*index < 128, "Device index must be less than 128, got ", *index);
  device.index = static_cast<int8_t>(*index);
  return device;
}

std::string device_repr(Device device) {
  std::string text = "device(type='" + std::string(name_of(device.type)) + "'";
  if (device.index >= 0) text += ", index=" + std::to_string(device.index);
  return text + ")";
}

// `with torch.device("meta"):` new tensors of the block live there. Python makes the mode; it is
// entered and left here: see Note [Interrupts] in scope.cpp.
nb::object enter_device(nb::object self) {
  const nb::object mode = nb::module_::import_("flambeau._core.settings").attr("_block_on")(self);
  push_mode(mode.ptr());
  return self;
}

constexpr const char* kDeviceDoc = R"(Where the elements of a tensor are.

Tensors are computed on the CPU; on the device meta they have shapes and types
and no elements. Other names, such as 'cuda', can be compared and printed. As a
context manager it is the device of tensors that are made in the block.

Args:
    type: The kind of device ('cpu', 'meta', 'cuda' ...), which may be followed
        by an index: 'cuda:0'. An int is the index of a GPU. Another device is
        copied.
    index: Which device of its kind. Default: None, the current one.

Attributes:
    type: The kind of device, a str.
    index: Which device of its kind, or None.

Example:
    >>> torch.zeros(2).device
    device(type='cpu')
    >>> torch.device("cuda", 1), str(torch.device("cuda:1"))
    (device(type='cuda', index=1), 'cuda:1')
    >>> with torch.device("meta"):
    ...     torch.zeros(1000, 1000, 1000).device
    device(type='meta')

See also:
    `torch.set_default_device`, `Tensor.to`.)";

constexpr const char* kLayoutDoc = R"(How the elements of a tensor are laid out.

torch.strided is a block of memory with a step for each dimension. torch.sparse_coo,
torch.sparse_csr and the like list the elements that are not zero.

Example:
    >>> torch.zeros(2, 2).layout
    torch.strided
    >>> torch.eye(2).to_sparse().layout
    torch.sparse_coo

See also:
    `Tensor.to_sparse`, `Tensor.stride`.)";

constexpr const char* kMemoryFormatDoc = R"(Order of the elements of a tensor in memory.

torch.contiguous_format is the order of the dimensions, torch.channels_last that
of images whose pixels have their channels side by side, and
torch.preserve_format that of the tensor which is copied.

Example:
    >>> images = torch.zeros(8, 3, 32, 32)
    >>> images.to(memory_format=torch.channels_last).stride()
    (3072, 1, 96, 3)

See also:
    `Tensor.contiguous`, `Tensor.is_contiguous`.)";

void add_devices(nb::module_& m) {
  nb::class_<Device> type(m, "device", nb::is_weak_referenceable(), kDeviceDoc);
  device_type = reinterpret_cast<PyTypeObject*>(type.ptr());
  type.def(
          "__init__",
          [](Device* self, const std::string& type, std::optional<int> index) {
            new (self) Device(checked_device(type, index));
          },
          nb::arg("type"), nb::arg("index") = nb::none())
      .def(
          "__init__", [](Device* self, const Device& other) { new (self) Device(other); },
          nb::arg("device"))
      .def(
          "__init__",
          [](Device* self, int index) { new (self) Device(checked_device("cuda", index)); },
          nb::arg("index"))
      .def_prop_ro("type", [](const Device& d) { return std::string(name_of(d.type)); })
      .def_prop_ro("index",
                   [](const Device& d) -> std::optional<int> {
                     return d.index < 0 ? std::nullopt : std::optional<int>(d.index);
                   })
      .def("__enter__", enter_device)
      .def("__exit__", [](const Device&, nb::args) { pop_mode(); })
      .def("__repr__", [](const Device& d) { return device_repr(d); })
      .def("__str__", [](const Device& d) { return text_of(d); })
      .def("__hash__",
           [](const Device& d) { return (static_cast<int>(d.type) << 8) + d.index + 1; })
      .def("__reduce__",
           [](nb::object self) {
             return nb::make_tuple(
                 self.type(), nb::make_tuple(nb::str(text_of(nb::cast<Device>(self)).c_str())));
           })
      .def(
          "__eq__",
          [](const Device& d, nb::object other) -> nb::object {
            Device value = kHost;
            if (other.is_none() || !nb::try_cast(other, value))
              return nb::borrow(Py_NotImplemented);
            return nb::bool_(d == value);
          },
          nb::arg("other").none());
}

void add_layouts(nb::module_& m) {
  nb::class_<LayoutObject> layout(m, "layout", kLayoutDoc);
  layout_type = reinterpret_cast<PyTypeObject*>(layout.ptr());
  layout.def("__repr__", [](const LayoutObject& l) { return std::string("torch.") + l.name; })
      .def("__reduce__", [](const LayoutObject& l) { return l.name; })
      .def("__copy__", [](nb::object self) { return self; })
      .def("__deepcopy__", [](nb::object self, nb::object) { return self; });
  for (int i = 0; i < kLayoutCount; ++i) {
    nb::object object = nb::cast(LayoutObject{Layout(i), kLayoutNames[i]});
    layout_objects[i] = object.inc_ref().ptr();
    m.attr(kLayoutNames[i]) = object;
  }
  for (const char* name : {"jagged", "_mkldnn"})
    m.attr(name) = nb::cast(LayoutObject{Layout::kStrided, name, true});

  nb::class_<MemoryFormatObject> format(m, "memory_format", kMemoryFormatDoc);
  memory_format_type = reinterpret_cast<PyTypeObject*>(format.ptr());
  format
      .def("__repr__",
           [](const MemoryFormatObject& f) {
             return std::string("torch.") + kMemoryFormatNames[static_cast<int>(f.value)];
           })
      .def("__reduce__", [](const MemoryFormatObject& f) {
        return std::string(kMemoryFormatNames[static_cast<int>(f.value)]);
      });
  for (int i = 0; i < kMemoryFormatCount; ++i) {
    nb::object object = nb::cast(MemoryFormatObject{MemoryFormat(i)});
    memory_format_objects[i] = object.inc_ref().ptr();
    m.attr(kMemoryFormatNames[i]) = object;
  }
}

}  // namespace

bool is_device_like(PyObject* o) {
  return Py_TYPE(o) == device_type || PyUnicode_Check(o) || (PyLong_Check(o) && !PyBool_Check(o));
}

Device device_of(PyObject* o) {
  if (Py_TYPE(o) == device_type) return *nb::inst_ptr<Device>(o);
  if (PyUnicode_Check(o)) {
    const char* text = PyUnicode_AsUTF8(o);
    if (!text) throw PythonError{};
    return parse_device(text);
  }
  const long index = PyLong_AsLong(o);
  FB_CHECK(index >= 0 && index < 128, "device index must be between 0 and 127, got ", index);
  return Device(DeviceType::kCuda, static_cast<int8_t>(index));
}

PyObject* device_object(Device device) { return nb::cast(device).release().ptr(); }

bool is_layout(PyObject* o) { return Py_TYPE(o) == layout_type; }
Layout layout_of(PyObject* o) {
  const LayoutObject& layout = *nb::inst_ptr<LayoutObject>(o);
  FB_CHECK_AS(ErrorKind::kNotImplemented, !layout.is_name_only, "torch.", layout.name,
              ": tensors of this layout are not supported yet; use torch.strided");
  return layout.value;
}
PyObject* layout_object(Layout layout) { return layout_objects[static_cast<int>(layout)]; }

bool is_memory_format(PyObject* o) { return Py_TYPE(o) == memory_format_type; }
MemoryFormat memory_format_of(PyObject* o) { return nb::inst_ptr<MemoryFormatObject>(o)->value; }
PyObject* memory_format_object(MemoryFormat format) {
  return memory_format_objects[static_cast<int>(format)];
}

void add_dtypes(PyObject* module);
void add_size_type(PyObject* module);

void add_value_types(PyObject* module) {
  nb::module_ m = nb::borrow<nb::module_>(module);
  add_dtypes(module);
  add_devices(m);
  add_layouts(m);
  add_size_type(module);
}

}  // namespace fb::bind
