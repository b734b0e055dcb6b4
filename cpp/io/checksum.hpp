// CRC-64/XZ: detects every change of up to 64 adjacent bits and any other change with probability 1
// - 2^-64. Implementations exist in every language.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace bosquet {

// The checksum of the bytes. If `before` is the checksum of some data, the result is the checksum
// of that data followed by the bytes.
std::uint64_t checksum(std::span<const std::uint8_t> bytes, std::uint64_t before = 0);

}  // namespace bosquet
