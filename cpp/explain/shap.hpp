// Shapley values of an ensemble's raw predictions, exact.
//
// The same bits come out whatever the number of threads and the instruction set: a row adds its
// trees, and of each tree the background rows, in their order.
#pragma once

#include <cstddef>

#include "base/isa.hpp"
#include "data/table.hpp"
#include "trees/tree.hpp"

namespace bosquet {

struct ShapOptions {
    // Null: a feature that is not known is replaced by the shares of training rows below each split
    // (path-dependent). Else by the values of each of these rows in turn (interventional).
    const Table* background = nullptr;
    bool interactions = false;
    int threads = 1;
    Isa isa = Isa::baseline;
};

// out[row][feature][output], or with interactions out[row][feature][feature][output]: half of what
// two features do together at each of their two places, and on the diagonal what is left of the
// feature's value. base[output]: the prediction when no feature is known.
void shap_values(const Ensemble& ensemble, const Table& rows, const ShapOptions& options,
                 double* out, double* base);

}  // namespace bosquet
