// Decompresses zlib streams (RFC 1950 and 1951).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace fb::image {

// Bytes that must follow the input and the output in memory: reads and writes are done in words.
inline constexpr size_t kInflateSlack = 16;

// Fills `output` with the beginning of the decompressed `input`; false if the input is damaged or
// too short. Does not check the stream's checksum: files have their own.
bool inflate(std::span<const uint8_t> input, std::span<uint8_t> output);

}  // namespace fb::image
