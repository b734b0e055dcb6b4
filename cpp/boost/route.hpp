// Sends binned rows down a tree that was grown on other rows.
#pragma once

#include <cstdint>
#include <span>

#include "data/binned.hpp"
#include "grow/grower.hpp"

namespace bosquet {

// leaf_of_row[row] = leaf_of_node[the leaf that row reaches]
void route_rows(const GrownTree& grown, const BinnedMatrix& matrix, Range rows,
                std::span<const std::uint16_t> leaf_of_node, std::uint16_t* leaf_of_row);

}  // namespace bosquet
