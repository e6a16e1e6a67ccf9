// Shared memory, arenas and worker processes: what flambeau.multiprocessing and the workers of a
// DataLoader call.
#include "bind/shared_memory.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include "bind/arguments.h"
#include "bind/call.h"
#include "bind/interop.h"
#include "bind/tensor_object.h"
#include "bind/value_types.h"
#include "core/arena.h"
#include "core/checked.h"
#include "core/shared_memory.h"
#include "core/worker_process.h"
#include "ops/layout.h"
#include "ops/output.h"

namespace nb = nanobind;

namespace fb::bind {
namespace {

nb::object object_of(Tensor tensor) { return nb::steal(wrap(std::move(tensor))); }

Tensor bytes_on(Storage storage) {
  const auto bytes = static_cast<int64_t>(storage->bytes);
  return contiguous_over(std::move(storage), {bytes}, DType::kUInt8, kHost);
}

// The object's own descriptor: the caller keeps the one it has given.
FileHandle duplicate(int fd) {
  const int copy = dup(fd);
  FB_CHECK(copy >= 0, "shared memory: cannot duplicate descriptor ", fd);
  return FileHandle(copy);
}

// A buffer of any Python object that has one, held while it is looked at.
class BufferView {
 public:
  explicit BufferView(nb::handle object) {
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) < 0) nb::raise_python_error();
  }
  ~BufferView() { PyBuffer_Release(&view_); }
  BufferView(const BufferView&) = delete;
  BufferView& operator=(const BufferView&) = delete;
  const void* data() const { return view_.buf; }
  size_t bytes() const { return static_cast<size_t>(view_.len); }

 private:
  Py_buffer view_{};
};

nb::object sizes_tuple(IntSpan values) {
  nb::object made = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(values.size())));
  for (size_t i = 0; i < values.size(); ++i)
    PyTuple_SET_ITEM(made.ptr(), static_cast<Py_ssize_t>(i), PyLong_FromLongLong(values[i]));
  return made;
}

using SegmentPair = std::pair<uint64_t, uint64_t>;

void add_storages(nb::module_& m) {
  m.def("_share_memory", [](nb::handle tensor) {
    const Tensor& t = tensor_of(tensor.ptr());
    check_dense("share_memory_", t);
    ops::settle(t);
    move_to_shared(*t.storage().get());
  });
  m.def("_shared_file",
        [](nb::handle tensor) { return shared_file(tensor_of(tensor.ptr()).storage()); });
  m.def("_new_shared", [](int64_t bytes) {
    FB_CHECK(bytes >= 0, "expected a non-negative number of bytes, got ", bytes);
    return object_of(bytes_on(allocate_shared(static_cast<size_t>(bytes))));
  });
  m.def("_attach_shared", [](int fd, int64_t bytes) {
    return object_of(bytes_on(attach_shared(duplicate(fd), static_cast<size_t>(bytes))));
  });
  m.def("_new_shared_file", [] {
    FileHandle file = create_shared_file(0);
    return dup(file.get());
  });
}

// The elements of a tensor and their strides. Gaps and overlaps are not transferred.
nb::tuple pack(ArenaWriter& writer, const Tensor& tensor) {
  ops::settle(tensor);
  const Tensor dense =
      is_dense(tensor.sizes(), tensor.strides()) ? tensor : ops::contiguous(tensor);
  const ArenaSlot slot =
      writer.store(dense.data(), static_cast<size_t>(dense.numel()) * dense.element_size());
  return nb::make_tuple(slot.segment, slot.offset, nb::borrow(dtype_object(dense.dtype())),
                        sizes_tuple(dense.sizes()), sizes_tuple(dense.strides()));
}

void add_writer(nb::module_& m) {
  nb::class_<ArenaWriter>(m, "_ArenaWriter")
      .def("__init__", [](ArenaWriter* made, int fd,
                          int64_t spare) { new (made) ArenaWriter(duplicate(fd), spare); })
      .def("empty",
           [](ArenaWriter& writer, nb::handle size, nb::handle dtype) {
             const Dims sizes = read::int_list(size.ptr());
             const DType type = dtype_of(dtype.ptr());
             const size_t bytes = bytes_to_hold(sizes, 0, size_of(type));
             return object_of(contiguous_over(writer.allocate(bytes), sizes, type, kHost));
           })
      .def("pack", [](ArenaWriter& writer,
                      nb::handle tensor) { return pack(writer, tensor_of(tensor.ptr())); })
      .def("store",
           [](ArenaWriter& writer, nb::handle buffer) {
             const BufferView view(buffer);
             const ArenaSlot slot = writer.store(view.data(), view.bytes());
             return nb::make_tuple(slot.segment, slot.offset, view.bytes());
           })
      .def("abandon", &ArenaWriter::abandon)
      .def("commit", [](ArenaWriter& writer) {
        std::vector<SegmentPair> names;
        for (const SegmentName& name : writer.commit()) names.emplace_back(name.offset, name.bytes);
        return names;
      });
}

void add_reader(nb::module_& m) {
  nb::class_<ArenaReader>(m, "_ArenaReader")
      .def("__init__", [](ArenaReader* made, int fd) { new (made) ArenaReader(duplicate(fd)); })
      .def("open", [](ArenaReader& reader, const std::vector<SegmentPair>& pairs) {
        std::vector<SegmentName> names;
        for (const auto& [offset, bytes] : pairs) names.push_back({offset, bytes});
        return reader.open(names);
      });
  nb::class_<ArenaBatch>(m, "_ArenaBatch")
      .def("bytes",
           [](const ArenaBatch& batch, int64_t segment, int64_t offset, size_t bytes) {
             return object_of(bytes_on(batch.storage({segment, offset}, bytes)));
           })
      .def("tensor", [](const ArenaBatch& batch, int64_t segment, int64_t offset, nb::handle dtype,
                        nb::handle size, nb::handle stride) {
        const Dims sizes = read::int_list(size.ptr());
        const DType type = dtype_of(dtype.ptr());
        const size_t bytes = bytes_to_hold(sizes, 0, size_of(type));
        return object_of(tensor_over(batch.storage({segment, offset}, bytes), sizes,
                                     read::int_list(stride.ptr()), 0, type, kHost));
      });
}

}  // namespace

void add_shared_memory(PyObject* module) {
  nb::module_ m = nb::borrow<nb::module_>(module);
  add_storages(m);
  add_writer(m);
  add_reader(m);
  m.def("_outlive_interrupts", &outlive_interrupts);
  m.def("_end_with_parent", &end_with_parent);
}

}  // namespace fb::bind
