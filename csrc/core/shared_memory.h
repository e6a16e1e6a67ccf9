// Memory that several processes see: a file without a name, which each of them maps.
//
// Note [Shared memory without a limit]: the files come from memfd_create, which is bounded only by
// the memory of the machine. Files in /dev/shm are bounded by the size of that file system, 64 MB
// in many containers, and a process that writes beyond it dies of SIGBUS.
#pragma once

#include <cstddef>
#include <utility>

#include "core/storage.h"

namespace fb {

// An open file descriptor, closed with the object.
class FileHandle {
 public:
  explicit FileHandle(int fd = -1) : fd_(fd) {}
  FileHandle(FileHandle&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileHandle& operator=(FileHandle&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileHandle();
  int get() const { return fd_; }

 private:
  int fd_;
};

// A new file of `bytes` zeros.
FileHandle create_shared_file(size_t bytes);
// Gives the file more room.
void grow_shared_file(int fd, size_t bytes);
size_t size_of_file(int fd);
size_t whole_pages(size_t bytes);
// `bytes` of the file from `offset` on, both whole pages. Unmapped with munmap.
void* map_shared(int fd, size_t bytes, size_t offset = 0);

// New memory of `bytes` zeros.
Storage allocate_shared(size_t bytes);
// The memory behind a file of another process. A process maps a file once: a second call returns
// the same storage.
Storage attach_shared(FileHandle file, size_t bytes);
// Moves the elements of `storage` to shared memory; every tensor on it sees them there. Aliases
// that `.data` has made before keep the old memory.
void move_to_shared(StorageImpl& storage);
bool is_shared(const Storage& storage);
// The descriptor of the file behind a shared storage, which keeps owning it.
int shared_file(const Storage& storage);

}  // namespace fb
