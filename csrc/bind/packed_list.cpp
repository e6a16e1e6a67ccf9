// Packing the items of a list into shared memory, and making new objects of them.
//
// Strings and bytes are concatenated in a blob. An index holds the end of each one and, in its two
// lowest bits, the width of its characters: a string keeps Python's own width, so that packing
// encodes nothing and any string survives.
#include "bind/packed_list.h"

#include <nanobind/nanobind.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "bind/tensor_object.h"
#include "core/shared_memory.h"
#include "core/tensor.h"

namespace nb = nanobind;

namespace fb::bind {
namespace {

enum Width : int64_t { kBytes = 0, kOne = 1, kTwo = 2, kFour = 3 };
constexpr int64_t kUnitBytes[] = {1, 1, 2, 4};
constexpr int kPyKinds[] = {0, PyUnicode_1BYTE_KIND, PyUnicode_2BYTE_KIND, PyUnicode_4BYTE_KIND};
constexpr size_t kItemAlignment = 4;  // of the widest characters

struct Item {
  const void* data;
  size_t bytes;
  Width width;
};

Item item_of(PyObject* object) {
  if (PyBytes_CheckExact(object))
    return {PyBytes_AS_STRING(object), static_cast<size_t>(PyBytes_GET_SIZE(object)), kBytes};
  if (!PyUnicode_CheckExact(object)) throw nb::type_error("expected str and bytes only");
  const int kind = PyUnicode_KIND(object);
  const Width width = kind == PyUnicode_1BYTE_KIND   ? kOne
                      : kind == PyUnicode_2BYTE_KIND ? kTwo
                                                     : kFour;
  return {PyUnicode_DATA(object),
          static_cast<size_t>(PyUnicode_GET_LENGTH(object) * kUnitBytes[width]), width};
}

nb::object object_of(Storage storage, int64_t count, DType dtype) {
  return nb::steal(wrap(contiguous_over(std::move(storage), {count}, dtype, kHost)));
}

// A blob that grows as items come.
class BlobWriter {
 public:
  BlobWriter() : file_(create_shared_file(kFirst)), capacity_(whole_pages(kFirst)) {
    data_ = static_cast<char*>(map_shared(file_.get(), capacity_));
  }
  ~BlobWriter() { munmap(data_, capacity_); }
  BlobWriter(const BlobWriter&) = delete;
  BlobWriter& operator=(const BlobWriter&) = delete;

  void extend(PyObject* items) {
    PyObject** begin = PySequence_Fast_ITEMS(items);
    const Py_ssize_t count = PySequence_Fast_GET_SIZE(items);
    for (Py_ssize_t i = 0; i < count; ++i) append(item_of(begin[i]));
  }

  // The blob and the index, as tensors.
  nb::tuple finish() {
    Storage blob = attach_shared(std::move(file_), used_);
    Storage index = allocate_shared(ends_.size() * sizeof(int64_t));
    std::memcpy(index->data, ends_.data(), ends_.size() * sizeof(int64_t));
    return nb::make_tuple(
        object_of(std::move(blob), static_cast<int64_t>(used_), DType::kUInt8),
        object_of(std::move(index), static_cast<int64_t>(ends_.size()), DType::kInt64));
  }

 private:
  static constexpr size_t kFirst = size_t{1} << 20;

  void append(const Item& item) {
    const size_t start = (used_ + kItemAlignment - 1) / kItemAlignment * kItemAlignment;
    if (start + item.bytes > capacity_) grow(start + item.bytes);
    std::memcpy(data_ + start, item.data, item.bytes);
    used_ = start + item.bytes;
    ends_.push_back(static_cast<int64_t>(used_) << 2 | item.width);
  }

  void grow(size_t least) {
    const size_t wanted = whole_pages(std::max(least, capacity_ + capacity_ / 2));
    grow_shared_file(file_.get(), wanted);
    void* moved = mremap(data_, capacity_, wanted, MREMAP_MAYMOVE);
    FB_CHECK(moved != MAP_FAILED, "shared memory: cannot map ", wanted, " bytes");
    data_ = static_cast<char*>(moved);
    capacity_ = wanted;
  }

