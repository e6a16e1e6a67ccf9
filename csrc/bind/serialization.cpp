#include "bind/serialization.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <vector>

#include "bind/interop.h"
#include "bind/tensor_object.h"
#include "core/blocking.h"
#include "core/crc32.h"
#include "core/tensor.h"
#include "cpu/threads.h"

namespace nb = nanobind;

namespace fb::bind {

namespace {

// Small enough to stay in the cache between checksum and copy, large enough for a system call.
constexpr int64_t kPiece = 256 << 10;
// What a thread reads at a time; one such piece alone is not worth waking a second one.
constexpr int64_t kShare = 1 << 20;

[[noreturn]] void throw_os_error(int code) {
  errno = code;
  PyErr_SetFromErrno(PyExc_OSError);
  throw PythonError{};
}

// The memory of a tensor of bytes, all of it.
std::pair<uint8_t*, int64_t> memory_of(nb::handle tensor) {
  const Tensor& t = tensor_of(tensor.ptr());
  FB_CHECK(t.dtype() == DType::kUInt8 && t.dim() == 1 && (t.numel() < 2 || t.strides()[0] == 1),
           "expected a contiguous tensor of bytes");
  FB_CHECK(t.device() == kHost, "expected bytes in the host's memory, got them on ", t.device());
  return {t.data_as<uint8_t>(), t.numel()};
}

// 0, or the error number.
int write_all(int file, const uint8_t* data, int64_t size) {
  while (size > 0) {
    const ssize_t count = ::write(file, data, static_cast<size_t>(size));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    data += count;
    size -= count;
  }
  return 0;
}

// 0, the error number, or -1 if the file ends.
int read_all(int file, uint8_t* data, int64_t size, int64_t offset) {
  while (size > 0) {
    const ssize_t count = ::pread(file, data, static_cast<size_t>(size), offset);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    if (count == 0) return -1;
    data += count;
    offset += count;
    size -= count;
  }
  return 0;
}

// Writes the bytes where the file stands and returns their checksum.
uint32_t write_bytes(int file, nb::handle tensor, bool wants_checksum) {
  const auto [data, size] = memory_of(tensor);
  uint32_t checksum = 0;
  int error = 0;
  {
    const BlockingRegion region(size > kPiece);
    for (int64_t at = 0; at < size && error == 0; at += kPiece) {
      const int64_t count = std::min(kPiece, size - at);
      if (wants_checksum) checksum = crc32(data + at, static_cast<size_t>(count), checksum);
      error = write_all(file, data + at, count);
    }
  }
  if (error != 0) throw_os_error(error);
#ifdef __linux__
  // The disk writes while the next tensor is copied, so that little is left for fsync.
  if (size >= kPiece) ::sync_file_range(file, 0, 0, SYNC_FILE_RANGE_WRITE);
#endif
  return checksum;
}

struct Piece {
  uint8_t* data;
  int64_t size;
  int64_t offset;  // in the file
};

std::vector<Piece> cut(const nb::list& offsets, const nb::list& tensors) {
  std::vector<Piece> pieces;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto [data, size] = memory_of(tensors[i]);
    const auto offset = nb::cast<int64_t>(offsets[i]);
    for (int64_t at = 0; at < size; at += kShare)
      pieces.push_back({data + at, std::min(kShare, size - at), offset + at});
  }
  return pieces;
}

// Fills tensors of bytes with what the file holds at `offsets`; false if it ends before. Threads
// take the next piece when they have read one, so that a thread that waits does not delay the
// others.
bool read_bytes(int file, const nb::list& offsets, const nb::list& tensors) {
  const std::vector<Piece> pieces = cut(offsets, tensors);
  const auto threads = std::min<int64_t>(cpu::num_threads(), std::ssize(pieces));
  std::atomic<size_t> next{0};
  std::atomic<int> error{0};
  {
    const BlockingRegion region(!pieces.empty());
    cpu::parallel_for(threads, 1, [&](int64_t, int64_t) {
      for (size_t i = next++; i < pieces.size() && error == 0; i = next++) {
        const int failed = read_all(file, pieces[i].data, pieces[i].size, pieces[i].offset);
        if (failed != 0) error = failed;
      }
    });
  }
  if (error > 0) throw_os_error(error);
  return error == 0;
}

}  // namespace

void add_serialization(nb::module_& m) {
  m.def("_write_bytes", &write_bytes, nb::arg("file"), nb::arg("bytes"), nb::arg("wants_checksum"));
  m.def("_read_bytes", &read_bytes, nb::arg("file"), nb::arg("offsets"), nb::arg("tensors"));
  m.def("_crc32", [](nb::handle tensor, uint32_t before) {
    const auto [data, size] = memory_of(tensor);
    const BlockingRegion region(size > kPiece);
    return crc32(data, static_cast<size_t>(size), before);
  });
  m.def("_crc32c", [](nb::bytes data) { return crc32c(data.data(), data.size()); });
}

}  // namespace fb::bind
