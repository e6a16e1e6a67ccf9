// Numbers in messages.
#include "core/text.h"

namespace fb {

Text& Text::operator<<(double number) {
  char digits[32];
  const auto end =
      std::to_chars(digits, digits + sizeof digits, number, std::chars_format::general, 6);
  return *this << std::string_view(digits, end.ptr);
}

}  // namespace fb
