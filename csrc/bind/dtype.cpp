// torch.dtype: the types that tensors hold, and those that exist as names only.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "bind/named_dtypes.h"
#include "bind/value_types.h"

namespace nb = nanobind;

namespace fb::bind {
namespace {

struct DTypeObject {
  DType value;
  const NamedDType* named = nullptr;  // if set, no tensor holds this type and `value` means nothing
};

constexpr const char* kAbbreviations[kDTypeCount] = {"b8",  "u8",   "i8",  "i16", "i32", "i64",
                                                     "f16", "bf16", "f32", "f64", "c64", "c128"};

PyObject* dtype_objects[kDTypeCount];
PyObject* complex32_object = nullptr;
PyTypeObject* dtype_type = nullptr;

std::string name_of(const DTypeObject& t) { return t.named ? t.named->name : fb::name_of(t.value); }

bool is_floating(const DTypeObject& t) {
  if (!t.named) return fb::is_floating(t.value);
  return t.named->kind == NamedKind::kFloat || t.named->kind == NamedKind::kUnsignedFloat;
}

bool is_complex(const DTypeObject& t) {
  return t.named ? t.named->kind == NamedKind::kComplex : fb::is_complex(t.value);
}

bool is_signed(const DTypeObject& t) {
  if (!t.named) return fb::is_signed(t.value);
  FB_CHECK(t.named->kind != NamedKind::kOpaque, "is_signed: torch.", t.named->name,
           " is neither signed nor unsigned");
  return t.named->kind != NamedKind::kUnsigned && t.named->kind != NamedKind::kUnsignedFloat;
}

nb::object to_real(nb::handle self) {
  const DTypeObject& t = *nb::inst_ptr<DTypeObject>(self);
  if (!is_complex(t)) return nb::borrow(self);
  return nb::borrow(dtype_object(t.named ? DType::kFloat16 : real_type(t.value)));
}

nb::object to_complex(nb::handle self) {
  const DTypeObject& t = *nb::inst_ptr<DTypeObject>(self);
  if (is_complex(t)) return nb::borrow(self);
  FB_CHECK(is_floating(t) && !t.named, "to_complex: torch.", name_of(t),
           " has no complex type; only float16, bfloat16, float32 and float64 have one");
  if (t.value == DType::kFloat16) return nb::borrow(complex32_object);
  return nb::borrow(dtype_object(complex_type(t.value)));
}

constexpr const char* kDoc = R"(Type of the elements of a tensor.

Types are not made but named: torch.float32, torch.int64, torch.bool and others.
Some exist as names only, for programs that compare them; no tensor holds them.

Attributes:
    is_floating_point: Whether it is float16, bfloat16, float32 or float64.
    is_complex: Whether it is complex64 or complex128.
    is_signed: Whether it has negative numbers.
    itemsize: Bytes of an element.

Example:
    >>> torch.tensor([1, 2]).dtype
    torch.int64
    >>> torch.float64.itemsize, torch.float64.is_floating_point
    (8, True)
    >>> torch.complex64.to_real()
    torch.float32

See also:
    `Tensor.to`, `torch.promote_types`, `torch.finfo`, `torch.iinfo`.)";

void add_aliases(nb::module_& m) {
  const std::pair<const char*, const char*> aliases[] = {
      {"half", "float16"},     {"float", "float32"},      {"double", "float64"},
      {"short", "int16"},      {"int", "int32"},          {"long", "int64"},
      {"cfloat", "complex64"}, {"cdouble", "complex128"}, {"chalf", "complex32"},
      {"bit", "uint1"}};
  for (const auto& [alias, name] : aliases) m.attr(alias) = m.attr(name);
}

}  // namespace

bool is_dtype(PyObject* o) {
  return Py_TYPE(o) == dtype_type || o == reinterpret_cast<PyObject*>(&PyFloat_Type) ||
         o == reinterpret_cast<PyObject*>(&PyLong_Type) ||
         o == reinterpret_cast<PyObject*>(&PyBool_Type) ||
         o == reinterpret_cast<PyObject*>(&PyComplex_Type);
}

// Refuses the types that exist as names only: the caller is about to make a tensor.
DType dtype_of(PyObject* o) {
  if (Py_TYPE(o) == dtype_type) {
    const DTypeObject& t = *nb::inst_ptr<DTypeObject>(o);
    FB_CHECK_AS(ErrorKind::kNotImplemented, !t.named, "torch.", t.named->name,
                ": tensors of this type are not supported yet; use torch.", t.named->instead,
                " instead");
    return t.value;
  }
  if (o == reinterpret_cast<PyObject*>(&PyFloat_Type)) return DType::kFloat64;
  if (o == reinterpret_cast<PyObject*>(&PyLong_Type)) return DType::kInt64;
  if (o == reinterpret_cast<PyObject*>(&PyComplex_Type)) return DType::kComplex128;
  return DType::kBool;
}

PyObject* dtype_object(DType t) { return dtype_objects[static_cast<int>(t)]; }

void add_dtypes(PyObject* module) {
  nb::module_ m = nb::borrow<nb::module_>(module);
  nb::class_<DTypeObject> type(m, "dtype", nb::is_weak_referenceable(), kDoc);
  dtype_type = reinterpret_cast<PyTypeObject*>(type.ptr());
  type.def("__repr__", [](const DTypeObject& t) { return "torch." + name_of(t); })
      .def("__reduce__", [](const DTypeObject& t) { return name_of(t); })
      .def("__copy__", [](nb::object self) { return self; })
      .def("__deepcopy__", [](nb::object self, nb::object) { return self; })
      .def_prop_ro("is_floating_point", [](const DTypeObject& t) { return is_floating(t); })
      .def_prop_ro("is_complex", [](const DTypeObject& t) { return is_complex(t); })
      .def_prop_ro("is_signed", [](const DTypeObject& t) { return is_signed(t); })
      .def_prop_ro("itemsize",
                   [](const DTypeObject& t) { return t.named ? t.named->size : size_of(t.value); })
      .def_prop_ro("abbr",
                   [](const DTypeObject& t) {
                     return t.named ? t.named->abbreviation
                                    : kAbbreviations[static_cast<int>(t.value)];
                   })
      .def("to_real", [](nb::handle self) { return to_real(self); })
      .def("to_complex", [](nb::handle self) { return to_complex(self); });
  for (int i = 0; i < kDTypeCount; ++i) {
    nb::object object = nb::cast(DTypeObject{DType(i)});
    dtype_objects[i] = object.inc_ref().ptr();
    m.attr(fb::name_of(DType(i))) = object;
  }
  for (const NamedDType& named : kNamedDTypes)
    m.attr(named.name) = nb::cast(DTypeObject{DType::kBool, &named});
  complex32_object = nb::object(m.attr("complex32")).release().ptr();
  add_aliases(m);
}

}  // namespace fb::bind
