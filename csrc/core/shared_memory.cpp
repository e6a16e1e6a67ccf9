// Shared memory: files, mappings and storages on them.
#include "core/shared_memory.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>

#include "core/allocator.h"
#include "core/error.h"

namespace fb {
namespace {

[[noreturn]] void system_failure(const char* what, size_t bytes) {
  const int code = errno;
  const auto kind =
      code == ENOMEM || code == ENOSPC ? ErrorKind::kOutOfMemory : ErrorKind::kRuntime;
  fail(kind, "shared memory: cannot ", what, " ", bytes, " bytes: ", std::strerror(code));
}

// Raises the limit on open files as far as the system allows; returns whether that may help.
bool raise_file_limit() {
  rlimit limit{};
  if (errno != EMFILE || getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
  if (limit.rlim_cur >= limit.rlim_max) return false;
  limit.rlim_cur = limit.rlim_max;
  return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

int open_memory_file() { return memfd_create("flambeau", MFD_CLOEXEC); }

// For systems without memfd_create, or a sandbox that refuses it.
int open_temporary_file() {
  const char* folders[] = {"/dev/shm", std::getenv("TMPDIR"), "/tmp"};
  for (const char* folder : folders) {
    if (!folder) continue;
    const int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0) return fd;
  }
  return -1;
}

// A mapped file, and the storage on it that other tensors of the same file are to share.
struct Segment {
  FileHandle file;
  void* data = nullptr;
  size_t bytes = 0;  // mapped
  std::pair<dev_t, ino_t> identity;
  StorageImpl* storage = nullptr;
  ~Segment() {
    if (data) munmap(data, bytes);
  }
};

// Segments by the file's identity. Leaked on purpose: storages may outlive static destruction.
struct Registry {
  std::mutex mutex;
  std::map<std::pair<dev_t, ino_t>, Segment*> segments;
};
Registry& registry() {
  static Registry* instance = [] {
    auto* made = new Registry;
    // A forked child must not inherit a lock that another thread holds.
    pthread_atfork([] { registry().mutex.lock(); }, [] { registry().mutex.unlock(); },
                   [] { registry().mutex.unlock(); });
    return made;
  }();
  return *instance;
}

void release_segment(void* context) {
  auto* segment = static_cast<Segment*>(context);
  {
    std::lock_guard lock(registry().mutex);
    const auto found = registry().segments.find(segment->identity);
    if (found != registry().segments.end() && found->second == segment)
      registry().segments.erase(found);
  }
  delete segment;
}

// A reference to the storage, unless its last one is being dropped right now.
Storage retain_if_alive(StorageImpl* storage) {
  int32_t refs = storage->refs.load(std::memory_order_relaxed);
  while (refs > 0 && !storage->refs.compare_exchange_weak(refs, refs + 1)) {
  }
  return refs > 0 ? Storage(storage) : Storage();
}

Storage storage_on(FileHandle file, size_t bytes) {
  struct stat status{};
  if (fstat(file.get(), &status) != 0) system_failure("look at a file of", bytes);
  FB_CHECK(static_cast<size_t>(status.st_size) >= bytes, "shared memory: expected a file of ",
           bytes, " bytes, got ", status.st_size);
  const std::pair identity{status.st_dev, status.st_ino};
  Storage known;  // outlives the lock: dropping the last reference takes the lock
  std::lock_guard lock(registry().mutex);
  if (const auto found = registry().segments.find(identity); found != registry().segments.end()) {
    known = retain_if_alive(found->second->storage);
    if (known && known->bytes >= bytes) return known;
  }
  auto segment = std::make_unique<Segment>();
  segment->bytes = whole_pages(std::max<size_t>(bytes, 1));
  segment->data = map_shared(file.get(), segment->bytes);
  segment->file = std::move(file);
  segment->identity = identity;
  Storage storage = Storage::adopt(segment->data, bytes, release_segment, segment.get());
  segment->storage = storage.get();
  registry().segments[identity] = segment.release();
  return storage;
}

// The storage that the bytes are really in.
const StorageImpl* owner_of(const StorageImpl& storage) {
  if (storage.enlarged) return storage.enlarged;
  const StorageImpl* original = original_of(storage);
  return original && original->data == storage.data ? owner_of(*original) : &storage;
}

// Returns the pages of an allocator's block to the system. The block itself stays with its storage,
// because its address may still be in use.
void forget_pages(const StorageImpl& storage) {
  if (storage.release || storage.enlarged || !storage.resizable) return;
  const size_t begin = whole_pages(reinterpret_cast<size_t>(storage.data));
  const size_t end = reinterpret_cast<size_t>(storage.data) + storage.bytes;
  constexpr size_t kWorthwhile = size_t{1} << 20;
  if (end < begin + kWorthwhile) return;
  const size_t bytes = (end - begin) / whole_pages(1) * whole_pages(1);
  madvise(reinterpret_cast<void*>(begin), bytes, MADV_DONTNEED);
}

}  // namespace

FileHandle::~FileHandle() {
  if (fd_ >= 0) close(fd_);
}

size_t whole_pages(size_t bytes) {
  static const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

FileHandle create_shared_file(size_t bytes) {
  int fd = open_memory_file();
  if (fd < 0 && raise_file_limit()) fd = open_memory_file();
  if (fd < 0 && errno != EMFILE) fd = open_temporary_file();
  if (fd < 0) system_failure("open a file for", bytes);
  FileHandle file(fd);
  grow_shared_file(fd, bytes);
  return file;
}

void grow_shared_file(int fd, size_t bytes) {
  if (ftruncate(fd, static_cast<off_t>(whole_pages(bytes))) != 0)
    system_failure("make room for", bytes);
}

size_t size_of_file(int fd) {
  struct stat status{};
  if (fstat(fd, &status) != 0) system_failure("look at a file of", 0);
  return static_cast<size_t>(status.st_size);
}

void* map_shared(int fd, size_t bytes, size_t offset) {
  void* data =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(offset));
  if (data == MAP_FAILED) system_failure("map", bytes);
  return data;
}

Storage allocate_shared(size_t bytes) {
  return storage_on(create_shared_file(std::max<size_t>(bytes, 1)), bytes);
}

Storage attach_shared(FileHandle file, size_t bytes) { return storage_on(std::move(file), bytes); }

void move_to_shared(StorageImpl& storage) {
  if (owner_of(storage)->release == release_segment) return;
  if (StorageImpl* original = original_of(storage); original && original->data == storage.data) {
    move_to_shared(*original);
    storage.data = original->data;
    return;
  }
  Storage shared = allocate_shared(storage.bytes);
  std::memcpy(shared->data, storage.data, storage.bytes);
  forget_pages(storage);
  if (storage.enlarged) storage.enlarged->drop();
  storage.data = shared->data;
  storage.resizable = false;
  storage.enlarged = shared.leak();
}

bool is_shared(const Storage& storage) {
  return owner_of(*storage.get())->release == release_segment;
}

int shared_file(const Storage& storage) {
  FB_CHECK(is_shared(storage), "expected memory that is shared: call share_memory_() first");
  return static_cast<Segment*>(owner_of(*storage.get())->context)->file.get();
}

}  // namespace fb
