#include "stump/units.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace bosquet {

namespace {

constexpr std::size_t kLanes = 8;

double total_of(const double* lanes) {
    return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
           ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

// The sum of term(i) over rows, in lanes, so that it does not depend on the vector width.
template <class Term>
[[gnu::always_inline]] inline double lane_sum(Range rows, Term term) {
    double lanes[kLanes] = {};
    std::size_t i = rows.begin;
    for (; i + kLanes <= rows.end; i += kLanes)
        for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += term(i + lane);
    for (std::size_t lane = 0; i < rows.end; ++i, ++lane) lanes[lane] += term(i);
    return total_of(lanes);
}

// The sum of the block sums, in the order of the blocks.
template <class OfBlock>
double sum_of_blocks(std::size_t rows, Team& team, OfBlock of_block) {
    std::vector<double> sums(block_count(rows));
    team.run(sums.size(), [&](std::size_t index, int) { sums[index] = of_block(index); });
    double total = 0;
    for (double sum : sums) total += sum;
    return total;
}

}  // namespace

double units_per_one(double sum, std::size_t rows) {
    if (!(sum > 0)) return 1;
    // Sums just above and just below a power of two get the same unit.
    double limit = (0x1p62 - static_cast<double>(rows)) * (1 - 1e-9);
    int exponent = std::ilogb(limit) - std::ilogb(sum) - 1;
    if (std::ldexp(sum, exponent + 1) <= limit) ++exponent;
    return std::ldexp(1.0, std::min(exponent, 1023));
}

double checked_sum(std::span<const double> weights, Team& team) {
    auto is_bad = [&](std::size_t i) { return !(weights[i] >= 0); };
    double sum = sum_of_blocks(weights.size(), team, [&](std::size_t index) {
        Range rows = block_range(weights.size(), index);
        bool bad = false;
        for (std::size_t i = rows.begin; i < rows.end; ++i) bad |= is_bad(i);
        if (bad) {
            std::size_t row = rows.begin;
            while (!is_bad(row)) ++row;
            throw InputError("weights must not be negative or NaN, but the weight of row " +
                             std::to_string(row) + " is " + std::to_string(weights[row]));
        }
        return lane_sum(rows, [&](std::size_t i) { return weights[i]; });
    });
    if (!std::isfinite(sum))
        throw InputError("the sum of the weights is not finite; pass finite, smaller weights");
    if (!(sum > 0))
        throw InputError("all weights are 0; at least one row must have a positive weight");
    return sum;
}

void check_signs(std::span<const double> target) {
    bool bad = false;
    for (double sign : target) bad |= !(sign * sign == 1);
    if (!bad) return;
    std::size_t row = 0;
    while (target[row] * target[row] == 1) ++row;
    throw InputError("targets must be -1 or 1, but the target of row " + std::to_string(row) +
                     " is " + std::to_string(target[row]));
}

ResponseSums response_sums(std::span<const double> target, std::span<const double> weights,
                           Team& team) {
    std::size_t rows = target.size();
    ResponseSums sums;
    sums.absolute = sum_of_blocks(rows, team, [&](std::size_t index) {
        return lane_sum(block_range(rows, index),
                        [&](std::size_t i) { return weights[i] * std::abs(target[i]); });
    });
    sums.squares = sum_of_blocks(rows, team, [&](std::size_t index) {
        return lane_sum(block_range(rows, index),
                        [&](std::size_t i) { return weights[i] * target[i] * target[i]; });
    });
    if (!std::isfinite(sums.absolute) || !std::isfinite(sums.squares))
        throw InputError(
            "targets and the sum of their weighted squares must be finite; rescale the targets");
    return sums;
}

}  // namespace bosquet
