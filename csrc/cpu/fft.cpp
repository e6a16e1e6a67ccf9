// Tables of Fourier transforms, kept for the lengths that were used last.
#include "cpu/fft.h"

#include <pthread.h>

#include <algorithm>
#include <cmath>
#include <list>
#include <mutex>

namespace fb::cpu {
namespace {

struct Root {
  double re, im;
};

// exp(-2 pi i k / n) for 0 <= k < n, from an angle of at most an eighth of the circle, where sine
// and cosine have all their digits.
Root root_of_unity(int64_t k, int64_t n) {
  const int64_t octant = static_cast<int64_t>(static_cast<__int128>(k) * 8 / n);
  // The angle within two octants that are mirror images of each other, in units of 1 / (8 n).
  const __int128 begin = static_cast<__int128>((octant + 1) / 2) * 2 * n;
  const __int128 distance = static_cast<__int128>(k) * 8 - begin;
  const double turn = static_cast<double>(distance) / (8 * static_cast<double>(n));
  const double angle = turn * 6.283185307179586476925286766559;
  const double c = std::cos(angle), s = std::sin(angle);
  switch ((octant + 1) / 2 % 4) {
    case 0: return {c, -s};
    case 1: return {-s, -c};
    case 2: return {-c, s};
    default: return {s, c};
  }
}

// --- lengths

// The radices of the passes, or none where a prime factor is too large. Powers of two go first and
// last, as these passes can read and write the tensors themselves.
std::vector<int> radices_of(int64_t n) {
  int twos = 0;
  for (; n % 2 == 0; n /= 2) ++twos;
  std::vector<int> odd;
  for (int p = 3; p <= kLargestRadix; p += 2)
    for (; n % p == 0; n /= p) odd.push_back(p);
  if (n > 1) return {};
  std::vector<int> even;
  for (; twos >= 3 && twos != 4; twos -= 3) even.push_back(8);
  for (; twos >= 2; twos -= 2) even.push_back(4);
  if (twos == 1) even.push_back(2);
  if (even.size() > 1) {
    odd.insert(odd.begin(), even.begin(), even.end() - 1);
    odd.push_back(even.back());
  } else {
    odd.insert(odd.begin(), even.begin(), even.end());
  }
  if (odd.empty()) odd.push_back(1);
  return odd;
}

// About how many operations on vectors a point costs.
double cost_of(const std::vector<int>& radices) {
  double cost = 4;  // to load and store it
  for (const int radix : radices) {
    switch (radix) {
      case 1: break;
      case 2: cost += 5; break;
      case 4: cost += 8; break;
      case 8: cost += 11; break;
      default: cost += 4 + radix; break;
    }
  }
  return cost;
}

struct Sides {
  int64_t first = 1, second = 1;
  double cost = HUGE_VAL;  // of a point, with the lanes that are left empty
};

Sides best_sides(int64_t n, int64_t lanes) {
  std::vector<int64_t> divisors{1};
  int64_t left = n;
  for (int64_t p = 2; p <= kLargestRadix && left > 1; ++p) {
    const size_t without = divisors.size();
    for (int64_t power = p; left % p == 0; power *= p, left /= p)
      for (size_t i = 0; i < without; ++i) divisors.push_back(divisors[i] * power);
  }
  const auto filled = [&](int64_t count) {
    return static_cast<double>((count + lanes - 1) / lanes * lanes) / static_cast<double>(count);
  };
  Sides best;
  for (const int64_t first : divisors) {
    const int64_t second = n / first;
    // Sides far apart take more of the cache; they are all that some lengths have.
    const double apart =
        std::abs(std::log2(static_cast<double>(first)) - std::log2(static_cast<double>(second)));
    const double cost = cost_of(radices_of(first)) * filled(second) +
                        cost_of(radices_of(second)) * filled(first) + apart;
    if (cost < best.cost) best = {first, second, cost};
  }
  return best;
}

template <class T>
FftPasses<T> make_passes(int64_t n) {
  FftPasses<T> result;
  result.size = n;
  int64_t rest = n, done = 1;
  for (const int radix : radices_of(n)) {
    rest /= radix;
    FftPass pass{radix, rest, done, static_cast<int64_t>(result.table.size()), 0};
    for (int64_t j = 0; j < rest && rest > 1; ++j) {
      for (int64_t k = 1; k < radix; ++k) {
        const Root w = root_of_unity(j * k, rest * radix);
        result.table.push_back(static_cast<T>(w.re));
        result.table.push_back(static_cast<T>(w.im));
      }
    }
    pass.roots = static_cast<int64_t>(result.table.size());
    for (int64_t k = 0; k < radix && radix % 2 == 1; ++k) {
      const Root w = root_of_unity(k, radix);
      result.table.push_back(static_cast<T>(w.re));
      result.table.push_back(static_cast<T>(-w.im));
    }
    result.passes.push_back(pass);
    done *= radix;
  }
  return result;
}

// Rows of w^(j k): j counts rows in steps, k the points of the first side.
template <class T>
std::vector<T> make_rows(int64_t count, int64_t step, int64_t side, int64_t pitch, int64_t n) {
  std::vector<T> rows(static_cast<size_t>(count * 2 * pitch));
  for (int64_t j = 0; j < count; ++j) {
    T* const row = rows.data() + j * 2 * pitch;
    for (int64_t k = 0; k < side; ++k) {
      const Root w = root_of_unity(j * step * k, n);
      row[k] = static_cast<T>(w.re);
      row[pitch + k] = static_cast<T>(w.im);
    }
  }
  return rows;
}

template <class T>
FftSteps<T> make_steps(int64_t n) {
  constexpr int64_t kFullTable = 16384;
  const Sides sides = best_sides(n, kFftLanes<T>);
  FftSteps<T> result;
  result.first = make_passes<T>(sides.first);
  result.second = make_passes<T>(sides.second);
  result.pitch = (sides.first + kFftLanes<T> - 1) / kFftLanes<T> * kFftLanes<T>;
  // Rows a power of two apart would all lie in the same few lines of the cache.
  if (result.pitch >= 256) result.pitch += kFftLanes<T>;
  const bool full = n <= kFullTable;
  const int64_t fine = full ? sides.second : std::min(kFftFineRows, sides.second);
  result.fine = make_rows<T>(fine, 1, sides.first, result.pitch, n);
  if (!full)
    result.coarse = make_rows<T>((sides.second + kFftFineRows - 1) / kFftFineRows, kFftFineRows,
                                 sides.first, result.pitch, n);
  return result;
}

// At least as many points as a convolution needs, in a matrix that fills the vectors.
int64_t padded_size(int64_t least) {
  const int64_t units = (least + 255) / 256;
  int64_t best = 1;
  while (best < units) best *= 2;
  for (int64_t fives = 1; fives <= best; fives *= 5) {
    for (int64_t threes = fives; threes <= best; threes *= 3) {
      int64_t product = threes;
      while (product < units) product *= 2;
      best = std::min(best, product);
    }
  }
  return best * 256;
}

// --- what was made before

enum Table : int64_t { kPasses, kSteps, kConvolution, kRealRoots };

struct Key {
  int64_t table, size;
  bool operator==(const Key&) const = default;
};

template <class T>
Key key_of(Table table, int64_t size) {
  return {table * 2 + (sizeof(T) == sizeof(double)), size};
}

// Forgets what was not used for longest.
class Tables {
 public:
  static Tables& shared() {
    static Tables* instance = [] {
      auto* made = new Tables;
      // A forked child has one thread: it must not inherit the lock from another one.
      pthread_atfork([] { shared().mutex_.lock(); }, [] { shared().mutex_.unlock(); },
                     [] { shared().mutex_.unlock(); });
      return made;
    }();
    return *instance;
  }

