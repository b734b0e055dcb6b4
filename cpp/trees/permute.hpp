// Where rows end up in a tree when the values of one feature are permuted among them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/table.hpp"
#include "trees/tree.hpp"

namespace bosquet {

struct PermutedLeaves {
    std::vector<std::uint32_t> features;  // those the tree uses, ascending
    // Leaves of the rows as they are, then with each of the features permuted.
    std::vector<std::int32_t> leaves;
};

// `rows` of the table; the permutation of a feature is a draw of (key, feature).
PermutedLeaves permuted_leaves(const Ensemble& ensemble, const Tree& tree, const Table& table,
                               std::span<const std::uint32_t> rows, std::uint64_t key);

}  // namespace bosquet
