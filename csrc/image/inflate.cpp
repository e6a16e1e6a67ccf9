// Decompresses zlib streams (RFC 1950 and 1951).
//
// Note [Codes in tables]: a code of up to 15 bits is looked up by its first bits in a table, where
// every entry that begins with a short code has its meaning. Longer codes have an entry that points
// to a second table for their other bits. The bits of a code come lowest first.
#include "image/inflate.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>

namespace fb::image {
namespace {

static_assert(std::endian::native == std::endian::little,
              "words are read in the file's byte order");

constexpr int kLongestCode = 15;
constexpr int kSymbolBits = 10;   // of the first table of literals and lengths
constexpr int kDistanceBits = 8;  // of distances
constexpr int kLengthBits = 7;    // of code lengths, whose codes have at most 7 bits
constexpr int kEndOfBlock = 256, kFirstLength = 257;
constexpr int kSymbols = 288, kDistances = 32;

enum class Kind : uint8_t { kInvalid, kLiteral, kCopy, kEnd, kTable };

struct Entry {
  uint16_t value = 0;     // a literal, the base of a length or distance, or where a table begins
  uint8_t length = 0;     // of the code, or of the rest of it
  uint8_t extra : 4 = 0;  // bits that follow and are added to the base, or that a table is for
  Kind kind : 4 = Kind::kInvalid;
};

// The input as a queue of bits.
class Bits {
 public:
  explicit Bits(std::span<const uint8_t> input)
      : next_(input.data()), end_(input.data() + input.size()) {}

  // At least 56 bits, of which those past the end are zeros.
  void refill() {
    if (next_ > end_) return;
    uint64_t word;
    std::memcpy(&word, next_, sizeof(word));
    queue_ |= word << count_;
    next_ += (63 - count_) >> 3;
    count_ |= 56;
  }
  uint64_t peek(int count) const { return queue_ & ((uint64_t{1} << count) - 1); }
  void drop(int count) {
    queue_ >>= count;
    count_ -= count;
  }
  // At most 56 bits in all since the last refill.
  uint32_t take(int count) {
    const auto value = static_cast<uint32_t>(peek(count));
    drop(count);
    return value;
  }
  // Whether more bits were taken than the input has.
  bool is_over() const { return count_ < 0 || next_ - (count_ >> 3) > end_; }

  // Skips the rest of a started byte, and returns the bytes that follow.
  std::span<const uint8_t> bytes() {
    drop(count_ & 7);
    const uint8_t* from = next_ - (count_ >> 3);
    return from > end_ ? std::span<const uint8_t>() : std::span(from, end_);
  }
  void skip_to(const uint8_t* next) {
    next_ = next;
    queue_ = 0;
    count_ = 0;
  }

 private:
  const uint8_t* next_;
  const uint8_t* end_;
  uint64_t queue_ = 0;
  int count_ = 0;
};

template <int kBits, size_t kSize>
class Codes {
 public:
  // From the lengths of the codes, 0 for symbols without one; `meaning` gives the entry of a
  // symbol. False if no code has such lengths.
  template <class Meaning>
  bool build(std::span<const uint8_t> lengths, const Meaning& meaning) {
    std::array<int, kLongestCode + 1> counts{};
    for (const uint8_t length : lengths) ++counts[length];
    counts[0] = 0;
    std::array<uint32_t, kLongestCode + 2> first{};  // code of each length
    int left = 1;                                    // codes of that length that are free
    for (int length = 1; length <= kLongestCode; ++length) {
      left = 2 * left - counts[length];
      if (left < 0) return false;
      first[length + 1] = (first[length] + static_cast<uint32_t>(counts[length])) << 1;
    }
    // A file with one distance gives it a code of one bit, of which the other value is unused.
    const int used = std::accumulate(counts.begin(), counts.end(), 0);
    if (left > 0 && !(used == 0 || (used == 1 && counts[1] == 1))) return false;

    table_.fill(Entry{});
    std::array<uint8_t, size_t{1} << kBits> longest{};  // code by its first bits
    std::array<uint16_t, kSymbols> codes;
    for (size_t symbol = 0; symbol < lengths.size(); ++symbol) {
      const int length = lengths[symbol];
      if (length == 0) continue;
      codes[symbol] = reversed(first[length]++, length);
      uint8_t& most = longest[codes[symbol] & kMask];
      most = std::max(most, lengths[symbol]);
    }
    return fill(lengths, codes, longest, meaning);
  }

  // The next symbol's entry; its code is dropped.
  Entry next(Bits& bits) const {
    Entry entry = table_[bits.peek(kBits)];
    if (entry.kind == Kind::kTable) [[unlikely]] {
      bits.drop(kBits);
      entry = table_[entry.value + bits.peek(entry.extra)];
    }
    bits.drop(entry.length);
    return entry;
  }

 private:
  static constexpr uint32_t kMask = (1 << kBits) - 1;

  static uint16_t reversed(uint32_t code, int length) {
    uint32_t result = 0;
    for (int i = 0; i < length; ++i) result |= (code >> i & 1) << (length - 1 - i);
    return static_cast<uint16_t>(result);
  }

