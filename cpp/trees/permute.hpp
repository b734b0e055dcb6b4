// The leaves that rows reach in a tree if the values of one feature are permuted among them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/table.hpp"
#include "trees/tree.hpp"

namespace bosquet {

struct PermutedLeaves {
    std::vector<std::uint32_t> features;  // the features that the tree uses, ascending
    // The leaves of the rows with their own values, then with each of the features permuted.
    std::vector<std::int32_t> leaves;
};

// Uses only `rows` of the table. The permutation of a feature depends on (key, feature).
PermutedLeaves permute_leaves(const Ensemble& ensemble, const Tree& tree, const Table& table,
                              std::span<const std::uint32_t> rows, std::uint64_t key);

}  // namespace bosquet
