// What an ensemble says of many rows.
//
// The same bits come out whatever the number of threads, the instruction set and the number of rows
// asked for at once: every row adds its trees in their order, starting from the base.
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

// out[row * outputs + k]: the sum of the trees, and of the base if they begin with the first tree.
void predict(const Ensemble& ensemble, const Table& table, const PredictOptions& options,
             double* out);

// out[row * (last - first) + t]: the number of the node that is the row's leaf in tree first + t.
void apply(const Ensemble& ensemble, const Table& table, const PredictOptions& options,
           std::int32_t* out);

}  // namespace bosquet
