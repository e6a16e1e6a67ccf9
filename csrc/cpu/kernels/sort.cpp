// Sorting and selection. Long rows: radix sort of keys, one byte at a time from the lowest, passes
// over a byte that is the same everywhere left out. Short rows: insertion and merging.
#include "cpu/sort.h"

#include <memory>
#include <type_traits>
#include <utility>

#include "cpu/kernels/sort_keys.h"
#include "cpu/threads.h"

namespace fb::cpu::FB_ISA {
namespace {

constexpr int kBuckets = 256;
constexpr int64_t kRun = 32;          // sorted without branches that depend on the data
constexpr int64_t kMergeLimit = 400;  // below, merging beats clearing and adding up buckets
constexpr int64_t kParallelRow = 1 << 17;
constexpr int64_t kPiece = 1 << 16;  // of a row whose first elements are found in parallel

int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }

// Sorts up to kRun items into `out`: an item's position is the number of smaller ones, which
// vectors count. No two items are equal.
void sort_run(const SmallItem* items, int64_t n, SmallItem* out) {
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t word = items[i].word;
    uint64_t smaller = 0;
    for (int64_t j = 0; j < n; ++j) smaller += items[j].word < word;
    out[smaller] = items[i];
  }
}

// By insertion: comparing two words each does not vectorise.
void sort_run(const LargeItem* items, int64_t n, LargeItem* out) {
  for (int64_t i = 0; i < n; ++i) {
    const LargeItem item = items[i];
    int64_t j = i;
    for (; j > 0 && item < out[j - 1]; --j) out[j] = out[j - 1];
    out[j] = item;
  }
}

// Branch-free: which side comes next is as good as random.
template <class Item>
void merge(const Item* a, const Item* a_end, const Item* b, const Item* b_end, Item* out) {
  while (a < a_end && b < b_end) {
    const bool take_b = *b < *a;
    *out++ = *(take_b ? b : a);
    a += !take_b;
    b += take_b;
  }
  while (a < a_end) *out++ = *a++;
  while (b < b_end) *out++ = *b++;
}

// Sorts items; either buffer may hold the result, which is returned.
template <class Item>
Item* merge_sort(Item* items, Item* other, int64_t n) {
  for (int64_t i = 0; i < n; i += kRun) sort_run(items + i, min64(kRun, n - i), other + i);
  std::swap(items, other);
  for (int64_t width = kRun; width < n; width *= 2) {
    for (int64_t i = 0; i < n; i += 2 * width) {
      const int64_t middle = min64(n, i + width);
      const int64_t end = min64(n, i + 2 * width);
      merge(items + i, items + middle, items + middle, items + end, other + i);
    }
    std::swap(items, other);
  }
  return items;
}

template <class Item>
class RadixSort {
 public:
  RadixSort(Item* items, Item* other, int64_t n) : items_(items), other_(other), n_(n) {
    // A thread's part is scattered after those of the threads before it: the order is the same as
    // with one thread.
    parts_ = n >= kParallelRow && !detail::in_parallel() ? num_threads() : 1;
    part_length_ = (n + parts_ - 1) / parts_;
    offsets_.reset(new int64_t[parts_ * kBuckets]);
  }

  Item* run() {
    // Relative to the lowest key, small numbers on both sides of zero differ in only one byte.
    uint64_t highest = lowest_ = items_[0].key();
    for (int64_t i = 1; i < n_; ++i) {
      const uint64_t key = items_[i].key();
      lowest_ = key < lowest_ ? key : lowest_;
      highest = key > highest ? key : highest;
    }
    const uint64_t range = highest - lowest_;
    for (int shift = 0; shift < 64 && range >> shift != 0; shift += 8) pass(shift);
    return items_;
  }

 private:
  FB_FN unsigned digit(Item item, int shift) const {
    return static_cast<unsigned>((item.key() - lowest_) >> shift) & (kBuckets - 1);
  }

