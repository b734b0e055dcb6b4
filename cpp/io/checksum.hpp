// CRC-64/XZ: a change of up to 64 neighbouring bits is always found, any other with a chance of
// 1 - 2^-64, and every language has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace bosquet {

// Checksum of the bytes, or of what `before` is the checksum of followed by the bytes.
std::uint64_t checksum(std::span<const std::uint8_t> bytes, std::uint64_t before = 0);

}  // namespace bosquet
