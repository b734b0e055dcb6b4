// Sums whose bits do not depend on the order of their terms.
//
// Each term is rounded once to a multiple of a power of two, the unit, and the multiples are added
// as integers. The terms may therefore be divided among threads, files or machines in any way. The
// unit follows from the largest term and the number of terms, so that no sum of them overflows. A
// term of 2^-26 of the largest one keeps 24 bits in a sum of a million terms, as many as single
// precision has.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "base/math.hpp"

namespace bosquet {

struct FixedUnit {
    double unit = 1, per_unit = 1;

    double value_of(std::int64_t multiple) const { return static_cast<double>(multiple) * unit; }
};

// The unit for sums of at most `count` terms of at most `largest` in magnitude.
inline FixedUnit fixed_unit(double largest, std::uint64_t count) {
    constexpr int kTermBits = 50;  // to_multiple() needs fewer than 51
    constexpr int kSumBits = 62;
    constexpr int kSmallestExponent = -1020;  // its inverse is finite
    int exponent = 0;
    std::frexp(largest, &exponent);  // largest < 2^exponent
    int bits = std::min(kTermBits, kSumBits - static_cast<int>(std::bit_width(count)));
    int unit = std::max(exponent - bits, kSmallestExponent);
    return {std::ldexp(1.0, unit), std::ldexp(1.0, -unit)};
}

// The nearest multiple of the unit, ties to even: adding 1.5 * 2^52 moves the integer to the low
// bits.
BOSQUET_INLINE std::int64_t to_multiple(double term, double per_unit) {
    return __builtin_bit_cast(std::int64_t, term* per_unit + kRoundToInteger) -
           __builtin_bit_cast(std::int64_t, kRoundToInteger);
}

// The magnitude of a number as an integer with the same order; infinity and NaN are above all
// finite numbers. The largest magnitude of many numbers then does not depend on their order either.
BOSQUET_INLINE std::uint64_t magnitude_bits(double value) {
    return __builtin_bit_cast(std::uint64_t, value) & 0x7fffffffffffffff;
}
BOSQUET_INLINE std::uint32_t magnitude_bits(float value) {
    return __builtin_bit_cast(std::uint32_t, value) & 0x7fffffffu;
}

}  // namespace bosquet
