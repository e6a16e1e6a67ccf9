// What a worker process does about signals, and about the end of the process that started it.
#pragma once

#include <sys/types.h>

namespace fb {

// Ctrl-C reaches every process of a terminal. A worker ignores it: the process that started it
// reports the interrupt and ends the worker. Programs that the worker starts end by themselves.
void outlive_interrupts();
// Ends this process as soon as `parent` is gone, whatever it is doing then.
void end_with_parent(pid_t parent);

}  // namespace fb
