// Arenas: see Note [Arenas] in arena.h.
#include "core/arena.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "core/error.h"

namespace fb {
namespace {

constexpr size_t kAlignment = 64;

// What a segment starts with.
struct alignas(kAlignment) Header {
  std::atomic<uint32_t> is_sent;
};
static_assert(std::atomic<uint32_t>::is_always_lock_free);

size_t aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// A storage on memory that keeps `owner` alive.
template <class T>
Storage storage_held_by(void* data, size_t bytes, const std::shared_ptr<T>& owner) {
  auto held = std::make_unique<std::shared_ptr<T>>(owner);
  Storage storage = Storage::adopt(
      data, bytes, [](void* context) { delete static_cast<std::shared_ptr<T>*>(context); },
      held.get());
  held.release();
  return storage;
}

}  // namespace

// Only the writer's own reference is left when no tensor of this process uses the segment.
struct WriterSegment {
  SegmentName name;
  char* data;
  size_t used = sizeof(Header);
  uint64_t last_batch = 0;
  bool has_pages = true;

  WriterSegment(int fd, SegmentName n)
      : name(n), data(static_cast<char*>(map_shared(fd, n.bytes, n.offset))) {
    new (data) Header{0};
  }
  ~WriterSegment() { munmap(data, name.bytes); }
  WriterSegment(const WriterSegment&) = delete;
  WriterSegment& operator=(const WriterSegment&) = delete;

  Header& header() const { return *reinterpret_cast<Header*>(data); }
  size_t room() const { return name.bytes - used; }
  bool holds(const void* address) const { return address >= data && address < data + name.bytes; }
};

namespace {

bool is_free(const std::shared_ptr<WriterSegment>& segment) {
  return segment.use_count() == 1 && segment->header().is_sent.load(std::memory_order_acquire) == 0;
}

}  // namespace

ArenaWriter::ArenaWriter(FileHandle file, int64_t spare)
    : file_(std::move(file)),
      file_bytes_(size_of_file(file_.get())),
      spare_(static_cast<size_t>(spare)) {}

ArenaWriter::~ArenaWriter() = default;

Storage ArenaWriter::allocate(size_t bytes) {
  const Room room = reserve(bytes);
  const auto& segment = batch_[static_cast<size_t>(room.segment)];
  return storage_held_by(segment->data + room.offset, bytes, segment);
}

ArenaSlot ArenaWriter::store(const void* data, size_t bytes) {
  for (size_t i = 0; i < batch_.size(); ++i) {
    if (batch_[i]->holds(data))
      return {static_cast<int64_t>(i), static_cast<const char*>(data) - batch_[i]->data};
  }
  const Room room = reserve(bytes);
  if (bytes)
    std::memcpy(batch_[static_cast<size_t>(room.segment)]->data + room.offset, data, bytes);
  return {room.segment, static_cast<int64_t>(room.offset)};
}

std::vector<SegmentName> ArenaWriter::commit() {
  std::vector<SegmentName> names;
  foreseen_ = 0;
  for (const auto& segment : batch_) {
    segment->header().is_sent.store(1, std::memory_order_release);
    foreseen_ += segment->used;
    names.push_back(segment->name);
  }
  batch_.clear();
  ++batches_;
  give_pages_back();
  return names;
}

ArenaWriter::Room ArenaWriter::reserve(size_t bytes) {
  const size_t wanted = aligned(std::max<size_t>(bytes, 1));
  if (batch_.empty() || batch_.back()->room() < wanted) batch_.push_back(take(wanted));
  WriterSegment& segment = *batch_.back();
  const size_t offset = segment.used;
  segment.used += wanted;
  return {static_cast<int64_t>(batch_.size()) - 1, offset};
}

std::shared_ptr<WriterSegment> ArenaWriter::take(size_t bytes) {
  const size_t least = std::max(bytes + sizeof(Header), batch_.empty() ? foreseen_ : 0);
  std::shared_ptr<WriterSegment> best;
  for (const auto& segment : segments_) {
    const bool fits = segment->name.bytes >= least && is_free(segment);
    if (fits && (!best || segment->name.bytes < best->name.bytes)) best = segment;
  }
  if (!best) {
    // Room for the rest of a batch: pages that are never written cost nothing.
    constexpr size_t kSlack = size_t{1} << 20;
    const SegmentName name{file_bytes_, whole_pages(least + least / 2 + kSlack)};
    grow_shared_file(file_.get(), name.offset + name.bytes);
    file_bytes_ += name.bytes;
    best = segments_.emplace_back(std::make_shared<WriterSegment>(file_.get(), name));
  }
  best->used = sizeof(Header);
  best->last_batch = batches_;
  best->has_pages = true;
  return best;
}

// A reader that kept many batches for a while has made the file large: returns unused segments to
// the system, oldest batch first.
void ArenaWriter::give_pages_back() {
  std::vector<WriterSegment*> idle;
  for (const auto& segment : segments_)
    if (segment->has_pages && is_free(segment)) idle.push_back(segment.get());
  if (idle.size() <= spare_) return;
  std::ranges::sort(idle, {}, &WriterSegment::last_batch);
  idle.resize(idle.size() - spare_);
  for (WriterSegment* segment : idle) {
    fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
              static_cast<off_t>(segment->name.offset), static_cast<off_t>(segment->name.bytes));
    segment->has_pages = false;
  }
}

struct ReaderSegment {
  SegmentName name;
  char* data;

  ReaderSegment(int fd, SegmentName n)
      : name(n), data(static_cast<char*>(map_shared(fd, n.bytes, n.offset))) {}
  ~ReaderSegment() { munmap(data, name.bytes); }
  ReaderSegment(const ReaderSegment&) = delete;
  ReaderSegment& operator=(const ReaderSegment&) = delete;
};

// Returns the segment to the writer. A forked child has copies of the reader's tensors, of which
// the reader knows nothing: they do not return it.
class Lease {
 public:
  explicit Lease(std::shared_ptr<ReaderSegment> segment) : segment_(std::move(segment)) {}
  ~Lease() {
    if (getpid() == reader_)
      reinterpret_cast<Header*>(segment_->data)->is_sent.store(0, std::memory_order_release);
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  const ReaderSegment& segment() const { return *segment_; }

 private:
  std::shared_ptr<ReaderSegment> segment_;
  pid_t reader_ = getpid();
};

ArenaBatch ArenaReader::open(const std::vector<SegmentName>& names) {
  std::vector<std::shared_ptr<Lease>> leases;
  for (const SegmentName& name : names) {
    std::shared_ptr<ReaderSegment>& segment = segments_[name.offset];
    if (!segment) segment = std::make_shared<ReaderSegment>(file_.get(), name);
    leases.push_back(std::make_shared<Lease>(segment));
  }
  return ArenaBatch(std::move(leases));
}

Storage ArenaBatch::storage(ArenaSlot slot, size_t bytes) const {
  const std::shared_ptr<Lease>& lease = leases_.at(static_cast<size_t>(slot.segment));
  const ReaderSegment& segment = lease->segment();
  FB_ASSERT(slot.offset >= 0 && slot.offset + bytes <= segment.name.bytes);
  return storage_held_by(segment.data + slot.offset, bytes, lease);
}

}  // namespace fb