  template <class F>
  void for_parts(F f) {
    parallel_for(parts_, 1, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p)
        f(&offsets_[p * kBuckets], p * part_length_, min64(n_, (p + 1) * part_length_));
    });
  }

  void pass(int shift) {
    for_parts([&](int64_t* counts, int64_t begin, int64_t end) {
      for (int b = 0; b < kBuckets; ++b) counts[b] = 0;
      for (int64_t i = begin; i < end; ++i) ++counts[digit(items_[i], shift)];
    });
    int64_t next = 0;
    for (int b = 0; b < kBuckets; ++b) {
      const int64_t start = next;
      for (int64_t p = 0; p < parts_; ++p) {
        const int64_t count = offsets_[p * kBuckets + b];
        offsets_[p * kBuckets + b] = next;
        next += count;
      }
      if (next - start == n_) return;  // one value everywhere: nothing moves
    }
    for_parts([&](int64_t* offsets, int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) other_[offsets[digit(items_[i], shift)]++] = items_[i];
    });
    std::swap(items_, other_);
  }

  Item* items_;
  Item* other_;
  const int64_t n_;
  uint64_t lowest_ = 0;
  int64_t parts_;
  int64_t part_length_;
  std::unique_ptr<int64_t[]> offsets_;
};

template <class Item>
Item* sort_items(Item* items, Item* other, int64_t n) {
  if (n < kMergeLimit) return merge_sort(items, other, n);
  return RadixSort<Item>(items, other, n).run();
}

// The smallest key of a group of elements: what vectors compare, whatever the length of a key.
constexpr int64_t kGroup = 64;
template <class T>
KeyOf<T> lowest_key(const T* group, bool descending) {
  const auto flip = static_cast<KeyOf<T>>(descending ? ~KeyOf<T>(0) : KeyOf<T>(0));
  auto lowest = static_cast<KeyOf<T>>(~KeyOf<T>(0));
  for (int64_t i = 0; i < kGroup; ++i) {
    const auto key = static_cast<KeyOf<T>>(encode(element_at(group + i)) ^ flip);
    lowest = key < lowest ? key : lowest;
  }
  return lowest;
}

// The k first items of a part of a row, in order. Candidates collect in a buffer; whenever that is
// full it is cut down to the best k, which tells what the next ones have to beat.
template <class T>
const ItemOf<T>* first_items(const T* row, int64_t from, int64_t to, int64_t k, bool descending,
                             ItemOf<T>* candidates, ItemOf<T>* other, int64_t capacity) {
  using Item = ItemOf<T>;
  int64_t count = 0;
  KeyOf<T> limit = 0;  // a key has to be below it once there are k candidates
  bool cut = false;
  for (int64_t begin = from; begin < to; begin += kGroup) {
    const int64_t end = min64(to, begin + kGroup);
    // Most groups have no candidate: they are skipped without a branch for each element.
    if (cut && end - begin == kGroup && lowest_key(row + begin, descending) >= limit) continue;
    for (int64_t i = begin; i < end; ++i) {
      const Item item = item_of(row, static_cast<uint32_t>(i), descending);
      if (cut && item.key() >= limit) continue;
      candidates[count++] = item;
      if (count < capacity) continue;
      const Item* sorted = sort_items(candidates, other, count);
      if (sorted != candidates)
        for (int64_t j = 0; j < k; ++j) candidates[j] = sorted[j];
      count = k;
      limit = static_cast<KeyOf<T>>(candidates[k - 1].key());
      cut = true;
    }
  }
  return sort_items(candidates, other, count);
}

template <class T>
class RowSorter {
  using Item = ItemOf<T>;

 public:
  RowSorter(int64_t n, int64_t k, bool descending)
      : n_(n),
        k_(k),
        descending_(descending),
        partial_(k < n / 4),
        pieces_(partial_ && n >= kParallelRow && k <= kPiece / 16 && !detail::in_parallel()
                    ? (n + kPiece - 1) / kPiece
                    : 1),
        capacity_(partial_ ? (4 * k > 64 ? 4 * k : 64) : n),
        items_(new Item[pieces_ > 1 ? 2 * pieces_ * k : 2 * capacity_]) {}

