// From values to the arguments of an operator, and from what it returns to values.
#pragma once

#include <type_traits>
#include <utility>

#include "ops/operator.h"

namespace fb::ops::boxing {

// Readers rely on tape/invoke.cpp to have checked the value against the parameter.
template <class T>
struct Read;

template <>
struct Read<Tensor> {
  static const Tensor& from(const Value& value) {
    static const Tensor undefined;
    return value.is_none() ? undefined : value.tensor();
  }
};
template <>
struct Read<Operand> {
  static Operand from(const Value& value) {
    return value.is(Value::Kind::kTensor) ? Operand(value.tensor()) : Operand(value.number());
  }
};
template <>
struct Read<Scalar> {
  static const Scalar& from(const Value& value) { return value.number(); }
};
template <>
struct Read<int64_t> {
  static int64_t from(const Value& value) { return value.number().to<int64_t>(); }
};
template <>
struct Read<double> {
  static double from(const Value& value) { return value.number().to<double>(); }
};
template <>
struct Read<bool> {
  static bool from(const Value& value) { return value.number().to<bool>(); }
};
template <>
struct Read<TensorList> {
  static TensorList from(const Value& value) { return value.tensors(); }
};
template <>
struct Read<IntSpan> {
  static IntSpan from(const Value& value) { return value.ints(); }
};
template <>
struct Read<std::vector<double>> {
  static const std::vector<double>& from(const Value& value) { return value.floats(); }
};
template <>
struct Read<std::string> {
  static const std::string& from(const Value& value) { return value.text(); }
};
template <>
struct Read<DType> {
  static DType from(const Value& value) { return value.dtype(); }
};
template <>
struct Read<Device> {
  static Device from(const Value& value) { return value.device(); }
};
template <>
struct Read<Layout> {
  static Layout from(const Value& value) { return value.layout(); }
};
template <>
struct Read<MemoryFormat> {
  static MemoryFormat from(const Value& value) { return value.memory_format(); }
};
template <>
struct Read<Generator*> {
  static Generator* from(const Value& value) {
    return value.is_none() ? nullptr : value.generator();
  }
};
template <class T>
struct Read<std::optional<T>> {
  static std::optional<T> from(const Value& value) {
    if (value.is_none()) return std::nullopt;
    return Read<T>::from(value);
  }
};

template <class T>
void append(Results& results, T&& value) {
  results.push_back(Value(std::forward<T>(value)));
}
template <class... T>
void append(Results& results, std::tuple<T...>&& values) {
  std::apply([&](auto&... value) { (append(results, value), ...); }, values);
}
inline void append(Results& results, TensorVector&& tensors) {
  append(results, std::vector<Tensor>(std::move(tensors)));
}
inline void append(Results& results, OneOrTwo&& value) {
  std::visit([&](auto&& held) { append(results, std::move(held)); }, std::move(value));
}

template <class R, class... A>
void call(Body body, const Value* arguments, Results& results) {
  const auto function = reinterpret_cast<R (*)(A...)>(body);
  [&]<size_t... I>(std::index_sequence<I...>) {
    static_cast<void>(arguments);
    if constexpr (std::is_void_v<R>)
      function(Read<std::remove_cvref_t<A>>::from(arguments[I])...);
    else
      append(results, function(Read<std::remove_cvref_t<A>>::from(arguments[I])...));
  }(std::index_sequence_for<A...>());
  static_cast<void>(results);
}

template <class S>
struct Signature;
template <class R, class... A>
struct Signature<R(A...)> {
  static constexpr auto caller = &call<R, A...>;
};

}  // namespace fb::ops::boxing

// The overload of a function with the given signature, which comes last because it contains commas.
// A macro and not a function, so that rows are constants of the program.
#define FB_BOXED(function, ...)                                                                   \
  {reinterpret_cast<::fb::ops::Body>(static_cast<std::type_identity_t<__VA_ARGS__>*>(&function)), \
   ::fb::ops::boxing::Signature<__VA_ARGS__>::caller}
