// Streams, events, and waiting for them.
#include "cuda/stream.h"

#include <algorithm>
#include <iterator>
#include <mutex>

#include "core/error.h"
#include "core/streams.h"
#include "cuda/device_error.h"

namespace fb::cuda {
namespace {

constexpr int kPooled = 32;
constexpr unsigned kNonBlocking = 1;  // such a stream does not wait for the default stream
constexpr unsigned kBlockingWait = 1, kWithoutTiming = 2;

struct StreamPool {
  std::mutex mutex;
  Stream streams[2][kPooled] = {};  // of usual and of high priority
  unsigned next[2] = {};
};
StreamPool pools[kMaxDevices];

// The driver answers only threads that have a context, whichever it is.
void use_any() {
  if (thread_state.bound < 0) use(thread_state.device);
}

bool is_ready(Status status, const char* call) {
  if (status == kNotReady) return false;
  check(status, call);
  return true;
}

}  // namespace

Stream pooled_stream(int device, int priority) {
  use(device);
  StreamPool& pool = pools[device];
  const std::lock_guard lock(pool.mutex);
  const int level = priority < 0 ? 1 : 0;
  Stream& stream = pool.streams[level][pool.next[level]++ % kPooled];
  if (!stream) FB_CUDA(stream_create, &stream, kNonBlocking, level ? -1 : 0);
  return stream;
}

void set_current_stream(int device, Stream stream) {
  start(Device(DeviceType::kCuda, static_cast<int8_t>(device)));
  thread_state.streams[device] = stream;
  has_chosen_stream = std::any_of(std::begin(thread_state.streams), std::end(thread_state.streams),
                                  [](Stream each) { return each != nullptr; });
}

void order_streams(int device, Stream earlier, Stream later) {
  order_streams(device, earlier, device, later);
}

void order_streams(int device, Stream earlier, int later_device, Stream later) {
  const Event done = make_event(device, false, false);
  record_event(device, done, earlier);
  use(later_device);
  const Status status = driver().stream_wait(later, done, 0);
  destroy_event(done);
  check(status, names::stream_wait);
}

void synchronize_device(int device) {
  use(device);
  FB_CUDA(synchronize_context);
  raise_device_error(device);
}

void synchronize_stream(int device, Stream stream) {
  use(device);
  FB_CUDA(stream_synchronize, stream);
  raise_device_error(device);
}

bool is_done(int device, Stream stream) {
  use(device);
  return is_ready(driver().stream_query(stream), names::stream_query);
}

Event make_event(int device, bool timing, bool blocking) {
  use(device);
  Event event = nullptr;
  FB_CUDA(event_create, &event, (timing ? 0 : kWithoutTiming) | (blocking ? kBlockingWait : 0));
  return event;
}

void destroy_event(Event event) {
  if (!is_forked()) driver().event_destroy(event);
}

void record_event(int device, Event event, Stream stream) {
  use(device);
  FB_CUDA(event_record, event, stream);
}

void wait_for_event(int device, Stream stream, Event event) {
  use(device);
  FB_CUDA(stream_wait, stream, event, 0);
}

bool has_happened(Event event) {
  use_any();
  return is_ready(driver().event_query(event), names::event_query);
}

void synchronize_event(int device, Event event) {
  use(device);
  FB_CUDA(event_synchronize, event);
  raise_device_error(device);
}

float elapsed_time(Event start, Event end) {
  use_any();
  float milliseconds = 0;
  FB_CUDA(event_elapsed, &milliseconds, start, end);
  return milliseconds;
}

}  // namespace fb::cuda
