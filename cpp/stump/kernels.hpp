// The inner loops of searching and boosting stumps.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/isa.hpp"

namespace bosquet {

// Rows are processed in runs that are short enough to stay in the cache until they are summed.
constexpr std::size_t kRunRows = 2048;

// The rows of a run by the sign of their response, numbered from the first row of the run.
struct RowsBySign {
    static constexpr std::size_t kSlack = 16;  // entries that may be prefetched past the end

    std::uint32_t rows[2][kRunRows + kSlack] = {};  // positive rows, negative rows
    std::size_t count[2] = {0, 0};
};

// The update of a round for a row, by 2 * (it is on the right) + (its class is negative): its
// weight is multiplied by `factor`, and `margin` is added to its margin y f(x). A factor of 1 does
// not change the weight.
struct StumpStep {
    double factor[4];
    double margin[4];
};

struct MovedRows {
    std::int64_t response = 0;  // change of the sum of signed weights, in units
    std::int64_t weight = 0;    // change of the sum of weights, in units
    std::size_t wrong = 0;      // number of rows that are now misclassified
};

// Buckets of equal width between two finite values. The bucket of a value follows from its distance
// to the lowest value; a lower value never has a later bucket.
struct BucketScale {
    double low = 0, high = 0;
    // Buckets per half unit of value (halved, so that differences do not overflow).
    double per_one = 0;
    std::uint16_t count = 1;  // number of buckets; bucket `count` is for missing values
};

struct StumpKernels {
    // The update of one round. A weight has the sign of its row's class. `response` receives it in
    // units, `change` its change, and `changed` the rows whose factor is not 1.
    MovedRows (*move_rows)(const std::uint8_t* right, std::size_t count, const StumpStep& step,
                           double per_one, double* weights, double* margins, std::int64_t* response,
                           std::int64_t* change, RowsBySign& changed);
    // right[i] = 1 unless bins[i] is in 1..last, or is 0 and missing values go left. If missing
    // values go right, `last` is at least 1.
    void (*sides_of_bins)(const std::uint8_t* bins, std::size_t count, std::uint8_t last,
                          bool missing_left, std::uint8_t* right);
    // Stores the smallest and the largest finite value in `scale`; returns whether a value is
    // missing.
    bool (*find_range)(const double* values, std::size_t count, BucketScale& scale);
    // out[i] is the bucket of values[i]; infinite values get the outermost buckets.
    void (*find_buckets)(const double* values, std::size_t count, const BucketScale& scale,
                         std::uint16_t* out);
    // out[i] = exp(-margins[i])
    void (*exponentials)(const double* margins, std::size_t count, double* out);
};
BOSQUET_DECLARE_KERNELS(StumpKernels, stump_kernels)

}  // namespace bosquet
