// Attributes of a Tensor: shape, dtype, device and their kin.
#include "bind/call.h"
#include "bind/tensor_object.h"
#include "bind/value_types.h"

namespace fb::bind {
namespace {

const char* name_in(void* closure) { return static_cast<const char*>(closure); }

// An attribute computed from the tensor; its name stands in error messages.
template <auto Read>
PyObject* get(PyObject* self, void* closure) {
  return guarded(name_in(closure), [&] { return wrap(Read(tensor_of(self))); });
}

PyObject* get_device(PyObject* self, void*) {
  return guarded("device", [&] { return device_object(tensor_of(self).device()); });
}
PyObject* get_layout(PyObject*, void*) { return new_ref(layout_object()); }

PyObject* get_requires_grad(PyObject* self, void*) { return wrap(tensor_of(self)->requires_grad); }
int set_requires_grad(PyObject* self, PyObject* value, void*) {
  return guarded_int("requires_grad", [&] {
    FB_CHECK(value && PyBool_Check(value), "must be a bool");
    const Tensor& t = tensor_of(self);
    const bool wanted = value == Py_True;
    FB_CHECK(!wanted || is_floating(t.dtype()) || is_complex(t.dtype()),
             "only Tensors of floating point and complex dtype can require gradients, not ",
             t.dtype());
    t->requires_grad = wanted;
    return 0;
  });
}

PyObject* get_data(PyObject* self, void*) {
  return guarded("data", [&] {
    const Tensor& t = tensor_of(self);
    return wrap(tensor_over(Storage::alias(t.storage()), t.sizes(), t.strides(), t.offset(),
                            t.dtype(), t.device()));
  });
}
int set_data(PyObject* self, PyObject* value, void*) {
  return guarded_int("data", [&] {
    FB_CHECK_TYPE(value && is_tensor(value), "must be a Tensor");
    const Tensor& t = tensor_of(self);
    const Tensor& from = tensor_of(value);
    const Storage memory = Storage::alias(from.storage());
    t->set_geometry(from.sizes(), from.strides());
    t->storage = memory;
    t->offset = from.offset();
    t->dtype = from.dtype();
    t->device = from.device();
    return 0;
  });
}

bool always_false(const Tensor&) { return false; }
bool always_true(const Tensor&) { return true; }

}  // namespace

#define FB_PROPERTY(name, expression, doc) \
  {name, get<[](const Tensor& t) { return expression; }>, nullptr, doc, const_cast<char*>(name)}

PyGetSetDef tensor_properties[] = {
    FB_PROPERTY("shape", t.sizes(), "The size along every dimension: a torch.Size."),
    FB_PROPERTY("dtype", t.dtype(), "The type of the elements."),
    FB_PROPERTY("ndim", t.dim(), "The number of dimensions."),
    FB_PROPERTY("itemsize", static_cast<int64_t>(t.element_size()), "Bytes of one element."),
    FB_PROPERTY("nbytes", t.numel() * static_cast<int64_t>(t.element_size()),
                "Bytes of all elements."),
    FB_PROPERTY("_version", static_cast<int64_t>(t.storage()->version),
                "How often the elements were changed in place."),
    {"device", get_device, nullptr, "Where the elements are.", nullptr},
    {"layout", get_layout, nullptr, "How the elements are laid out: torch.strided.", nullptr},
    {"data", get_data, set_data, "The same elements, outside of any graph.", nullptr},
    {"requires_grad", get_requires_grad, set_requires_grad, "Whether gradients are wanted for it.",
     nullptr},
    {"is_cpu", get<always_true>, nullptr, "Whether it is in main memory.",
     const_cast<char*>("is_cpu")},
    {"is_cuda", get<always_false>, nullptr, "Whether it is on an NVIDIA GPU.",
     const_cast<char*>("is_cuda")},
    {"is_mps", get<always_false>, nullptr, "Always False.", const_cast<char*>("is_mps")},
    {"is_xpu", get<always_false>, nullptr, "Always False.", const_cast<char*>("is_xpu")},
    {"is_meta", get<always_false>, nullptr, "Whether it has no elements at all.",
     const_cast<char*>("is_meta")},
    {"is_sparse", get<always_false>, nullptr, "Whether it is sparse.",
     const_cast<char*>("is_sparse")},
    {"is_quantized", get<always_false>, nullptr, "Always False.",
     const_cast<char*>("is_quantized")},
    {"is_nested", get<always_false>, nullptr, "Always False.", const_cast<char*>("is_nested")},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace fb::bind
