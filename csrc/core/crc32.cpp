// CRC-32 by carry-less products where the processor has them, by tables otherwise.
//
// A message is a polynomial over the field of two elements and its checksum the remainder modulo
// P(x), with the bits of every byte in reverse order. A block that lies n bits before another one
// may be replaced by its product with x^n mod P(x), added to that other one: so four blocks of 16
// bytes are kept and folded forwards until only they are left.
#include "core/crc32.h"

#include <array>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace fb {

namespace {

// P(x) without x^32, bits reversed.
constexpr uint32_t kIEEE = 0xEDB88320;
constexpr uint32_t kCastagnoli = 0x82F63B78;

template <uint32_t P>
constexpr uint32_t times_x(uint32_t remainder) {
  return (remainder >> 1) ^ (remainder & 1 ? P : 0);
}

using Table = std::array<std::array<uint32_t, 256>, 8>;

// [k][b]: the remainder of byte b followed by k zero bytes.
template <uint32_t P>
constexpr Table make_table() {
  Table table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t remainder = byte;
    for (int bit = 0; bit < 8; ++bit) remainder = times_x<P>(remainder);
    table[0][byte] = remainder;
  }
  for (size_t k = 1; k < 8; ++k)
    for (uint32_t byte = 0; byte < 256; ++byte) {
      const uint32_t shorter = table[k - 1][byte];
      table[k][byte] = (shorter >> 8) ^ table[0][shorter & 0xFF];
    }
  return table;
}
template <uint32_t P>
constexpr Table kTable = make_table<P>();

template <uint32_t P>
uint32_t by_table(const uint8_t* data, size_t size, uint32_t remainder) {
  for (; size >= 8; data += 8, size -= 8) {
    uint32_t next = 0;
    for (size_t i = 0; i < 8; ++i) {
      const uint32_t mixed = i < 4 ? (remainder >> (8 * i)) & 0xFF : 0;
      next ^= kTable<P>[7 - i][data[i] ^ mixed];
    }
    remainder = next;
  }
  for (; size > 0; ++data, --size)
    remainder = (remainder >> 8) ^ kTable<P>[0][(remainder ^ *data) & 0xFF];
  return remainder;
}

#if defined(__x86_64__)

// x^n mod P(x) as a factor of a carry-less product, which moves reversed bits by one.
template <uint32_t P>
constexpr int64_t power_of_x(int n) {
  uint32_t remainder = 0x80000000;
  for (int i = 0; i < n; ++i) remainder = times_x<P>(remainder);
  return static_cast<int64_t>(static_cast<uint64_t>(remainder) << 1);
}

// `block`, moved `bits` forwards and added to `onto`: its halves move by different powers.
template <uint32_t P, int bits>
[[gnu::target("pclmul,sse4.1"), gnu::always_inline]] inline __m128i fold(__m128i block,
                                                                         __m128i onto) {
  const __m128i powers = _mm_set_epi64x(power_of_x<P>(bits - 32), power_of_x<P>(bits + 32));
  const __m128i low = _mm_clmulepi64_si128(block, powers, 0x00);
  const __m128i high = _mm_clmulepi64_si128(block, powers, 0x11);
  return _mm_xor_si128(onto, _mm_xor_si128(low, high));
}

constexpr size_t kBlock = 16;

inline __m128i load(const uint8_t* data, size_t i) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(data + i * kBlock));
}

template <uint32_t P>
[[gnu::target("pclmul,sse4.1")]] uint32_t by_products(const uint8_t* data, size_t size,
                                                      uint32_t remainder) {
  __m128i a = _mm_xor_si128(load(data, 0), _mm_cvtsi32_si128(static_cast<int>(remainder)));
  __m128i b = load(data, 1), c = load(data, 2), d = load(data, 3);
  for (data += 4 * kBlock, size -= 4 * kBlock; size >= 4 * kBlock;
       data += 4 * kBlock, size -= 4 * kBlock) {
    a = fold<P, 512>(a, load(data, 0));
    b = fold<P, 512>(b, load(data, 1));
    c = fold<P, 512>(c, load(data, 2));
    d = fold<P, 512>(d, load(data, 3));
  }
  a = fold<P, 128>(fold<P, 128>(fold<P, 128>(a, b), c), d);
  alignas(kBlock) uint8_t last[kBlock];
  _mm_store_si128(reinterpret_cast<__m128i*>(last), a);
  return by_table<P>(data, size, by_table<P>(last, kBlock, 0));
}

const bool has_products = __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");

#endif

template <uint32_t P>
uint32_t checksum(const void* data, size_t size, uint32_t before) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  const uint32_t remainder = ~before;
#if defined(__x86_64__)
  if (has_products && size >= 4 * kBlock) return ~by_products<P>(bytes, size, remainder);
#endif
  return ~by_table<P>(bytes, size, remainder);
}

}  // namespace

uint32_t crc32(const void* data, size_t size, uint32_t before) {
  return checksum<kIEEE>(data, size, before);
}

uint32_t crc32c(const void* data, size_t size) { return checksum<kCastagnoli>(data, size, 0); }

}  // namespace fb
