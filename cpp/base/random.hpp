// Counter-based random numbers: a draw is a hash of (seed, stream, index). Every row gets the same
// draw with any number of threads, in any order and any partition of the rows.
#pragma once

#include <cstdint>

#include "base/math.hpp"

namespace bosquet {

BOSQUET_INLINE std::uint64_t mix64(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15ull;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

BOSQUET_INLINE std::uint64_t hash64(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
    return mix64(mix64(mix64(seed) ^ stream) ^ index);
}

// Uniform on [0, 1) with 53 random bits.
inline double uniform(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
    return static_cast<double>(hash64(seed, stream, index) >> 11) * 0x1p-53;
}

// Approximately standard normal: the sum of four uniform numbers of 16 bits, within +-3.46. It
// needs no function of the C library, whose bits differ between versions.
inline double standard_normal(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
    std::uint64_t bits = hash64(seed, stream, index);
    std::uint64_t sum = 0;
    for (int part = 0; part < 4; ++part) sum += bits >> (16 * part) & 0xFFFF;
    return (static_cast<double>(sum) - 2 * 65535.0) * (1.7320508075688772 / 65536);
}

}  // namespace bosquet
