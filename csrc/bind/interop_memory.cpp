// Who keeps shared memory alive. See Note [Lifetime of shared memory].
#include "bind/ending.h"
#include "bind/interop.h"
#include "bind/override.h"

namespace fb::bind {

namespace {

constexpr char kStorageCapsule[] = "flambeau.storage";

void release_python_object(void* object) {
  if (const LockToDrop lock; lock) Py_DECREF(static_cast<PyObject*>(object));
}

void drop_storage(PyObject* capsule) {
  static_cast<StorageImpl*>(PyCapsule_GetPointer(capsule, kStorageCapsule))->drop();
}

}  // namespace

Storage adopt_python(void* data, size_t bytes, PyObject* owner) {
  Storage storage = Storage::adopt(data, bytes, release_python_object, owner);
  Py_INCREF(owner);
  return storage;
}

PyObject* storage_capsule(const Storage& storage) {
  Storage held = storage;
  PyObject* capsule = PyCapsule_New(held.get(), kStorageCapsule, drop_storage);
  if (!capsule) throw PythonError{};
  held.leak();
  storage->resizable = false;
  return capsule;
}

bool is_on_meta(PyObject* tensor) {
  if (!overrides(tensor)) return false;
  const Ref is_meta = checked(PyObject_GetAttrString(tensor, "is_meta"));
  return is_meta.get() == Py_True;
}

int64_t span_of(IntSpan sizes, IntSpan strides) {
  int64_t last = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return 0;
    last += (sizes[i] - 1) * strides[i];
  }
  return last + 1;
}

}  // namespace fb::bind
