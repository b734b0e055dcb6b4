// The inner loops of searching and boosting stumps.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/isa.hpp"

namespace bosquet {

// The greatest and the least of the sums of the first n rows, n in 1..count-1, at the ends of
// values; where several n have it, the first. There is none if n is 0.
struct SumExtremes {
    std::int64_t most = 0, least = 0;
    std::uint32_t most_at = 0, least_at = 0;
};

// What a round does to a row, by 2 * (it is on the right) + (its class is negative): its weight is
// multiplied by `factor`, and `margin` is added to its margin y f(x).
struct StumpStep {
    double factor[4];
    double margin[4];
};

struct MovedRows {
    std::int64_t response = 0;  // sum of the new weights in units, with the sign of the class
    std::int64_t weight = 0;    // sum of the new weights in units
    std::size_t wrong = 0;      // rows that the vote now has wrong
};

struct StumpKernels {
    // `order` is a RowOrder's; `distinct` says that every row is the last of its value.
    SumExtremes (*extremes)(const std::uint32_t* order, std::size_t count, bool distinct,
                            const std::int64_t* response);
    // One round's step; a weight has the sign of its row's class, and so have the units written to
    // `response`.
    MovedRows (*move_rows)(const std::uint8_t* right, std::size_t count, const StumpStep& step,
                           double per_one, double* weights, double* margins,
                           std::int64_t* response);
    // out[i] = exp(-margins[i])
    void (*exponentials)(const double* margins, std::size_t count, double* out);
};
BOSQUET_DECLARE_KERNELS(StumpKernels, stump_kernels)

}  // namespace bosquet
