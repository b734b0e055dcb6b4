// Exact Shapley values of an ensemble's raw predictions.
//
// The result has the same bits for any number of threads and any instruction set: for each row the
// trees, and for each tree the background rows, are added in their order.
#pragma once

#include <cstddef>

#include "base/isa.hpp"
#include "data/table.hpp"
#include "trees/tree.hpp"

namespace bosquet {

struct ShapOptions {
    // nullptr: an unknown feature is averaged out with the shares of training rows below each split
    // (path-dependent). Otherwise it is replaced by the values of each of these rows in turn
    // (interventional).
    const Table* background = nullptr;
    bool interactions = false;
    int threads = 1;
    Isa isa = Isa::baseline;
};

// out[row][feature][output], or with interactions out[row][feature][feature][output]: each of the
// two entries of a pair holds half of their interaction, and the diagonal the rest of the value of
// the feature. base[output]: the prediction if no feature is known.
void shap_values(const Ensemble& ensemble, const Table& rows, const ShapOptions& options,
                 double* out, double* base);

}  // namespace bosquet
