// The checksum of zip archives.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fb {

// CRC-32 of `size` bytes that follow those of which `before` is the checksum (0: none).
uint32_t crc32(const void* data, size_t size, uint32_t before = 0);

}  // namespace fb
