// Walks rows down trees, node by node.
//
// Each step waits for two dependent loads, so that a single walk leaves the processor idle most of
// the time. Several walks therefore run side by side, without branches.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "trees/tree.hpp"

namespace bosquet {

// The leaf that a row of doubles reaches, in the most direct implementation. NaN is missing,
// categories are codes, and a code that the model does not know is missing too. The fast
// implementations are tested against this one.
std::uint32_t leaf_of(const Ensemble& ensemble, const Tree& tree, const double* row);

// The format of rows for the functions below: two entries per feature. The first is the value; NaN
// is not below any threshold and goes right. The second has -inf instead of NaN, which goes left. A
// node's tag rotated by one bit is the index of the entry to read, so that no step has to check for
// missing values.
constexpr std::size_t walked_size(std::size_t features) { return 2 * features + 1; }
inline void put_walked(double* row, std::size_t feature, double value) {
    row[2 * feature] = value;
    row[2 * feature + 1] = value == value ? value : -std::numeric_limits<double>::infinity();
}

// The leaves of `count` rows in one tree; row i begins at rows + i * stride.
void leaves_of_rows(const Ensemble& ensemble, const Tree& tree, const double* rows,
                    std::size_t stride, std::size_t count, std::uint32_t* leaves);

// A node of a tree that is walked on codes: lines of signed bytes, one for each of 128 rows
// (trees/kernels.hpp).
struct CodedNode {
    std::uint32_t left = 0;   // left child; for a leaf, its own number
    std::uint16_t line = 0;   // index of the line to read
    std::int8_t bound = 127;  // larger codes go right; no code is larger than the bound of a leaf
    std::uint8_t is_split = 0;
};

// The leaves of the 128 rows whose codes begin at `lines`; row i starts at node roots[starts[i]].
void leaves_of_lines(const CodedNode* nodes, const std::uint32_t* roots, const std::uint8_t* starts,
                     const std::uint8_t* lines, std::uint32_t* leaves);

// Adds the values of trees [first, last) for one row to `out`, which has one number per output.
void add_trees(const Ensemble& ensemble, const double* row, std::size_t first, std::size_t last,
               double* out);

}  // namespace bosquet
