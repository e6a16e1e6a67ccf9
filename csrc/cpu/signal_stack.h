// An alternate stack for the signal handlers of a thread.
//
// Note [Signals in kernels]: oneDNN's products of float32 matrices (before its version 3.11.2),
// which some of its convolutions are made of, let the stack pointer point into a buffer on the heap
// while they run. The system puts the frame of a signal handler below the stack pointer, so that
// Ctrl-C during a product overwrites whatever lies before the buffer. Python's handlers run on the
// thread's alternate stack where it has one, so every thread that calls oneDNN gets one. It does
// not help handlers that C code has installed without SA_ONSTACK.
#pragma once

namespace fb::cpu {

// Gives this thread an alternate stack until it ends, unless it has one.
void ensure_signal_stack() noexcept;

}  // namespace fb::cpu
