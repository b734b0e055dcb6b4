// From real gradients to integers whose sums cannot overflow.
//
// A packed sum has 31 bits for each half. The unit is the smallest power of two for which the sum
// of the absolute values of all rows, each rounded, stays below 2^31: whatever rows a node or a bin
// holds, its sum is smaller. Bits therefore follow from the sums and not from the largest row: one
// row a million times the others costs one bit, not twenty.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/isa.hpp"
#include "grow/kernels.hpp"
#include "grow/split.hpp"
#include "losses/kernels.hpp"

namespace bosquet {

// Of a block of rows; sums in eight lanes, so that their bits do not depend on the vectors' width.
struct PairSums {
    double absolute_g = 0;
    double h = 0;
    float least_h = 0, greatest_h = 0;
};

struct QuantiseKernels {
    PairSums (*sums)(const GradientPair* pairs, std::size_t count);
    void (*quantise)(const GradientPair* pairs, std::size_t count, double per_gradient,
                     double per_hessian, Packed* out);
};
BOSQUET_DECLARE_KERNELS(QuantiseKernels, quantise_kernels)

// Why a round cannot go on with gradients that are not finite, or hessians below 0.
constexpr const char* kBadGradients =
    "gradients must be finite and hessians not negative: targets, weights or raw predictions are "
    "too large for the loss";

// The units for gradients with these sums. Where every row has the same hessian it becomes 1, so
// that a sum of hessians is a count.
GradientScale scale_for(const PairSums& sums, std::size_t rows);

}  // namespace bosquet
