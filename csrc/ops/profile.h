// The span of an operator's call, with its arguments where a profiler asks for them.
//
// Note [Operators in a profile]: where a profiler runs, an operator opens a span and calls itself
// within it; enters() tells the two calls apart. So the way without a profiler has one test more
// and nothing to clean up, and what profilers need is out of its way.
#pragma once

#include "core/profile.h"
#include "ops/types.h"

namespace fb::profile {

inline Shape shape_of(const Tensor& t) {
  const IntSpan sizes = t.sizes();
  return {std::vector<int64_t>(sizes.begin(), sizes.end()), t.dtype()};
}

template <class T>
Argument described(const T&) {
  return {};
}
inline Argument described(const Tensor& t) { return t ? Argument(shape_of(t)) : Argument(); }
inline Argument described(const Scalar& value) { return value; }
inline Argument described(bool value) { return Scalar(value); }
inline Argument described(int64_t value) { return Scalar(value); }
inline Argument described(double value) { return Scalar(value); }
inline Argument described(const std::string& value) { return value; }
inline Argument described(IntSpan values) {
  return std::vector<int64_t>(values.begin(), values.end());
}
inline Argument described(const ops::Operand& o) {
  return o.is_tensor() ? described(o.tensor()) : described(o.scalar());
}
inline Argument described(TensorList list) {
  std::vector<Shape> shapes;
  for (const Tensor& t : list) shapes.push_back(t ? shape_of(t) : Shape{{}, DType::kBool});
  return shapes;
}
template <class T>
Argument described(const std::optional<T>& value) {
  return value ? described(*value) : Argument();
}

class OperatorSpan : public Span {
 public:
  template <class... A>
  [[gnu::noinline, gnu::cold]] explicit OperatorSpan(const char* name, const A&... given) {
    std::unique_ptr<Details> details = details_now();
    if (wants(kArguments) && details) {
      details->arguments.reserve(sizeof...(given));
      (details->arguments.push_back(described(given)), ...);
    }
    open(Kind::kOperator, name, 0, 0, std::move(details));
    enter();
  }
};

}  // namespace fb::profile
