// Converts gradients to integers whose sums cannot overflow.
//
// A packed sum has 31 bits for each half. The unit is the smallest power of two for which the sum
// of the absolute values of all rows, each rounded, stays below 2^31. The sum over the rows of any
// node or bin is smaller. The resolution therefore depends on the sum and not on the largest row: a
// row that is a million times larger than the others costs one bit, not twenty.
//
// With very many rows, the unit is not much smaller than the gradients. Rounding to nearest would
// then turn all numbers below half a unit into 0. Stochastic rounding keeps the expected value of
// each number, so that only the noise of the sums increases.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/isa.hpp"
#include "grow/kernels.hpp"
#include "grow/split_finder.hpp"
#include "losses/kernels.hpp"

namespace bosquet {

enum class Rounding {
    nearest,    // ties to even
    stochastic  // up with the probability of the fraction, which a hash of the row number decides
};

// The maximum number of rows of all parts. Stochastic rounding adds at most one unit per row, so
// that half of the range of a packed sum remains for the numbers before rounding, and their mean is
// at least half a unit. With more rows, the unit of the sums from which scale_for computes the
// units (fixed_unit) could be above these.
constexpr std::uint64_t kMaxBoostedRows = std::uint64_t{1} << 30;

// The range of gradients and Hessians as ordered integers (magnitude_bits): their largest and
// smallest values do not depend on the order of the rows, and infinity and NaN are the largest.
struct GradientRange {
    std::uint32_t max_g = 0;
    std::uint32_t min_h = 0xffffffff, max_h = 0;  // a negative Hessian is above infinity

    void include(const GradientRange& other);
    // Throws InputError for numbers that are not finite and for negative Hessians.
    void check() const;
    float largest_g() const { return std::bit_cast<float>(max_g); }
    float smallest_h() const { return std::bit_cast<float>(min_h); }
    float largest_h() const { return std::bit_cast<float>(max_h); }
};

// Sums of absolute gradients and of Hessians, in multiples of a unit.
struct GradientMultiples {
    std::int64_t absolute_g = 0, h = 0;
};

struct QuantiseKernels {
    GradientRange (*range)(const GradientPair* pairs, std::size_t count);
    GradientMultiples (*sums)(const GradientPair* pairs, std::size_t count, double g_per_unit,
                              double h_per_unit);
    std::int64_t (*squared_gradients)(const GradientPair* pairs, std::size_t count,
                                      double per_unit);
    void (*quantise)(const GradientPair* pairs, std::size_t count, double per_gradient,
                     double per_hessian, PackedGradient* out);
    // With stochastic rounding of rows with consecutive numbers; `key` seeds the random numbers.
    void (*quantise_stochastically)(const GradientPair* pairs, std::size_t count,
                                    double per_gradient, double per_hessian, std::uint64_t key,
                                    std::uint64_t first_number, PackedGradient* out);
};
BOSQUET_DECLARE_KERNELS(QuantiseKernels, quantise_kernels)

// The message for gradients that are not finite and for negative Hessians.
constexpr const char* kBadGradients =
    "gradients must be finite and Hessians non-negative, but targets, weights or raw predictions "
    "are too large; rescale the target or the weights, or lower learning_rate";

// Returns the units for gradients of this range, whose absolute values have the sum `absolute_g`,
// and whose Hessians have the sum `h`. If every row has the same Hessian, it becomes 1, so that a
// sum of Hessians is a count.
GradientScale scale_for(const GradientRange& range, double absolute_g, double h, std::uint64_t rows,
                        Rounding rounding);

}  // namespace bosquet
