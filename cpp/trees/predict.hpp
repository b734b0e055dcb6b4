// Predictions of an ensemble for many rows.
//
// The result has the same bits for any number of threads, any instruction set and any number of
// rows per call: the trees of every row are added in their order, starting from the base.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/isa.hpp"
#include "data/table.hpp"
#include "trees/tree.hpp"

namespace bosquet {

struct PredictOptions {
    std::size_t first = 0;  // trees [first, last)
    std::size_t last = 0;
    int threads = 1;  // at most; small work is done on the calling thread
    Isa isa = Isa::baseline;
};

// out[row * outputs + k]: the sum of the trees, plus the base if `first` is 0.
void predict(const Ensemble& ensemble, const Table& table, const PredictOptions& options,
             double* out);

// out[row * (last - first) + t]: the node number of the leaf that the row reaches in tree first +
// t.
void apply(const Ensemble& ensemble, const Table& table, const PredictOptions& options,
           std::int32_t* out);

}  // namespace bosquet
