// Converts weights to integers whose sums are exact.
//
// Sums of integers do not depend on their order: threads may process any share of the rows, equal
// weights stay equal, and two splits tie only if they really have the same gain. The unit is a
// power of two for which the sum of all rows, each rounded, stays below 2^62. A weight of more than
// 1/512 of the total keeps all its digits, and a smaller one loses what a sum in double precision
// would lose.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "parallel/team.hpp"

namespace bosquet {

// The number of units per 1 for numbers whose absolute values have this sum.
double units_per_one(double sum, std::size_t rows);

// Rounds to the nearest integer, ties to even.
[[gnu::always_inline]] inline std::int64_t in_units(double value, double per_one) {
    return std::llrint(value * per_one);
}

// The sum of the weights, over fixed blocks of rows. Throws InputError unless all are finite and
// not negative, and at least one is positive.
double checked_sum(std::span<const double> weights, Team& team);

// Throws InputError unless all targets are -1 or 1.
void check_signs(std::span<const double> target);

// The sums of w |y| and w y^2, over fixed blocks of rows. Throws InputError unless they are finite.
struct ResponseSums {
    double absolute = 0, squares = 0;
};
ResponseSums response_sums(std::span<const double> target, std::span<const double> weights,
                           Team& team);

}  // namespace bosquet
