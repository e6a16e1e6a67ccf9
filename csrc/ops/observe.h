// A call that observers are told of, with its arguments and results as values where they ask.
#pragma once

#include <type_traits>

#include "core/observe.h"
#include "core/profile.h"
#include "ops/operator.h"

namespace fb::observe {

// What a recorder does; installed by tape/tape.cpp, which lies above.
struct RecordHooks {
  // Whether this thread is recorded.
  bool (*wants)() = nullptr;
  // A call begins. The result is passed to end(), which is called in any case.
  uint64_t (*begin)(const ops::Operator& op, const ops::Value* arguments, size_t count) = nullptr;
  // `results` is null if the call has failed.
  void (*end)(uint64_t call, const ops::Operator& op, const ops::Results* results) = nullptr;
  void (*count)(const ops::Operator& op) = nullptr;
};
inline RecordHooks record_hooks;

// Whether an observer needs the values.
bool wants_values();

class Call {
 public:
  template <class... A>
  explicit Call(const ops::Operator& op, const A&... given) : op_(op) {
    if (wants_values()) {
      const ops::Value values[] = {ops::Value(given)..., ops::Value()};
      begin(values, sizeof...(given));
    } else {
      begin(nullptr, 0);
    }
    enter();
  }
  // For a call that does not return to where it told observers.
  struct Outside {};
  Call(Outside, const ops::Operator& op, const ops::Value* values, size_t count) : op_(op) {
    begin(values, count);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() {
    if (is_recorded_) record_hooks.end(number_, op_, nullptr);
  }

  // Notes the results and passes them on.
  template <class T>
  T done(T&& result) {
    if (is_recorded_) [[unlikely]]
      note(result);
    return std::forward<T>(result);
  }
  // For an operator that writes to its argument.
  void done() {
    if (is_recorded_) end({});
  }
  void end(const ops::Results& results) {
    if (is_recorded_) record_hooks.end(number_, op_, &results);
    is_recorded_ = false;
  }
  bool is_recorded() const { return is_recorded_; }

 private:
  void begin(const ops::Value* values, size_t count);

  void note(const Tensor& result) { end({ops::Value(result)}); }
  void note(const std::vector<Tensor>& results) { end({ops::Value(results)}); }
  void note(const ops::OneOrTwo& result) {
    std::visit([&](const auto& held) { note(held); }, result);
  }
  template <class... T>
  void note(const std::tuple<T...>& results) {
    std::apply([&](const auto&... result) { end({ops::Value(result)...}); }, results);
  }
  template <class T>
  void note(const T&) {
    end({});
  }

  const ops::Operator& op_;
  profile::Span span_;
  uint64_t number_ = 0;
  bool is_recorded_ = false;
};

// Calls an operator again from within itself, observed. Out of line, off the path of unobserved
// calls, and shared by all operators of a signature.
template <class R, class... A>
[[gnu::noinline, gnu::cold]] R told(const ops::Operator& op, A... given) {
  const auto function = reinterpret_cast<R (*)(A...)>(op.function.body);
  Call call(op, given...);
  if constexpr (std::is_void_v<R>) {
    function(given...);
    call.done();
  } else {
    return call.done(function(given...));
  }
}
// The form that stores into `out`, which is the last parameter in rows.
template <class... A>
[[gnu::noinline, gnu::cold]] void told_out(const ops::Operator& op, const Tensor& out, A... given) {
  const auto function = reinterpret_cast<void (*)(const Tensor&, A...)>(op.function.body);
  Call call(op, given..., out);
  function(out, given...);
  call.done();
}

}  // namespace fb::observe
