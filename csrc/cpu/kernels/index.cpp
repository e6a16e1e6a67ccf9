// Loops over elements picked by position or mask. Elements are moved as plain bytes of their size.
#include "cpu/index.h"

#include <cstring>

#include "cpu/kernels/loops.h"

namespace fb::cpu::FB_ISA {
namespace {

struct Wide {
  uint64_t low, high;
};

// Calls f(TypeTag<U>{}) with an unsigned type of `size` bytes.
template <class F>
void visit_size(size_t size, F&& f) {
  switch (size) {
    case 1: return f(TypeTag<uint8_t>{});
    case 2: return f(TypeTag<uint16_t>{});
    case 4: return f(TypeTag<uint32_t>{});
    case 8: return f(TypeTag<uint64_t>{});
    default: return f(TypeTag<Wide>{});
  }
}

template <class T>
T at(const char* base, int64_t offset) {
  return element_at(reinterpret_cast<const T*>(base + offset));
}
template <class T>
T& at(char* base, int64_t offset) {
  return *reinterpret_cast<T*>(base + offset);
}

struct Store {
  template <class T>
  static void apply(T& target, T value) {
    target = value;
  }
};
struct Add {
  template <class T>
  static void apply(T& target, T value) {
    if constexpr (kIsBool<T>)
      target = is_true(&target) || value;
    else if constexpr (is_reduced_float(kDTypeOf<T>))
      target = T(float(target) + float(value));
    else
      target = static_cast<T>(target + value);
  }
};
struct Multiply {
  template <class T>
  static void apply(T& target, T value) {
    if constexpr (kIsBool<T>)
      target = is_true(&target) && value;
    else if constexpr (is_reduced_float(kDTypeOf<T>))
      target = T(float(target) * float(value));
    else
      target = static_cast<T>(target * value);
  }
};
// NaN wins over every number.
template <bool Greatest>
struct Extreme {
  template <class T>
  static void apply(T& target, T value) {
    if constexpr (is_reduced_float(kDTypeOf<T>)) {
      const float a(target), b(value);
      if ((Greatest ? b > a : b < a) || b != b) target = value;
    } else if constexpr (!kIsComplex<T>) {
      const T old = element_at(&target);
      if ((Greatest ? value > old : value < old) || value != value) target = value;
    }
  }
};

template <class T>
void add_run(int64_t n, const void* in, int64_t in_step, void* out, int64_t out_step) {
  if (in_step == sizeof(T) && out_step == sizeof(T)) {
    const auto* __restrict source = static_cast<const T*>(in);
    auto* __restrict target = static_cast<T*>(out);
    for (int64_t i = 0; i < n; ++i) Add::apply<T>(target[i], element_at(source + i));
    return;
  }
  for (int64_t i = 0; i < n; ++i)
    Add::apply<T>(at<T>(static_cast<char*>(out), i * out_step),
                  at<T>(static_cast<const char*>(in), i * in_step));
}

template <class T, class Mode>
void scatter_run(int64_t n, const int64_t* index, char* base, int64_t inner_step, int64_t dim_step,
                 const char* source, int64_t source_step) {
  if (inner_step == 0 && dim_step == sizeof(T) && source_step == sizeof(T)) {
    auto* target = reinterpret_cast<T*>(base);
    const auto* values = reinterpret_cast<const T*>(source);
    for (int64_t j = 0; j < n; ++j)
      Mode::template apply<T>(target[index[j]], element_at(values + j));
    return;
  }
  for (int64_t j = 0; j < n; ++j)
    Mode::template apply<T>(at<T>(base, j * inner_step + index[j] * dim_step),
                            at<T>(source, j * source_step));
}

template <class Mode>
ScatterFn typed_scatter(DType t) {
  return visit_all(
      t, [](auto tag) -> ScatterFn { return scatter_run<typename decltype(tag)::type, Mode>; });
}

}  // namespace

bool pick_offsets(int64_t n, int dims, const int64_t* const* positions, const int64_t* sizes,
                  const int64_t* strides, bool from_the_end, int64_t* __restrict offsets) {
  uint64_t outside = 0;
  for (int d = 0; d < dims; ++d) {
    const int64_t* __restrict position = positions[d];
    // Unsigned: a position may be anything, and offsets of positions out of bounds are not used.
    const auto size = static_cast<uint64_t>(sizes[d]);
    const auto stride = static_cast<uint64_t>(strides[d]);
    const uint64_t end = from_the_end ? size : 0;
    for (int64_t k = 0; k < n; ++k) {
      const uint64_t p = static_cast<uint64_t>(position[k]) + (position[k] < 0 ? end : 0);
      outside |= p | (size - 1 - p);  // negative: sign bit set
      offsets[k] =
          static_cast<int64_t>((d == 0 ? 0 : static_cast<uint64_t>(offsets[k])) + p * stride);
    }
  }
  return (outside >> 63) == 0;
}

void pick_elements(size_t size, int64_t n, const char* in, const int64_t* offsets, char* out) {
  visit_size(size, [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto* __restrict target = reinterpret_cast<T*>(out);
    for (int64_t k = 0; k < n; ++k) target[k] = at<T>(in, offsets[k]);
  });
}

void put_elements(size_t size, int64_t n, const char* in, int64_t in_step, const int64_t* offsets,
                  char* out) {
  visit_size(size, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t k = 0; k < n; ++k) at<T>(out, offsets[k]) = at<T>(in, k * in_step);
  });
}

