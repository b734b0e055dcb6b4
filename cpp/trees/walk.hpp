// Walking rows down trees, node by node.
//
// A step waits for two loads that depend on each other, so one walk alone leaves the processor idle
// most of the time: several walks go side by side, without branches.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "trees/tree.hpp"

namespace bosquet {

// The leaf that a row of doubles reaches, as one would write it down: NaN is missing, categories
// are codes, and a code that the model does not know is missing too. The fast ways are held to this
// one.
std::uint32_t leaf_of(const Ensemble& ensemble, const Tree& tree, const double* row);

// A row to be walked has two places a feature: the value, whose NaN is below no threshold and goes
// right, and the value with -inf for NaN, which goes left. A node's tag turned round by a bit is
// the place to read, so that a step need not ask about missing values.
constexpr std::size_t walked_size(std::size_t features) { return 2 * features + 1; }
inline void put_walked(double* row, std::size_t feature, double value) {
    row[2 * feature] = value;
    row[2 * feature + 1] = value == value ? value : -std::numeric_limits<double>::infinity();
}

// The leaves of `count` rows to be walked in one tree; row i begins at rows + i * stride.
void leaves_of_rows(const Ensemble& ensemble, const Tree& tree, const double* rows,
                    std::size_t stride, std::size_t count, std::uint32_t* leaves);

// A node of a tree that is walked on codes: lines of 128 signed bytes, one for each of 128 rows
// (trees/kernels.hpp).
struct CodedNode {
    std::uint32_t left = 0;   // left child; a leaf names itself
    std::uint16_t line = 0;   // number of the line to read
    std::int8_t bound = 127;  // codes above it go right; no code is above a leaf's
    std::uint8_t is_split = 0;
};

// The leaves of the 128 rows whose codes begin at `lines`; row i starts from roots[starts[i]].
void leaves_of_lines(const CodedNode* nodes, const std::uint32_t* roots, const std::uint8_t* starts,
                     const std::uint8_t* lines, std::uint32_t* leaves);

// Adds the trees [first, last), walked by one row, to `out`, which has one number an output.
void add_trees(const Ensemble& ensemble, const double* row, std::size_t first, std::size_t last,
               double* out);

}  // namespace bosquet
