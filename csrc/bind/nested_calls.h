// Calls that may nest without limit, such as a backward called by a backward.
//
// Note [Stacks for nested calls]: each nested call takes some of the thread's stack and some of the
// depth that Python allows. Programs nest thousands of them (a checkpoint in a checkpoint, a
// Function whose backward calls backward), so every so often one continues on a stack of its own
// with all of Python's depth. It stays the same thread, so that the modes, hooks and maps of the
// thread stay on.
#pragma once

#include <exception>
#include <utility>

namespace fb::bind {

// Calls `f(context)`, which must not let exceptions out.
void run_nested(void (*f)(void* context), void* context);

// The result of `f()`, wherever it runs; its exceptions come out here.
template <class F>
auto nested_call(F&& f) {
  struct Call {
    F& f;
    decltype(f()) result{};
    std::exception_ptr error;
  } call{f, {}, {}};
  run_nested(
      [](void* context) {
        auto* here = static_cast<Call*>(context);
        try {
          here->result = here->f();
        } catch (...) {
          here->error = std::current_exception();
        }
      },
      &call);
  if (call.error) std::rethrow_exception(call.error);
  return std::move(call.result);
}

}  // namespace fb::bind
