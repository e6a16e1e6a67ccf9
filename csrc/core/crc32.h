// The checksums of zip archives and of records of TensorBoard.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fb {

// CRC-32 of `size` bytes that follow those of which `before` is the checksum (0: none).
uint32_t crc32(const void* data, size_t size, uint32_t before = 0);

// CRC-32C: the same with Castagnoli's polynomial.
uint32_t crc32c(const void* data, size_t size);

}  // namespace fb
