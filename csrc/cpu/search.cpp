// Binary search in sorted rows.
#include "cpu/search.h"

#include "cpu/threads.h"

namespace fb::cpu {
namespace {

template <class T>
auto comparable(const T& value) {
  if constexpr (__is_same(T, Half) || __is_same(T, BFloat16))
    return static_cast<float>(value);
  else
    return element_at(&value);
}

// Halves the range without branching on the comparison. NaN counts as the largest value, as it does
// in sort.
template <class T, class At>
int64_t position(At at, int64_t length, const T& wanted, bool right) {
  const auto value = comparable(wanted);
  const bool value_is_nan = value != value;
  int64_t begin = 0;
  while (length > 0) {
    const int64_t half = length / 2;
    const auto element = comparable(at(begin + half));
    const bool before = right ? value_is_nan | (element <= value)
                              : (element < value) | (value_is_nan & (element == element));
    begin = before ? begin + half + 1 : begin;
    length = before ? length - half - 1 : half;
  }
  return begin;
}

}  // namespace

void search_sorted(const SearchArgs& args, int64_t* out) {
  visit_real(args.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* const values = static_cast<const T*>(args.values);
    parallel_for(args.rows * args.per_row, kGrain / 8, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t row = args.shared ? 0 : i / args.per_row;
        const T* const sequence = static_cast<const T*>(args.sequences) + row * args.length;
        const int64_t* const sorter = args.sorter ? args.sorter + row * args.length : nullptr;
        out[i] = sorter ? position<T>([&](int64_t k) { return element_at(sequence + sorter[k]); },
                                      args.length, values[i], args.right)
                        : position<T>([&](int64_t k) { return element_at(sequence + k); },
                                      args.length, values[i], args.right);
      }
    });
  });
}

}  // namespace fb::cpu
