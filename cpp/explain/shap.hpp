// Exact Shapley values of an ensemble's raw predictions.
//
// The result has the same bits for any number of threads and any instruction set: for each row the
// trees, and for each tree the background rows, are added in their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

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
    // The player of each feature; features of one player are known or unknown together. Empty:
    // every feature is a player of its own.
    std::span<const std::uint32_t> player_of = {};
    std::size_t players = 0;  // the number of players, if player_of is not empty
    int threads = 1;
    Isa isa = Isa::baseline;
};

// out[row][player][output], or with interactions out[row][player][player][output]: each of the two
// entries of a pair holds half of their interaction, and the diagonal the rest of the value of the
// player. base[output]: the prediction if no feature is known.
void shap_values(const Ensemble& ensemble, const Table& rows, const ShapOptions& options,
                 double* out, double* base);

}  // namespace bosquet
