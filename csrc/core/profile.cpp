// Tracks of threads, and the sessions that read them. See Note [Profiling].
#include "core/profile.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <exception>
#include <map>
#include <mutex>
#include <utility>

#include "core/observe.h"

namespace fb::profile {

constinit std::atomic<uint32_t> wanted{0};

namespace {

struct Session {
  uint32_t wants;
  int64_t began;
};

// Leaked on purpose: threads may end after static destruction.
struct Shared {
  std::mutex mutex;
  std::map<uint64_t, Session> sessions;
  uint64_t last_session = 0;
  std::vector<std::shared_ptr<Track>> tracks;
};

Shared& shared() {
  static Shared* instance = [] {
    auto* made = new Shared;
    // A forked child has one thread, and no profiler that would read what it records.
    pthread_atfork([] { shared().mutex.lock(); }, [] { shared().mutex.unlock(); },
                   [] {
                     shared().sessions.clear();
                     wanted = 0;
                     observe::set(observe::kProfile, false);
                     shared().mutex.unlock();
                   });
    return made;
  }();
  return *instance;
}

// Incremented whenever recording starts while no session is running.
constinit std::atomic<uint32_t> generation{0};

struct Thread {
  std::shared_ptr<Track> track;
  uint32_t generation = 0;  // that the track belongs to
};
// On the heap: thread-local storage must be small to be accessed fast.
constinit thread_local Thread* own = nullptr;
constinit thread_local bool has_ended = false;

struct ThreadOwner {
  ~ThreadOwner() {
    has_ended = true;
    delete std::exchange(own, nullptr);
  }
};

Thread* make_thread() {
  static thread_local ThreadOwner owner;
  static_cast<void>(owner);
  return own = new Thread;
}

// Null if the thread no longer records.
Track* track_of_thread() {
  if (has_ended) return nullptr;
  Thread& thread = own ? *own : *make_thread();
  const uint32_t current = generation.load(std::memory_order_acquire);
  if (thread.generation == current) [[likely]]
    return thread.track.get();
  auto track = std::make_shared<Track>(static_cast<uint64_t>(syscall(SYS_gettid)));
  Shared& s = shared();
  const std::lock_guard lock(s.mutex);
  if (s.sessions.empty()) return nullptr;
  s.tracks.push_back(track);
  thread.track = std::move(track);
  thread.generation = generation.load(std::memory_order_relaxed);
  return thread.track.get();
}

// The innermost span around `event` that is still open.
Event* open_around(const Event& event) {
  Event* around = event.parent;
  while (around && around->end.load(std::memory_order_relaxed) != 0) around = around->parent;
  return around;
}

Event* append(Track& track, Kind kind, const char* name, std::unique_ptr<Details> details) {
  Event& event = track.next_event();
  event.name = name;
  event.kind = kind;
  event.parent = track.innermost;
  event.details = std::move(details);
  event.start = now();
  return &event;
}

void update_wanted(const Shared& s) {
  uint32_t all = 0;
  for (const auto& [number, session] : s.sessions) all |= session.wants;
  wanted.store(all, std::memory_order_release);
  observe::set(observe::kProfile, all != 0);
}

}  // namespace

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Track::Track(uint64_t of) : thread(of), first(std::make_unique<Chunk>()), last(first.get()) {}

Track::~Track() {
  for (Chunk* chunk = first->next; chunk;) delete std::exchange(chunk, chunk->next);
}

const char* Track::keep(std::string_view name) {
  const auto found = names.find(name);
  return (found != names.end() ? found : names.emplace(name).first)->c_str();
}

Event& Track::next_event() {
  const uint32_t index = count.load(std::memory_order_relaxed);
  if (index > 0 && index % kChunk == 0) {
    auto* fresh = new Chunk;
    last->next.store(fresh, std::memory_order_release);
    last = fresh;
  }
  Event& event = last->events[index % kChunk];
  event.index = index;
  return event;
}

void Span::open_in(Track& track, Kind kind, const char* name, uint64_t sequence, uint64_t subject,
                   std::unique_ptr<Details> details) {
  event_ = append(track, kind, name, std::move(details));
  event_->sequence.store(sequence, std::memory_order_relaxed);
  event_->subject = subject;
  generation_ = own->generation;
  track.publish();
  track.innermost = event_;
}

void Span::open(Kind kind, const char* name, uint64_t sequence, uint64_t subject,
                std::unique_ptr<Details> details) {
  if (Track* track = track_of_thread())
    open_in(*track, kind, name, sequence, subject, std::move(details));
}

void Span::open_as(Kind kind, std::string_view name, uint64_t sequence, uint64_t subject,
                   std::unique_ptr<Details> details) {
  if (Track* track = track_of_thread())
    open_in(*track, kind, track->keep(name), sequence, subject, std::move(details));
}

void Span::close() {
  // Another session may have begun since; the track of this one is gone then.
  if (own && own->generation == generation_) {
    if (event_->kind == Kind::kOperator && std::uncaught_exceptions() > 0)
      std::atomic_ref(event_->subject).store(1, std::memory_order_relaxed);
    event_->end.store(now(), std::memory_order_release);
    if (own->track->innermost == event_) own->track->innermost = open_around(*event_);
  }
  event_ = nullptr;
}

void Range::open(std::string_view name, std::vector<Argument> arguments) {
  Track* track = track_of_thread();
  if (!track) return;
  std::unique_ptr<Details> details = details_now();
  if (!arguments.empty()) {
    if (!details) details = std::make_unique<Details>();
    details->arguments = std::move(arguments);
  }
  event_ = append(*track, Kind::kRange, track->keep(name), std::move(details));
  track->publish();
  track->innermost = event_;
  track_ = own->track;
}

void Range::close() {
  if (!event_) return;
  event_->end.store(now(), std::memory_order_release);
  const bool is_own = own && own->track == track_;
  if (is_own && track_->innermost == event_) track_->innermost = open_around(*event_);
  event_ = nullptr;
  track_.reset();
}

std::unique_ptr<Details> details_now() {
  const uint32_t all = wanted.load(std::memory_order_relaxed);
  if (!(all & (kArguments | kStacks))) return nullptr;
  auto details = std::make_unique<Details>();
  if (all & kStacks && stack_hooks.capture) stack_hooks.capture(details->stack);
  return details;
}

void note_node(uint64_t sequence) {
  Track* track = track_of_thread();
  if (!track || !track->innermost || track->innermost->kind != Kind::kOperator) return;
  track->innermost->sequence.store(sequence, std::memory_order_relaxed);
}

void note_memory(const void* address, int64_t bytes) {
  Track* track = track_of_thread();
  if (!track) return;
  Event* event = append(*track, Kind::kMemory, "[memory]", nullptr);
  event->end.store(event->start, std::memory_order_relaxed);
  event->bytes = bytes;
  event->subject = reinterpret_cast<uintptr_t>(address);
  track->publish();
}

uint64_t start(uint32_t wants) {
  Shared& s = shared();
  const std::lock_guard lock(s.mutex);
  if (s.sessions.empty()) generation.fetch_add(1, std::memory_order_release);
  s.sessions[++s.last_session] = {wants | kSpans, now()};
  update_wanted(s);
  return s.last_session;
}

bool is_running(uint64_t session) {
  Shared& s = shared();
  const std::lock_guard lock(s.mutex);
  return s.sessions.contains(session);
}

int64_t began(uint64_t session) {
  Shared& s = shared();
  const std::lock_guard lock(s.mutex);
  const auto found = s.sessions.find(session);
  return found == s.sessions.end() ? now() : found->second.began;
}

std::vector<std::shared_ptr<const Track>> tracks() {
  Shared& s = shared();
  const std::lock_guard lock(s.mutex);
  return {s.tracks.begin(), s.tracks.end()};
}

void stop(uint64_t session) {
  std::vector<std::shared_ptr<Track>> done;
  Shared& s = shared();
  {
    const std::lock_guard lock(s.mutex);
    s.sessions.erase(session);
    update_wanted(s);
    if (!s.sessions.empty()) return;
    done.swap(s.tracks);
  }
  // Threads keep their tracks for a while, but references of events to the program are dropped now.
  for (const auto& track : done) track->each([](Event& event) { event.details.reset(); });
  if (own) *own = Thread();
}

}  // namespace fb::profile