  std::shared_ptr<const void> find(const Key& key) {
    const std::lock_guard lock(mutex_);
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
      if (entry->key != key) continue;
      entries_.splice(entries_.begin(), entries_, entry);
      return entries_.front().table;
    }
    return nullptr;
  }

  void keep(const Key& key, std::shared_ptr<const void> table, size_t bytes) {
    if (bytes > kBytes) return;
    std::list<Entry> dropped;  // freed when the lock is not held
    const std::lock_guard lock(mutex_);
    for (const Entry& entry : entries_)
      if (entry.key == key) return;
    entries_.push_front({key, std::move(table), bytes});
    bytes_ += bytes;
    while (bytes_ > kBytes || entries_.size() > kCount) {
      bytes_ -= entries_.back().bytes;
      dropped.splice(dropped.begin(), entries_, std::prev(entries_.end()));
    }
  }

 private:
  static constexpr size_t kBytes = size_t{64} << 20, kCount = 64;
  struct Entry {
    Key key;
    std::shared_ptr<const void> table;
    size_t bytes;
  };
  std::mutex mutex_;
  std::list<Entry> entries_;
  size_t bytes_ = 0;
};

template <class T>
size_t bytes_of(const std::vector<T>& values) {
  return values.size() * sizeof(T);
}
template <class T>
size_t bytes_of(const FftPasses<T>& passes) {
  return bytes_of(passes.table) + bytes_of(passes.passes);
}
template <class T>
size_t bytes_of(const FftSteps<T>& steps) {
  return bytes_of(steps.first) + bytes_of(steps.second) + bytes_of(steps.fine) +
         bytes_of(steps.coarse);
}
template <class T>
size_t bytes_of(const FftConvolution<T>& convolution) {
  return bytes_of(convolution.chirp) + bytes_of(convolution.spectrum) +
         bytes_of(*convolution.padded);
}

// Made while the lock is free: another thread may make the same, which does no harm.
template <class Value, class Make>
std::shared_ptr<const Value> kept(const Key& key, Make&& make) {
  if (auto found = Tables::shared().find(key)) return std::static_pointer_cast<const Value>(found);
  auto made = std::make_shared<const Value>(make());
  Tables::shared().keep(key, made, bytes_of(*made));
  return made;
}

}  // namespace