  template <class Meaning>
  bool fill(std::span<const uint8_t> lengths, const std::array<uint16_t, kSymbols>& codes,
            const std::array<uint8_t, size_t{1} << kBits>& longest, const Meaning& meaning) {
    size_t end = size_t{1} << kBits;
    for (size_t symbol = 0; symbol < lengths.size(); ++symbol) {
      const int length = lengths[symbol];
      if (length == 0) continue;
      Entry entry = meaning(symbol);
      if (length <= kBits) {
        entry.length = static_cast<uint8_t>(length);
        for (size_t at = codes[symbol]; at < size_t{1} << kBits; at += size_t{1} << length)
          table_[at] = entry;
        continue;
      }
      Entry& link = table_[codes[symbol] & kMask];
      if (link.kind != Kind::kTable) {
        const int bits = longest[codes[symbol] & kMask] - kBits;
        if (end + (size_t{1} << bits) > kSize) return false;
        link.value = static_cast<uint16_t>(end);
        link.extra = static_cast<uint8_t>(bits);
        link.kind = Kind::kTable;
        end += size_t{1} << bits;
      }
      entry.length = static_cast<uint8_t>(length - kBits);
      for (size_t at = codes[symbol] >> kBits; at < size_t{1} << link.extra;
           at += size_t{1} << entry.length)
        table_[link.value + at] = entry;
    }
    return true;
  }

