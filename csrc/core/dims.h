// Sizes and strides: a vector with room for six dimensions inline, and a view of one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "core/error.h"

namespace fb {

// As many dimensions as PyTorch's iterators take.
inline constexpr int kMaxDims = 64;

// A vector that holds N elements without allocating.
template <class T, int N>
class SmallVec {
 public:
  SmallVec() : data_(inline_), size_(0) {}
  explicit SmallVec(size_t n, T value = T()) : SmallVec() { resize(n, value); }
  SmallVec(std::initializer_list<T> list) : SmallVec() { assign(list.begin(), list.end()); }
  SmallVec(std::span<const T> span) : SmallVec() { assign(span.begin(), span.end()); }
  SmallVec(const SmallVec& other) : SmallVec() { assign(other.begin(), other.end()); }
  SmallVec(SmallVec&& other) noexcept : SmallVec() { take(other); }
  SmallVec& operator=(const SmallVec& other) {
    if (this != &other) assign(other.begin(), other.end());
    return *this;
  }
  SmallVec& operator=(SmallVec&& other) noexcept {
    if (this != &other) {
      release();
      take(other);
    }
    return *this;
  }
  ~SmallVec() { release(); }

  template <class It>
  void assign(It first, It last) {
    const size_t n = static_cast<size_t>(last - first);
    reserve(n);
    std::copy(first, last, data_);
    size_ = n;
  }
  void resize(size_t n, T value = T()) {
    reserve(n);
    for (size_t i = size_; i < n; ++i) data_[i] = value;
    size_ = n;
  }
  void push_back(const T& value) { push_back(T(value)); }  // it may be one of these elements
  void push_back(T&& value) {
    reserve(size_ + 1);
    data_[size_++] = std::move(value);
  }
  T& emplace_back() {
    push_back(T());
    return back();
  }
  // One more element, with whatever value: for those who set all of it.
  T& extend() {
    reserve(size_ + 1);
    return data_[size_++];
  }
  void pop_back() { --size_; }
  void clear() { size_ = 0; }
  void insert(size_t at, T value) {
    push_back(value);
    std::rotate(data_ + at, data_ + size_ - 1, data_ + size_);
  }
  void erase(size_t at) {
    std::move(data_ + at + 1, data_ + size_, data_ + at);
    --size_;
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  friend bool operator==(const SmallVec& a, const SmallVec& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  void reserve(size_t n) {
    if (n <= capacity_) return;
    const size_t wanted = std::max(n, 2 * capacity_);
    T* fresh = new T[wanted];
    std::move(data_, data_ + size_, fresh);
    release();
    data_ = fresh;
    capacity_ = wanted;
  }
  void release() {
    if (data_ != inline_) delete[] data_;
    data_ = inline_;
    capacity_ = N;
  }
  void take(SmallVec& other) {
    if (other.data_ == other.inline_) {
      std::move(other.begin(), other.end(), inline_);
    } else {
      data_ = other.data_;
      capacity_ = other.capacity_;
      other.data_ = other.inline_;
      other.capacity_ = N;
    }
    size_ = other.size_;
    other.size_ = 0;
  }

  T* data_;
  size_t size_;
  size_t capacity_ = N;
  T inline_[N];
};

using Dims = SmallVec<int64_t, 6>;

// A view of integers that it does not own. Pass it by value; never keep it.
class IntSpan {
 public:
  IntSpan() = default;
  IntSpan(const int64_t* data, size_t size) : data_(data), size_(size) {}
  IntSpan(const Dims& dims) : data_(dims.data()), size_(dims.size()) {}
  IntSpan(const std::vector<int64_t>& v) : data_(v.data()), size_(v.size()) {}
  // Lives until the end of the full expression that holds the braces: for arguments only.
  IntSpan(const std::initializer_list<int64_t>& list)
      : data_(std::data(list)), size_(list.size()) {}

  const int64_t* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t operator[](size_t i) const { return data_[i]; }
  int64_t back() const { return data_[size_ - 1]; }
  const int64_t* begin() const { return data_; }
  const int64_t* end() const { return data_ + size_; }
  IntSpan first(size_t n) const { return {data_, n}; }
  IntSpan last(size_t n) const { return {data_ + size_ - n, n}; }
  Dims vec() const {
    Dims dims;
    dims.assign(begin(), end());
    return dims;
  }
  friend bool operator==(IntSpan a, IntSpan b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  const int64_t* data_ = nullptr;
  size_t size_ = 0;
};

// Prints as Python would: (2, 3), (5,), ().
Text& operator<<(Text& out, IntSpan dims);
inline Text& operator<<(Text& out, const Dims& dims) { return out << IntSpan(dims); }

// The product of the sizes; refuses negative sizes and products beyond 2^63.
int64_t numel_of(IntSpan sizes);
Dims contiguous_strides(IntSpan sizes);
// NumPy's rule; refuses shapes that do not match and names both.
Dims broadcast_shapes(IntSpan a, IntSpan b);
// Strides that make a tensor of `sizes`, `strides` appear as `target`: 0 where it is stretched.
Dims broadcast_strides(IntSpan sizes, IntSpan strides, IntSpan target);
// -ndim..ndim-1 to 0..ndim-1, or IndexError. A 0-d tensor takes 0 and -1.
int64_t wrap_dim(int64_t dim, int64_t ndim);
// The same for several; refuses repetition.
Dims wrap_dims(IntSpan dims, int64_t ndim);

}  // namespace fb
