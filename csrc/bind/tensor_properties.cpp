// Attributes of a Tensor: shape, dtype, device and others.
#include "bind/call.h"
#include "bind/tape.h"
#include "bind/tensor_object.h"
#include "bind/value_types.h"
#include "gen/ops/copy.h"
#include "gen/ops/view.h"
#include "ops/layout.h"

namespace fb::bind {
namespace {

const char* name_in(void* closure) { return static_cast<const char*>(closure); }

// An attribute computed from the tensor; its name stands in error messages.
template <auto Read>
PyObject* get(PyObject* self, void* closure) {
  return guarded(name_in(closure), [&] { return wrap(Read(tensor_of(self))); });
}

// While a tape traces sizes, they are traced ones.
PyObject* get_shape(PyObject* self, void*) {
  return guarded("shape", [&] {
    const Tensor& t = tensor_of(self);
    PyObject* traced = observe::any() ? traced_shape(t) : nullptr;
    return traced ? traced : wrap(t.sizes());
  });
}
PyObject* get_ndim(PyObject* self, void*) {
  return guarded("ndim", [&] {
    const Tensor& t = tensor_of(self);
    PyObject* traced = observe::any() ? traced_rank(t) : nullptr;
    return traced ? traced : wrap(t.dim());
  });
}

PyObject* get_device(PyObject* self, void*) {
  return guarded("device", [&] { return device_object(tensor_of(self).device()); });
}
PyObject* get_layout(PyObject* self, void*) {
  return new_ref(layout_object(layout_of(tensor_of(self))));
}

PyObject* get_data(PyObject* self, void*) {
  return guarded("data", [&] {
    const Tensor& t = tensor_of(self);
    if (t->flags & (kBatched | kSparse)) return wrap(autograd::detached(t));
    if (is_recorded()) [[unlikely]]
      return wrap(recorded_detach(t));
    ops::settle(t);
    PyObject* made = wrap(tensor_over(Storage::alias(t.storage()), t.sizes(), t.strides(),
                                      t.offset(), t.dtype(), t.device()));
    // It has its own storage, but is an inference tensor only if `t` is one.
    const Tensor& alias = tensor_of(made);
    alias->flags = (alias->flags & ~kInference) | (t->flags & kInference);
    return made;
  });
}
int set_data(PyObject* self, PyObject* value, void*) {
  return guarded_int("data", [&] {
    FB_CHECK_TYPE(value && is_tensor(value), "must be a Tensor");
    const Tensor& t = tensor_of(self);
    const Tensor& from = tensor_of(value);
    if (observe::watches(observe::kRecord)) [[unlikely]]
      note_read(t, "data.__set__");
    FB_CHECK(is_sparse(t) == is_sparse(from), "a tensor of layout ",
             is_sparse(t) ? "sparse_coo" : "strided", " cannot take the data of one of layout ",
             is_sparse(from) ? "sparse_coo" : "strided");
    if (is_sparse(t)) sparse_parts(t) = SparseParts(sparse_parts(from));
    ops::settle(from);
    const Storage memory = Storage::alias(from.storage());
    t->set_geometry(from.sizes(), from.strides());
    t->storage = memory;
    t->offset = from.offset();
    t->dtype = from.dtype();
    t->device = from.device();
    autograd::note_new_data(t);
    return 0;
  });
}

// All dimensions in reverse order.
Tensor reversed_dims(const Tensor& t) {
  Dims dims;
  for (int64_t i = t.dim(); i-- > 0;) dims.push_back(i);
  return ops::permute(t, dims);
}

Tensor matrix_transpose(const Tensor& t) {
  FB_CHECK(t.dim() >= 2, "only tensors of matrices can be transposed, got shape ", t.sizes());
  return ops::transpose(t, -2, -1);
}

int set_real(PyObject* self, PyObject* value, void*) {
  return guarded_int("real", [&] {
    FB_CHECK_TYPE(value && is_tensor(value), "must be a Tensor");
    ops::copy_(ops::real(tensor_of(self)), tensor_of(value));
    return 0;
  });
}
int set_imag(PyObject* self, PyObject* value, void*) {
  return guarded_int("imag", [&] {
    FB_CHECK_TYPE(value && is_tensor(value), "must be a Tensor");
    ops::copy_(ops::imag(tensor_of(self)), tensor_of(value));
    return 0;
  });
}

int64_t version_of(const Tensor& t) {
  FB_CHECK(!(t->flags & kInference), "Inference tensors do not track version counter.");
  return static_cast<int64_t>(t.storage()->version);
}

int64_t bytes_of(const Tensor& t) {
  FB_CHECK(!is_sparse(t),
           "a sparse tensor has no number of bytes: add the nbytes of its indices and values, or "
           "multiply numel() by element_size() for those of the dense tensor");
  return t.numel() * static_cast<int64_t>(t.element_size());
}

bool always_false(const Tensor&) { return false; }

}  // namespace

#define FB_PROPERTY(name, expression, doc) \
  {name, get<[](const Tensor& t) { return expression; }>, nullptr, doc, const_cast<char*>(name)}
// For kinds of tensors that do not exist here.
#define FB_NEVER(name) {name, get<always_false>, nullptr, "Always False.", const_cast<char*>(name)}

const PyGetSetDef tensor_properties[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, "What users have attached.",
     nullptr},
    {"shape", get_shape, nullptr, "The size along every dimension: a torch.Size.", nullptr},
    FB_PROPERTY("dtype", t.dtype(), "The type of the elements."),
    {"ndim", get_ndim, nullptr, "The number of dimensions.", nullptr},
    FB_PROPERTY("itemsize", static_cast<int64_t>(t.element_size()), "Bytes of one element."),
    FB_PROPERTY("nbytes", bytes_of(t), "Bytes of all elements."),
    FB_PROPERTY("_version", version_of(t), "The number of changes in place."),
    FB_PROPERTY("_cdata", reinterpret_cast<int64_t>(t.get()),
                "A number that identifies the tensor."),
    FB_PROPERTY("T", reversed_dims(t), "With all dimensions in reverse order."),
    FB_PROPERTY("mT", matrix_transpose(t), "With the last two dimensions swapped."),
    {"real", get<ops::real>, set_real, "The real parts.", const_cast<char*>("real")},
    {"imag", get<ops::imag>, set_imag, "The imaginary parts.", const_cast<char*>("imag")},
    {"device", get_device, nullptr, "Where the elements are.", nullptr},
    {"layout", get_layout, nullptr,
     "How the elements are laid out: torch.strided or torch.sparse_coo.", nullptr},
    {"data", get_data, set_data, "The same elements, outside of any graph.", nullptr},
    FB_PROPERTY("is_cpu", t.device() == kHost, "Whether it is in main memory."),
    FB_PROPERTY("is_cuda", t.device().type == DeviceType::kCuda, "Whether it is on an NVIDIA GPU."),
    FB_NEVER("is_mps"),
    FB_NEVER("is_xpu"),
    FB_NEVER("is_ipu"),
    FB_NEVER("is_maia"),
    FB_NEVER("is_mkldnn"),
    FB_NEVER("is_mtia"),
    FB_NEVER("is_vulkan"),
    FB_NEVER("is_xla"),
    FB_NEVER("volatile"),
    {"is_meta", get<always_false>, nullptr, "Whether it has no elements at all.",
     const_cast<char*>("is_meta")},
    {"is_sparse", get<is_sparse>, nullptr, "Whether it is sparse, in coordinate form.",
     const_cast<char*>("is_sparse")},
    FB_NEVER("is_sparse_csr"),
    FB_NEVER("is_quantized"),
    FB_NEVER("is_nested"),
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace fb::bind