  void run(const T* row, T* values, int64_t* indices) {
    const Item* sorted;
    Item* const other = items_.get() + capacity_;
    if (pieces_ > 1) {
      sorted = first_of_pieces(row);
    } else if (partial_ && capacity_ < n_) {
      sorted = first_items(row, 0, n_, k_, descending_, items_.get(), other, capacity_);
    } else {
      parallel_for(n_, kGrain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          items_[i] = item_of(row, static_cast<uint32_t>(i), descending_);
      });
      sorted = sort_items(items_.get(), other, n_);
    }
    parallel_for(k_, kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const uint32_t at = sorted[i].position();
        if (values) values[i] = element_at(row + at);
        if (indices) indices[i] = at;
      }
    });
  }

 private:
  // The first of the first of each piece. Positions tell equal keys apart, so that it does not
  // matter how a row is cut.
  const Item* first_of_pieces(const T* row) {
    parallel_for(pieces_, 1, [&](int64_t begin, int64_t end) {
      const std::unique_ptr<Item[]> room(new Item[2 * capacity_]);
      for (int64_t p = begin; p < end; ++p) {
        const int64_t from = p * kPiece;
        const int64_t to = min64(n_, from + kPiece);
        const Item* first = first_items(row, from, to, k_, descending_, room.get(),
                                        room.get() + capacity_, capacity_);
        // A short last piece may have fewer: what fills up comes after everything.
        for (int64_t i = 0; i < k_; ++i)
          items_[p * k_ + i] = i < to - from ? first[i] : Item::last();
      }
    });
    return sort_items(items_.get(), items_.get() + pieces_ * k_, pieces_ * k_);
  }

  const int64_t n_;
  const int64_t k_;
  const bool descending_;
  const bool partial_;
  const int64_t pieces_;
  const int64_t capacity_;
  const std::unique_ptr<Item[]> items_;
};

// The item of rank `rank` in ascending order: counts the highest byte of the keys, keeps the bucket
// that holds the rank, and goes on with the next byte. Items stay in their order, so equals rank by
// position.
template <class T>
ItemOf<T> select(const T* row, int64_t n, int64_t rank, ItemOf<T>* items) {
  for (int64_t i = 0; i < n; ++i) items[i] = item_of(row, static_cast<uint32_t>(i), false);
  for (int shift = kKeyBits<T> - 8; shift >= 0 && n > 1; shift -= 8) {
    int64_t counts[kBuckets] = {};
    for (int64_t i = 0; i < n; ++i) ++counts[items[i].key() >> shift & (kBuckets - 1)];
    unsigned bucket = 0;
    while (rank >= counts[bucket]) rank -= counts[bucket++];
    if (counts[bucket] == n) continue;
    int64_t kept = 0;
    for (int64_t i = 0; i < n; ++i) {
      const ItemOf<T> item = items[i];
      items[kept] = item;
      kept += (item.key() >> shift & (kBuckets - 1)) == bucket;
    }
    n = kept;
  }
  return items[rank];
}

// Calls f(begin, end) for ranges of rows, in parallel unless rows are long enough to be sorted in
// parallel themselves.
template <class F>
void for_rows(const SortRows& input, F f) {
  if (input.rows < 4 && input.n >= kParallelRow) return f(int64_t{0}, input.rows);
  const int64_t grain = 4096 / (input.n > 0 ? input.n : 1) + 1;
  parallel_for(input.rows, grain, f);
}

}  // namespace

void sort_rows(const SortRows& input, int64_t k, bool descending, void* values, int64_t* indices) {
  visit_real(input.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_rows(input, [&](int64_t begin, int64_t end) {
      RowSorter<T> sorter(input.n, k, descending);
      for (int64_t r = begin; r < end; ++r)
        sorter.run(static_cast<const T*>(input.in) + r * input.n,
                   values ? static_cast<T*>(values) + r * k : nullptr,
                   indices ? indices + r * k : nullptr);
    });
  });
}

void select_rows(const SortRows& input, const int64_t* ranks, void* values, int64_t* indices) {
  visit_real(input.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_rows(input, [&](int64_t begin, int64_t end) {
      const std::unique_ptr<ItemOf<T>[]> items(new ItemOf<T>[input.n]);
      for (int64_t r = begin; r < end; ++r) {
        const T* const row = static_cast<const T*>(input.in) + r * input.n;
        const uint32_t at = select(row, input.n, ranks[r], items.get()).position();
        if (values) static_cast<T*>(values)[r] = element_at(row + at);
        if (indices) indices[r] = at;
      }
    });
  });
}

}  // namespace fb::cpu::FB_ISA
