// What a profiler records: calls of operators, nodes, modules and named ranges, and memory.
//
// Note [Profiling]: a profiler is an observer of operators (core/observe.h). While a session runs,
// each thread appends events to a track of its own without locks; sessions read the tracks from
// outside. An event is complete when it is published, except for its end, which is 0 while the span
// is open. A thread drops its track itself, the next time it records or when it ends, so that a
// span that outlives its session does not write to freed memory.
#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/dims.h"
#include "core/scalar.h"

namespace fb::profile {

enum Wants : uint32_t {
  kSpans = 1,
  kArguments = 2,  // shapes, types and values
  kMemory = 4,
  kStacks = 8,  // the lines of the program that led to a call
  kModules = 16,
};

// What the running sessions ask for together.
extern constinit std::atomic<uint32_t> wanted;
inline bool is_on() { return wanted.load(std::memory_order_relaxed) != 0; }
inline bool wants(Wants what) { return wanted.load(std::memory_order_relaxed) & what; }

enum class Kind : uint8_t { kOperator, kNode, kEvaluation, kModule, kRange, kMemory };

struct Shape {
  std::vector<int64_t> sizes;
  DType dtype;
};
// One argument of an operator; empty for kinds that profilers do not use.
using Argument = std::variant<std::monostate, Shape, std::vector<Shape>, Scalar,
                              std::vector<int64_t>, std::string>;

// The lines of a program, the innermost first. The core does not know Python: the binding installs
// the functions.
struct StackHooks {
  void (*capture)(std::vector<std::pair<void*, int32_t>>& frames) = nullptr;
  void (*release)(std::vector<std::pair<void*, int32_t>>& frames) = nullptr;
};
inline StackHooks stack_hooks;

struct Details {
  std::vector<Argument> arguments;
  std::vector<std::pair<void*, int32_t>> stack;

  Details() = default;
  Details(const Details&) = delete;
  Details& operator=(const Details&) = delete;
  ~Details() {
    if (!stack.empty()) stack_hooks.release(stack);
  }
};

struct Event {
  const char* name = nullptr;   // lives forever, or as long as the track: see Track::keep
  int64_t start = 0;            // nanoseconds
  std::atomic<int64_t> end{0};  // 0 while the span is open
  Event* parent = nullptr;
  std::unique_ptr<Details> details;
  // kNode, kEvaluation: the number of the node. kOperator: of the node that it recorded, or 0.
  std::atomic<uint64_t> sequence{0};
  int64_t bytes = 0;  // kMemory: taken, or negative: given back
  uint64_t subject =
      0;  // kMemory: address. kModule: which. kNode: wanted gradients. kOperator: 1: failed
  uint32_t index = 0;  // in its track
  Kind kind = Kind::kOperator;
};

// What one thread recorded.
struct Track {
  static constexpr uint32_t kChunk = 256;
  struct Chunk {
    Event events[kChunk];
    std::atomic<Chunk*> next{nullptr};
  };

  explicit Track(uint64_t of);
  Track(const Track&) = delete;
  Track& operator=(const Track&) = delete;
  ~Track();

  // For the thread itself: copies of names that are not literals, the position of the next event,
  // and publishing it.
  const char* keep(std::string_view name);
  Event& next_event();
  void publish() {
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  // For others: all published events.
  template <class F>
  void each(F&& f) const {
    Chunk* chunk = first.get();
    const uint32_t end = count.load(std::memory_order_acquire);
    for (uint32_t i = 0; i < end; ++i) {
      if (i > 0 && i % kChunk == 0) chunk = chunk->next.load(std::memory_order_acquire);
      f(chunk->events[i % kChunk]);
    }
  }

  uint64_t thread;  // the system's number
  std::atomic<uint32_t> count{0};
  std::unique_ptr<Chunk> first;
  Chunk* last;
  Event* innermost = nullptr;  // the innermost open span
  std::set<std::string, std::less<>> names;
};

// A span of time of this thread, from open() to the end of its scope.
class Span {
 public:
  Span() = default;
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;
  ~Span() {
    if (event_) [[unlikely]]
      close();
  }

  // `name` is a literal; open_as copies it.
  void open(Kind kind, const char* name, uint64_t sequence = 0, uint64_t subject = 0,
            std::unique_ptr<Details> details = nullptr);
  void open_as(Kind kind, std::string_view name, uint64_t sequence = 0, uint64_t subject = 0,
               std::unique_ptr<Details> details = nullptr);
  void close();

 private:
  void open_in(Track& track, Kind kind, const char* name, uint64_t sequence, uint64_t subject,
               std::unique_ptr<Details> details);

  Event* event_ = nullptr;
  uint32_t generation_ = 0;
};

// A span that may be closed by another thread, and in any order.
class Range {
 public:
  Range() = default;
  void open(std::string_view name, std::vector<Argument> arguments);
  void close();

 private:
  std::shared_ptr<Track> track_;
  Event* event_ = nullptr;
};

// Details of the current call: null unless a session wants them, with the stack if that is wanted.
std::unique_ptr<Details> details_now();

// The operator whose span is open has recorded this node.
void note_node(uint64_t sequence);
void note_memory(const void* address, int64_t bytes);

// A session asks for some of Wants. Sessions may overlap: each reads what began after it.
uint64_t start(uint32_t wants);
bool is_running(uint64_t session);
// When a session began, and the tracks of all threads since the first running session began.
int64_t began(uint64_t session);
std::vector<std::shared_ptr<const Track>> tracks();
void stop(uint64_t session);
int64_t now();

}  // namespace fb::profile
