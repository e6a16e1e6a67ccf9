// Arrow arrays of bytes: how Pillow exports the memory of an image.
#include <cstring>
#include <memory>

#include "bind/ending.h"
#include "bind/interop.h"

namespace fb::bind {

namespace {

// The two structures of Arrow's C data interface, members in its order.
struct Schema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t child_count;
  Schema** children;
  Schema* dictionary;
  void (*release)(Schema*);
  void* context;
};
struct Array {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t buffer_count;
  int64_t child_count;
  const void** buffers;
  Array** children;
  Array* dictionary;
  void (*release)(Array*);
  void* context;
};

constexpr char kBytes[] = "C";
constexpr char kLists[] = "+w:";  // and how many each has

template <class T>
T* opened(PyObject* capsule, const char* name) {
  auto* content = static_cast<T*>(PyCapsule_GetPointer(capsule, name));
  if (!content) throw PythonError{};
  FB_CHECK_VALUE(content->release, "the capsule '", name, "' has already been consumed");
  return content;
}

// The number of bytes of an element; 0 for any other format.
int64_t bytes_of(const Schema& schema) {
  if (std::strcmp(schema.format, kBytes) == 0) return 1;
  const bool lists = std::strncmp(schema.format, kLists, std::strlen(kLists)) == 0;
  if (!lists || schema.child_count != 1 || std::strcmp(schema.children[0]->format, kBytes) != 0)
    return 0;
  return std::strtoll(schema.format + std::strlen(kLists), nullptr, 10);
}

void release_array(void* context) {
  const std::unique_ptr<Array> array(static_cast<Array*>(context));
  if (const LockToDrop lock; lock) array->release(array.get());
}

}  // namespace

Tensor from_arrow(PyObject* schema_capsule, PyObject* array_capsule) {
  const Schema* const schema = opened<Schema>(schema_capsule, "arrow_schema");
  Array* const source = opened<Array>(array_capsule, "arrow_array");
  const int64_t each = bytes_of(*schema);
  FB_CHECK_VALUE(each > 0, "expected an Arrow array of bytes, got the format '", schema->format,
                 "'");
  const Array& values = each == 1 ? *source : *source->children[0];
  FB_CHECK_VALUE(source->null_count <= 0 && values.null_count <= 0 && values.buffer_count == 2,
                 "expected an Arrow array without nulls");
  const auto* const bytes = static_cast<const uint8_t*>(values.buffers[1]);
  const int64_t first = values.offset + (each == 1 ? 0 : source->offset * each);
  const Dims sizes = each == 1 ? Dims{source->length} : Dims{source->length, each};

  // The array moves out of the capsule; a null release function marks it as consumed.
  Storage storage =
      Storage::adopt(const_cast<uint8_t*>(bytes) + first,
                     static_cast<size_t>(source->length * each), release_array, new Array(*source));
  source->release = nullptr;
  storage->resizable = false;
  return tensor_over(std::move(storage), sizes, contiguous_strides(sizes), 0, DType::kUInt8, kHost);
}

}  // namespace fb::bind