  std::array<Entry, kSize> table_;
};

// Twice what complete codes of so many symbols need at most.
using SymbolCodes = Codes<kSymbolBits, 2048 + 1024>;
using DistanceCodes = Codes<kDistanceBits, 1024>;
using LengthCodes = Codes<kLengthBits, 128>;

Entry meaning_of_symbol(size_t symbol) {
  static constexpr uint8_t kExtra[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                       2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
  static constexpr uint16_t kBase[] = {3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                       15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                       67, 83, 99, 115, 131, 163, 195, 227, 258};
  Entry entry;
  if (symbol < kEndOfBlock) {
    entry.value = static_cast<uint16_t>(symbol);
    entry.kind = Kind::kLiteral;
  } else if (symbol == kEndOfBlock) {
    entry.kind = Kind::kEnd;
  } else if (symbol - kFirstLength < std::size(kBase)) {
    entry.value = kBase[symbol - kFirstLength];
    entry.extra = kExtra[symbol - kFirstLength];
    entry.kind = Kind::kCopy;
  }
  return entry;
}

Entry meaning_of_distance(size_t symbol) {
  Entry entry;
  if (symbol >= 30) return entry;
  const int extra = symbol < 2 ? 0 : static_cast<int>(symbol) / 2 - 1;
  entry.value = static_cast<uint16_t>(symbol < 2 ? symbol + 1 : ((2 + symbol % 2) << extra) + 1);
  entry.extra = static_cast<uint8_t>(extra);
  entry.kind = Kind::kCopy;
  return entry;
}

struct BlockCodes {
  SymbolCodes symbols;
  DistanceCodes distances;
};

const BlockCodes& fixed_codes() {
  static const BlockCodes codes = [] {
    std::array<uint8_t, kSymbols> symbols;
    std::fill_n(symbols.begin(), 144, uint8_t{8});
    std::fill_n(symbols.begin() + 144, 112, uint8_t{9});
    std::fill_n(symbols.begin() + 256, 24, uint8_t{7});
    std::fill_n(symbols.begin() + 280, 8, uint8_t{8});
    std::array<uint8_t, kDistances> distances;
    distances.fill(5);
    BlockCodes made;
    made.symbols.build(symbols, meaning_of_symbol);
    made.distances.build(distances, meaning_of_distance);
    return made;
  }();
  return codes;
}

class Inflater {
 public:
  Inflater(std::span<const uint8_t> input, std::span<uint8_t> output)
      : bits_(input), begin_(output.data()), out_(begin_), end_(begin_ + output.size()) {}

  bool run() {
    bits_.refill();
    const uint32_t method = bits_.take(8), flags = bits_.take(8);
    if ((method & 15) != 8 || method >> 4 > 7 || (method << 8 | flags) % 31 != 0 || flags & 32)
      return false;
    for (bool is_last = false; !is_last && out_ < end_;) {
      bits_.refill();
      is_last = bits_.take(1);
      if (!block(bits_.take(2)) || bits_.is_over()) return false;
    }
    return out_ == end_;
  }

 private:
  bool block(uint32_t type) {
    switch (type) {
      case 0: return stored();
      case 1: return coded(fixed_codes());
      case 2: return read_codes() && coded(codes_);
      default: return false;
    }
  }

  bool stored() {
    const std::span<const uint8_t> rest = bits_.bytes();
    if (rest.size() < 4) return false;
    const size_t size = rest[0] | rest[1] << 8;
    if ((size ^ 0xFFFF) != static_cast<size_t>(rest[2] | rest[3] << 8) || rest.size() - 4 < size)
      return false;
    const size_t count = std::min<size_t>(size, static_cast<size_t>(end_ - out_));
    std::memcpy(out_, rest.data() + 4, count);
    out_ += count;
    bits_.skip_to(rest.data() + 4 + size);
    return true;
  }

  // The codes of a block are compressed too: their lengths are a sequence in another code.
  bool read_codes() {
    static constexpr uint8_t kOrder[] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                         11, 4,  12, 3, 13, 2, 14, 1, 15};
    const size_t symbols = bits_.take(5) + 257, distances = bits_.take(5) + 1;
    const size_t count = bits_.take(4) + 4;
    if (symbols > 286 || distances > 30) return false;
    std::array<uint8_t, std::size(kOrder)> lengths_of_lengths{};
    for (size_t i = 0; i < count; ++i) {
      bits_.refill();
      lengths_of_lengths[kOrder[i]] = static_cast<uint8_t>(bits_.take(3));
    }
    LengthCodes code;
    const auto meaning = [](size_t symbol) {
      Entry entry;
      entry.value = static_cast<uint16_t>(symbol);
      entry.kind = Kind::kLiteral;
      return entry;
    };
    std::array<uint8_t, kSymbols + kDistances> lengths;
    return code.build(lengths_of_lengths, meaning) &&
           read_lengths(code, std::span(lengths).first(symbols + distances)) &&
           lengths[kEndOfBlock] != 0 &&
           codes_.symbols.build(std::span(lengths).first(symbols), meaning_of_symbol) &&
           codes_.distances.build(std::span(lengths).subspan(symbols, distances),
                                  meaning_of_distance);
  }

  bool read_lengths(const LengthCodes& code, std::span<uint8_t> lengths) {
    for (size_t i = 0; i < lengths.size();) {
      bits_.refill();
      const Entry entry = code.next(bits_);
      if (entry.kind != Kind::kLiteral) return false;
      if (entry.value < 16) {
        lengths[i++] = static_cast<uint8_t>(entry.value);
        continue;
      }
      if (entry.value == 16 && i == 0) return false;
      const uint8_t repeated = entry.value == 16 ? lengths[i - 1] : 0;
      const size_t times = entry.value == 16   ? 3 + bits_.take(2)
                           : entry.value == 17 ? 3 + bits_.take(3)
                                               : 11 + bits_.take(7);
      if (times > lengths.size() - i) return false;
      std::fill_n(lengths.begin() + static_cast<int64_t>(i), times, repeated);
      i += times;
    }
    return true;
  }

  bool coded(const BlockCodes& codes) {
    // Locals, because the compiler must assume that written bytes may alias members.
    Bits bits = bits_;
    uint8_t* out = out_;
    const bool is_right = expand(codes, bits, out);
    bits_ = bits;
    out_ = out;
    return is_right;
  }

  [[gnu::always_inline]] bool expand(const BlockCodes& codes, Bits& bits, uint8_t*& out) const {
    const uint8_t* const begin = begin_;
    const uint8_t* const end = end_;
    while (true) {
      bits.refill();
      Entry entry = codes.symbols.next(bits);
      // Three codes at most have 45 bits.
      for (int i = 0; i < 2 && entry.kind == Kind::kLiteral; ++i) {
        if (out == end) return true;
        *out++ = static_cast<uint8_t>(entry.value);
        entry = codes.symbols.next(bits);
      }
      switch (entry.kind) {
        case Kind::kLiteral:
          if (out == end) return true;
          *out++ = static_cast<uint8_t>(entry.value);
          break;
        case Kind::kCopy: {
          bits.refill();
          const size_t length = entry.value + bits.take(entry.extra);
          const Entry way = codes.distances.next(bits);
          if (way.kind != Kind::kCopy) return false;
          const size_t distance = way.value + bits.take(way.extra);
          if (distance > static_cast<size_t>(out - begin)) return false;
          out = repeat(out, std::min<size_t>(length, static_cast<size_t>(end - out)), distance);
          break;
        }
        case Kind::kEnd: return true;
        default: return false;
      }
      if (bits.is_over()) return false;
    }
  }

  // Repeats the output from `distance` bytes ago, in words that may run past the end; returns the
  // end.
  static uint8_t* repeat(uint8_t* out, size_t length, size_t distance) {
    const uint8_t* from = out - distance;
    uint8_t* const stop = out + length;
    if (distance >= sizeof(uint64_t)) {
      for (; out < stop; out += sizeof(uint64_t), from += sizeof(uint64_t))
        std::memcpy(out, from, sizeof(uint64_t));
    } else if (distance == 1) {
      std::memset(out, *from, length);
    } else {
      while (out < stop) *out++ = *from++;
    }
    return stop;
  }

  Bits bits_;
  uint8_t* begin_;
  uint8_t* out_;
  uint8_t* end_;
  BlockCodes codes_;
};

}  // namespace

bool inflate(std::span<const uint8_t> input, std::span<uint8_t> output) {
  return Inflater(input, output).run();
}

}  // namespace fb::image
