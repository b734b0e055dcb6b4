// Exponential and logarithm as additions and multiplications: every instruction set, vector width
// and C library gives the same bits, and loops over them vectorise.
#pragma once

#include <bit>
#include <cstdint>

namespace bosquet {

#define BOSQUET_INLINE [[gnu::always_inline]] inline

constexpr double kRoundToInteger = 0x1.8p52;  // x + this - this rounds x to the nearest integer

// Relative error below 3e-16 on [-708, 708]; arguments outside are clipped to that interval.
BOSQUET_INLINE double portable_exp(double x) {
    x = x < -708.0 ? -708.0 : x;
    x = x > 708.0 ? 708.0 : x;
    double shifted = x * 0x1.71547652b82fep0 + kRoundToInteger;
    double k = shifted - kRoundToInteger;
    double r = (x - k * 0x1.62e42fee00000p-1) - k * 0x1.a39ef35793c76p-33;
    double p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    std::int64_t exponent = std::bit_cast<std::int64_t>(shifted);  // k is in the low bits
    std::int64_t scale = (exponent + 1023) << 52;
    return p * std::bit_cast<double>(scale);
}

// Converts an integer in [0, 2^52) to a double with operations that every vector unit has.
BOSQUET_INLINE double small_to_double(std::uint64_t value) {
    return std::bit_cast<double>(value | 0x4330000000000000) - 0x1p52;
}

// For positive normal x. The error is below 4e-16, relative away from 1 and absolute near 1.
BOSQUET_INLINE double portable_log(double x) {
    auto bits = std::bit_cast<std::uint64_t>(x);
    // The biased exponent (plus 1023) for which the mantissa lies in [sqrt(1/2), sqrt(2)).
    std::uint64_t exponent = (bits - 0x3fe6a09e667f3bcd + 0x3ff0000000000000) >> 52;
    double m = std::bit_cast<double>(bits - ((exponent - 1023) << 52));
    double s = (m - 1.0) / (m + 1.0);
    double z = s * s;
    double p = 1.0 / 21.0;
    p = p * z + 1.0 / 19.0;
    p = p * z + 1.0 / 17.0;
    p = p * z + 1.0 / 15.0;
    p = p * z + 1.0 / 13.0;
    p = p * z + 1.0 / 11.0;
    p = p * z + 1.0 / 9.0;
    p = p * z + 1.0 / 7.0;
    p = p * z + 1.0 / 5.0;
    p = p * z + 1.0 / 3.0;
    p = p * z;
    double e = small_to_double(exponent) - 1023.0;
    return e * 0x1.62e42fefa39efp-1 + (2.0 * s + 2.0 * s * p);
}

BOSQUET_INLINE double exact_sigmoid(double x) { return 1.0 / (1.0 + portable_exp(-x)); }

// log(1 + e^x) without overflow.
BOSQUET_INLINE double softplus(double x) {
    double negative = x < 0 ? x : -x;
    double e = portable_exp(negative);
    // The series of log1p(e) for small e, where 1 + e would lose the low digits of e.
    double tail = e < 1e-5 ? e - e * e / 2 + e * e * e / 3 : portable_log(1.0 + e);
    return (x > 0 ? x : 0.0) + tail;
}

}  // namespace bosquet
