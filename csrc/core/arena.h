// Batches in shared memory: how tensors get from a process that makes them to one that uses them.
//
// Note [Arenas]: the writer owns one file that only grows, cut into segments. A batch lies in one
// segment, or in several while its size is not yet known. A segment starts with a word that the
// writer sets when it sends the batch and that the reader clears when the last tensor on it is
// gone; the writer then uses the segment again. So in the steady state both sides touch pages that
// they have mapped already, and no descriptor, lock or message is needed to give memory back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "core/shared_memory.h"

namespace fb {

// A segment as both sides name it: whole pages of the file.
struct SegmentName {
  uint64_t offset;
  uint64_t bytes;
};

// Where bytes of a batch are: which of its segments, and the offset in it.
struct ArenaSlot {
  int64_t segment;
  int64_t offset;
};

struct WriterSegment;

class ArenaWriter {
 public:
  // Keeps the pages of at most `spare` unused segments.
  ArenaWriter(FileHandle file, int64_t spare);
  ~ArenaWriter();
  ArenaWriter(const ArenaWriter&) = delete;
  ArenaWriter& operator=(const ArenaWriter&) = delete;

  // Uninitialised memory of the batch being made.
  Storage allocate(size_t bytes);
  // The place of these bytes in the batch; copies them into it unless they are already there.
  ArenaSlot store(const void* data, size_t bytes);
  // Ends the batch and names its segments.
  std::vector<SegmentName> commit();
  // Ends a batch that is not sent.
  void abandon() { batch_.clear(); }

 private:
  struct Room {
    int64_t segment;
    size_t offset;
  };
  Room reserve(size_t bytes);
  std::shared_ptr<WriterSegment> take(size_t bytes);
  void give_pages_back();

  FileHandle file_;
  size_t file_bytes_;
  size_t spare_;
  size_t foreseen_ = 0;  // bytes of the last batch
  uint64_t batches_ = 0;
  std::vector<std::shared_ptr<WriterSegment>> segments_;
  std::vector<std::shared_ptr<WriterSegment>> batch_;
};

struct ReaderSegment;
class Lease;

// A received batch: its segments belong to the reader until this object and every storage made from
// it are gone.
class ArenaBatch {
 public:
  explicit ArenaBatch(std::vector<std::shared_ptr<Lease>> leases) : leases_(std::move(leases)) {}
  Storage storage(ArenaSlot slot, size_t bytes) const;

 private:
  std::vector<std::shared_ptr<Lease>> leases_;
};

class ArenaReader {
 public:
  explicit ArenaReader(FileHandle file) : file_(std::move(file)) {}
  ArenaBatch open(const std::vector<SegmentName>& names);

 private:
  FileHandle file_;
  std::map<uint64_t, std::shared_ptr<ReaderSegment>> segments_;
};

}  // namespace fb