  FileHandle file_;
  char* data_;
  size_t capacity_;
  size_t used_ = 0;
  std::vector<int64_t> ends_;
};

PyObject* string_at(const Tensor& blob, const Tensor& index, int64_t i) {
  const int64_t* ends = index.data_as<int64_t>();
  const int64_t previous = i == 0 ? 0 : ends[i - 1] >> 2;
  const int64_t start = (previous + kItemAlignment - 1) / kItemAlignment * kItemAlignment;
  const int64_t bytes = (ends[i] >> 2) - start;
  const int64_t width = ends[i] & 3;
  const char* data = blob.data_as<char>() + start;
  if (width == kBytes) return PyBytes_FromStringAndSize(data, bytes);
  return PyUnicode_FromKindAndData(kPyKinds[width], data, bytes / kUnitBytes[width]);
}

nb::object checked_item(PyObject* item) {
  if (!item) nb::raise_python_error();
  return nb::steal(item);
}

// Numbers of one type as a tensor; None if an item is something else or too large.
nb::object pack_integers(nb::list items) {
  const Py_ssize_t count = PyList_GET_SIZE(items.ptr());
  Storage storage = allocate_shared(static_cast<size_t>(count) * sizeof(int64_t));
  auto* out = static_cast<int64_t*>(storage->data);
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* item = PyList_GET_ITEM(items.ptr(), i);
    int overflow = 0;
    if (!PyLong_CheckExact(item)) return nb::none();
    out[i] = PyLong_AsLongLongAndOverflow(item, &overflow);
    if (overflow) return nb::none();
  }
  return object_of(std::move(storage), count, DType::kInt64);
}

nb::object pack_floats(nb::list items) {
  const Py_ssize_t count = PyList_GET_SIZE(items.ptr());
  Storage storage = allocate_shared(static_cast<size_t>(count) * sizeof(double));
  auto* out = static_cast<double*>(storage->data);
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* item = PyList_GET_ITEM(items.ptr(), i);
    if (!PyFloat_CheckExact(item)) return nb::none();
    out[i] = PyFloat_AS_DOUBLE(item);
  }
  return object_of(std::move(storage), count, DType::kFloat64);
}

nb::object number_at(const Tensor& numbers, int64_t i) {
  if (numbers.dtype() == DType::kInt64)
    return checked_item(PyLong_FromLongLong(numbers.data_as<int64_t>()[i]));
  return checked_item(PyFloat_FromDouble(numbers.data_as<double>()[i]));
}

void check_index(const Tensor& of, int64_t i) {
  FB_CHECK_INDEX(i >= 0 && i < of.numel(), "list index out of range");
}

bool same_items(nb::list a, nb::list b) {
  const Py_ssize_t count = PyList_GET_SIZE(a.ptr());
  if (count != PyList_GET_SIZE(b.ptr())) return false;
  PyObject** left = PySequence_Fast_ITEMS(a.ptr());
  return count == 0 || std::memcmp(left, PySequence_Fast_ITEMS(b.ptr()),
                                   static_cast<size_t>(count) * sizeof(PyObject*)) == 0;
}

}  // namespace

void add_packed_list(PyObject* module) {
  nb::module_ m = nb::borrow<nb::module_>(module);
  nb::class_<BlobWriter>(m, "_BlobWriter")
      .def(nb::init<>())
      .def("extend", [](BlobWriter& writer, nb::list items) { writer.extend(items.ptr()); })
      .def("finish", &BlobWriter::finish);
  m.def("_pack_integers", &pack_integers);
  m.def("_pack_floats", &pack_floats);
  m.def("_packed_string", [](nb::handle blob, nb::handle index, int64_t i) {
    check_index(tensor_of(index.ptr()), i);
    return checked_item(string_at(tensor_of(blob.ptr()), tensor_of(index.ptr()), i));
  });
  m.def("_packed_number", [](nb::handle numbers, int64_t i) {
    check_index(tensor_of(numbers.ptr()), i);
    return number_at(tensor_of(numbers.ptr()), i);
  });
  m.def("_same_items", &same_items);
}

}  // namespace fb::bind
