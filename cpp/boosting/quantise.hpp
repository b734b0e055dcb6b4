// Converts gradients to integers whose sums cannot overflow.
//
// A packed sum has 31 bits for each half. The unit is the smallest power of two for which the sum
// of the absolute values of all rows, each rounded, stays below 2^31. The sum over the rows of any
// node or bin is smaller. The resolution therefore depends on the sum and not on the largest row: a
// row that is a million times larger than the others costs one bit, not twenty.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/isa.hpp"
#include "grow/kernels.hpp"
#include "grow/split.hpp"
#include "losses/kernels.hpp"

namespace bosquet {

// Sums over a block of rows, in eight lanes, so that their bits do not depend on the vector width.
struct GradientSums {
    double absolute_g = 0;
    double h = 0;
    float min_h = 0, max_h = 0;
};

struct QuantiseKernels {
    GradientSums (*sums)(const GradientPair* pairs, std::size_t count);
    double (*squared_gradients)(const GradientPair* pairs, std::size_t count);
    void (*quantise)(const GradientPair* pairs, std::size_t count, double per_gradient,
                     double per_hessian, Packed* out);
};
BOSQUET_DECLARE_KERNELS(QuantiseKernels, quantise_kernels)

// The message for gradients that are not finite and for negative Hessians.
constexpr const char* kBadGradients =
    "gradients must be finite and Hessians non-negative, but targets, weights or raw predictions "
    "are too large; rescale the target or the weights, or lower learning_rate";

// Returns the units for gradients with these sums. If every row has the same Hessian, it becomes 1,
// so that a sum of Hessians is a count.
GradientScale scale_for(const GradientSums& sums, std::size_t rows);

}  // namespace bosquet
