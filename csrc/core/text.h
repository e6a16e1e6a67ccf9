// Messages, built piece by piece. The streams of the C++ library would bring its locales, of which
// a process has one set: a module with its own copy of the library crashes in the other's.
#pragma once

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>
#include <utility>

namespace fb {

class Text {
 public:
  Text& operator<<(std::string_view part) {
    text_ += part;
    return *this;
  }
  Text& operator<<(const char* part) { return *this << std::string_view(part); }
  Text& operator<<(char part) {
    text_ += part;
    return *this;
  }
  // Six digits, as printf's %g.
  Text& operator<<(double number);
  template <std::integral T>
  Text& operator<<(T number) {
    char digits[24];
    return *this << std::string_view(digits,
                                     std::to_chars(digits, digits + sizeof digits, +number).ptr);
  }

  std::string take() && { return std::move(text_); }

 private:
  std::string text_;
};

template <class... Parts>
std::string message_of(const Parts&... parts) {
  Text text;
  (text << ... << parts);
  return std::move(text).take();
}

}  // namespace fb
