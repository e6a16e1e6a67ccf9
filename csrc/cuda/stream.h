// Streams, events, and waiting for them.
#pragma once

#include "cuda/context.h"

namespace fb::cuda {

// One of a pool of streams that a device has for each priority, made when first asked for. A stream
// is never destroyed, so a number that a program has kept stays valid.
Stream pooled_stream(int device, int priority);
void set_current_stream(int device, Stream stream);
// What `later` is given from now on waits for what `earlier` was given so far.
void order_streams(int device, Stream earlier, Stream later);
// The same for streams of different devices: each has a default stream, and all are called null.
void order_streams(int device, Stream earlier, int later_device, Stream later);

// Each of these raises if a kernel has noted an error that the host now gets to see.
void synchronize_device(int device);
void synchronize_stream(int device, Stream stream);
bool is_done(int device, Stream stream);

Event make_event(int device, bool timing, bool blocking);
void destroy_event(Event event);
void record_event(int device, Event event, Stream stream);
void wait_for_event(int device, Stream stream, Event event);
bool has_happened(Event event);
void synchronize_event(int device, Event event);
// Milliseconds between two events with timing.
float elapsed_time(Event start, Event end);

}  // namespace fb::cuda
