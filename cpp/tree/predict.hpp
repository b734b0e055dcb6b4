// What an ensemble says of rows it has not seen.
#pragma once

#include <cstdint>
#include <span>

#include "base/isa.hpp"
#include "data/table.hpp"
#include "parallel/team.hpp"
#include "tree/tree.hpp"

namespace bosquet {

// The leaf that a row of doubles reaches; NaN is missing, categories are codes.
std::uint32_t leaf_of(const Tree& tree, const double* row);

// Adds the trees [first, last) to out, row by row, `outputs` numbers a row. Starts from what is there.
void predict_row(const Ensemble& ensemble, const double* row, std::size_t first, std::size_t last,
                 double* out);

}  // namespace bosquet