void add_elements(DType t, int64_t n, const char* in, int64_t in_step, const int64_t* offsets,
                  char* out) {
  visit_all(t, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t k = 0; k < n; ++k) Add::apply<T>(at<T>(out, offsets[k]), at<T>(in, k * in_step));
  });
}

ConvertFn add_kernel(DType t) {
  return visit_all(t, [](auto tag) -> ConvertFn { return add_run<typename decltype(tag)::type>; });
}

bool are_within(int64_t n, const int64_t* index, int64_t length) {
  uint64_t outside = 0;  // unsigned: positions may be anything
  const auto last = static_cast<uint64_t>(length - 1);
  for (int64_t i = 0; i < n; ++i) {
    const auto p = static_cast<uint64_t>(index[i]);
    outside |= p | (last - p);  // negative: sign bit set
  }
  return (outside >> 63) == 0;
}

bool gather_run(size_t size, int64_t n, const int64_t* index, int64_t length, const char* base,
                int64_t inner_step, int64_t dim_step, char* out) {
  if (!are_within(n, index, length)) return false;
  visit_size(size, [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto* __restrict target = reinterpret_cast<T*>(out);
    const auto* source = reinterpret_cast<const T*>(base);
    if (inner_step == 0 && dim_step == sizeof(T)) {  // along a contiguous dimension
      // Some at a time: loads one by one are faster than the machines' instructions that gather.
      constexpr int kAtOnce = 8, kAhead = 256;  // the positions of the next runs are far away
      int64_t j = 0;
      for (; j + kAtOnce <= n; j += kAtOnce) {
        __builtin_prefetch(index + j + kAhead);
#pragma GCC unroll 8
        for (int k = 0; k < kAtOnce; ++k) target[j + k] = source[index[j + k]];
      }
      for (; j < n; ++j) target[j] = source[index[j]];
      return;
    }
    for (int64_t j = 0; j < n; ++j) target[j] = at<T>(base, j * inner_step + index[j] * dim_step);
  });
  return true;
}

ScatterFn scatter_kernel(DType t, ScatterMode mode) {
  switch (mode) {
    case ScatterMode::kStore: return typed_scatter<Store>(t);
    case ScatterMode::kAdd: return typed_scatter<Add>(t);
    case ScatterMode::kMultiply: return typed_scatter<Multiply>(t);
    case ScatterMode::kMin: return typed_scatter<Extreme<false>>(t);
    default: return typed_scatter<Extreme<true>>(t);
  }
}

int64_t count_true(int64_t n, const bool* mask) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(mask);
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) count += bytes[i] != 0;
  return count;
}

// Both write every element to the next free position and move on only if its mask is set: no branch
// to mispredict. The last write may be one too many, so a block is collected on the stack first.
// `room` elements were counted before. The mask may have changed since, so no more than these are
// written, and zeros fill up if there are fewer.
namespace {

constexpr int64_t kBlock = 1024;

template <class T, class Value>
void collect(int64_t n, const bool* mask, T* out, int64_t room, Value value) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(mask);
  T block[kBlock + 1];
  uint8_t steps[kBlock];  // 0 or 1, computed for many at once
  for (int64_t from = 0; from < n; from += kBlock) {
    const int64_t length = from + kBlock < n ? kBlock : n - from;
    for (int64_t i = 0; i < length; ++i) steps[i] = bytes[from + i] != 0;
    int64_t count = 0;
    for (int64_t i = 0; i < length; ++i) {
      block[count] = value(from + i);
      count += steps[i];
    }
    count = count < room ? count : room;
    std::memcpy(out, block, static_cast<size_t>(count) * sizeof(T));
    out += count;
    room -= count;
  }
  std::memset(out, 0, static_cast<size_t>(room) * sizeof(T));
}

}  // namespace

void true_positions(int64_t n, const bool* mask, int64_t begin, int64_t* out, int64_t room) {
  collect(n, mask, out, room, [begin](int64_t i) { return begin + i; });
}

void compress_run(size_t size, int64_t n, const char* in, const bool* mask, char* out,
                  int64_t room) {
  visit_size(size, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto* source = reinterpret_cast<const T*>(in);
    collect(n, mask, reinterpret_cast<T*>(out), room, [source](int64_t i) { return source[i]; });
  });
}

void masked_fill_run(size_t size, int64_t n, const char* in, const bool* mask, const void* value,
                     char* out) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(mask);
  visit_size(size, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto* source = reinterpret_cast<const T*>(in);
    auto* target = reinterpret_cast<T*>(out);
    const T fill = *static_cast<const T*>(value);
    if constexpr (__is_same(T, Wide)) {
      for (int64_t i = 0; i < n; ++i) target[i] = bytes[i] ? fill : source[i];
    } else {
      // Bit operations, so that a loop over both a mask and wider elements vectorises.
      FB_IVDEP
      for (int64_t i = 0; i < n; ++i) {
        const T chosen = static_cast<T>(T(0) - static_cast<T>(bytes[i] != 0));
        target[i] = static_cast<T>((fill & chosen) | (source[i] & static_cast<T>(~chosen)));
      }
    }
  });
}

}  // namespace fb::cpu::FB_ISA
