// From real weights to integers whose sums are exact.
//
// Sums of integers do not depend on their order, so threads may take any share of the rows, equal
// weights stay equal, and two splits tie when they really do. The unit is a power of two for which
// the sum of all rows, each rounded, stays below 2^62: a weight of more than a 512th of the whole
// keeps every digit it has, and a lighter one loses what the double precision sum would lose.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "parallel/team.hpp"

namespace bosquet {

// How many units 1 is worth for numbers whose absolute values have this sum.
double units_per_one(double sum, std::size_t rows);

// To the nearest, ties to even.
[[gnu::always_inline]] inline std::int64_t in_units(double value, double per_one) {
    return std::llrint(value * per_one);
}

// Their sum, over fixed blocks of rows; an InputError unless all are finite and at least 0, and one
// is above.
double checked_sum(std::span<const double> weights, Team& team);

// An InputError unless all are -1 or 1.
void check_signs(std::span<const double> target);

// Sums of w |y| and w y^2, over fixed blocks of rows; an InputError unless they are finite.
struct ResponseSums {
    double absolute = 0, squares = 0;
};
ResponseSums response_sums(std::span<const double> target, std::span<const double> weights,
                           Team& team);

}  // namespace bosquet