bool fft_has_passes(int64_t size) {
  for (int64_t p = 2; p <= kLargestRadix && size > 1; ++p)
    while (size % p == 0) size /= p;
  return size == 1;
}

template <class T>
bool fft_suits_steps(int64_t size) {
  const auto fills = [](int64_t side) {
    const int64_t lanes = kFftLanes<T>;
    return side * 10 >= (side + lanes - 1) / lanes * lanes * 9;
  };
  const auto steps = fft_steps<T>(size);
  return fills(steps->first.size) && fills(steps->second.size);
}

template <class T>
std::shared_ptr<const FftPasses<T>> fft_passes(int64_t size) {
  return kept<FftPasses<T>>(key_of<T>(kPasses, size), [&] { return make_passes<T>(size); });
}

template <class T>
std::shared_ptr<const FftSteps<T>> fft_steps(int64_t size) {
  return kept<FftSteps<T>>(key_of<T>(kSteps, size), [&] { return make_steps<T>(size); });
}

template <class T>
std::shared_ptr<const FftConvolution<T>> fft_convolution(
    int64_t size, const std::function<void(const FftSteps<T>&, T*)>& transform) {
  return kept<FftConvolution<T>>(key_of<T>(kConvolution, size), [&] {
    FftConvolution<T> result;
    result.size = size;
    const int64_t padded = padded_size(2 * size - 1);
    result.padded = fft_steps<T>(padded);
    result.chirp.resize(static_cast<size_t>(2 * size));
    result.spectrum.resize(static_cast<size_t>(2 * padded));
    int64_t square = 0;  // k^2 modulo 2 size
    for (int64_t k = 0; k < size; ++k) {
      const Root w = root_of_unity(square, 2 * size);
      result.chirp[2 * k] = static_cast<T>(w.re);
      result.chirp[2 * k + 1] = static_cast<T>(w.im);
      for (const int64_t at : {k, k == 0 ? 0 : padded - k}) {
        result.spectrum[2 * at] = static_cast<T>(w.re / static_cast<double>(padded));
        result.spectrum[2 * at + 1] = static_cast<T>(-w.im / static_cast<double>(padded));
      }
      square = (square + 2 * k + 1) % (2 * size);
    }
    transform(*result.padded, result.spectrum.data());
    return result;
  });
}

template <class T>
std::shared_ptr<const std::vector<T>> fft_real_roots(int64_t size) {
  return kept<std::vector<T>>(key_of<T>(kRealRoots, size), [&] {
    std::vector<T> roots;
    for (int64_t k = 0; k <= size / 4; ++k) {
      const Root w = root_of_unity(k, size);
      roots.push_back(static_cast<T>(w.re));
      roots.push_back(static_cast<T>(w.im));
    }
    return roots;
  });
}

#define FB_FFT_TABLES(T)                                                \
  template bool fft_suits_steps<T>(int64_t);                            \
  template std::shared_ptr<const FftPasses<T>> fft_passes<T>(int64_t);  \
  template std::shared_ptr<const FftSteps<T>> fft_steps<T>(int64_t);    \
  template std::shared_ptr<const FftConvolution<T>> fft_convolution<T>( \
      int64_t, const std::function<void(const FftSteps<T>&, T*)>&);     \
  template std::shared_ptr<const std::vector<T>> fft_real_roots<T>(int64_t);
FB_FFT_TABLES(float)
FB_FFT_TABLES(double)

}  // namespace fb::cpu
