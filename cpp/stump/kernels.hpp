// The inner loops of searching and boosting stumps.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/isa.hpp"

namespace bosquet {

// Rows are taken in runs so short that what was written of a run is still in the cache when it is
// added up.
constexpr std::size_t kRunRows = 2048;

// Rows of a run, by the sign of what they count for, numbered from the first of the run.
struct RowsBySign {
    static constexpr std::size_t kSlack = 16;  // that whoever reads ahead may touch

    std::uint32_t rows[2][kRunRows + kSlack] = {};  // positive ones, negative ones
    std::size_t count[2] = {0, 0};
};

// What a round does to a row, by 2 * (it is on the right) + (its class is negative): its weight is
// multiplied by `factor`, and `margin` is added to its margin y f(x). A factor of 1 leaves the
// weight as it is.
struct StumpStep {
    double factor[4];
    double margin[4];
};

struct MovedRows {
    std::int64_t response = 0;  // by how much the sum of signed weights changed, in units
    std::int64_t weight = 0;    // by how much the sum of weights changed, in units
    std::size_t wrong = 0;      // rows that the vote now has wrong
};

// Buckets of equal width for values between two finite ones: a value's bucket is that of its
// distance from the lowest, and never before that of a lower value.
struct BucketScale {
    double low = 0, high = 0;
    double per_one = 0;       // buckets to half a unit of value: a difference may not be a double
    std::uint16_t count = 1;  // of buckets; that number itself is for missing values
};

struct StumpKernels {
    // One round's step. A weight has the sign of its row's class; `response` gets it in units,
    // `change` by how much that changed, and `changed` the rows whose factor is not 1.
    MovedRows (*move_rows)(const std::uint8_t* right, std::size_t count, const StumpStep& step,
                           double per_one, double* weights, double* margins, std::int64_t* response,
                           std::int64_t* change, RowsBySign& changed);
    // right[i] = 1 unless bins[i] is in 1..last, or is 0 and missing values go left. With missing
    // values on the right, `last` is at least 1.
    void (*sides_of_bins)(const std::uint8_t* bins, std::size_t count, std::uint8_t last,
                          bool missing_left, std::uint8_t* right);
    // The least and the greatest finite value, into `scale`; returns whether a value is missing.
    bool (*find_range)(const double* values, std::size_t count, BucketScale& scale);
    // out[i] is the bucket of values[i]; infinite values go with the outermost finite ones.
    void (*put_into_buckets)(const double* values, std::size_t count, const BucketScale& scale,
                             std::uint16_t* out);
    // out[i] = exp(-margins[i])
    void (*exponentials)(const double* margins, std::size_t count, double* out);
};
BOSQUET_DECLARE_KERNELS(StumpKernels, stump_kernels)

}  // namespace bosquet
