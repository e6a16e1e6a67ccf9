// Groups of equal slices.
#include "cpu/unique.h"

#include <algorithm>
#include <numeric>

namespace fb::cpu {
namespace {

// The 16-bit floats compare as floats, everything else as it is.
template <class T>
auto comparable(const T& value) {
  if constexpr (__is_same(T, Half) || __is_same(T, BFloat16))
    return static_cast<float>(value);
  else
    return element_at(&value);
}

template <class T>
bool equal(const T* a, const T* b, int64_t width) {
  for (int64_t i = 0; i < width; ++i)
    if (comparable(a[i]) != comparable(b[i])) return false;
  return true;
}

template <class T>
bool less(const T* a, const T* b, int64_t width) {
  for (int64_t i = 0; i < width; ++i) {
    const auto x = comparable(a[i]);
    const auto y = comparable(b[i]);
    if (x < y || (x == x && y != y)) return true;
    if (y < x || (y == y && x != x)) return false;
  }
  return false;
}

}  // namespace

void sorted_order(const Slices& slices, int64_t* order) {
  std::iota(order, order + slices.n, 0);
  visit_real(slices.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* const data = static_cast<const T*>(slices.data);
    std::stable_sort(order, order + slices.n, [&](int64_t a, int64_t b) {
      return less(data + a * slices.width, data + b * slices.width, slices.width);
    });
  });
}

int64_t group_equal(const Slices& slices, const int64_t* order, int64_t* inverse, int64_t* firsts,
                    int64_t* counts) {
  int64_t groups = 0;
  visit_real(slices.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* const data = static_cast<const T*>(slices.data);
    for (int64_t i = 0; i < slices.n; ++i) {
      const int64_t at = order ? order[i] : i;
      const int64_t before = i == 0 ? 0 : order ? order[i - 1] : i - 1;
      if (i == 0 || !equal(data + at * slices.width, data + before * slices.width, slices.width)) {
        firsts[groups] = at;
        counts[groups] = 0;
        ++groups;
      }
      ++counts[groups - 1];
      inverse[at] = groups - 1;
    }
  });
  return groups;
}

int64_t distinct(const Slices& slices, void* out) {
  int64_t count = 0;
  visit_real(slices.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* const data = static_cast<const T*>(slices.data);
    T* const to = static_cast<T*>(out);
    for (int64_t i = 0; i < slices.n; ++i)
      if (i == 0 || !equal(data + i, data + i - 1, 1)) to[count++] = element_at(data + i);
  });
  return count;
}

}  // namespace fb::cpu
