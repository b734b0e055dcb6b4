// A tree as operations on lines of bytes: 128 rows at a time, every node looked at, no branch
// taken.
//
// Each line holds one byte for each of 128 rows. A split compares a line of codes with a bound and
// picks, row by row, from the lines of its two children; leaves are lines of their own number.
// Worked off from the bottom up, the root's line holds for each row the number of the leaf it
// reaches. A vector instruction does 16 to 64 rows of this, so looking at 62 nodes costs less than
// following eight or ten pointers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/isa.hpp"

namespace bosquet {

constexpr std::size_t kLineRows = 128;
constexpr std::size_t kMaxByteLeaves = 256;

// Offsets are in bytes: of a line among the codes of 128 rows, or among the picks. The picks begin
// with a line for each leaf number, followed by one for each twin split, then one for each split.
// Bounds and leaf numbers are repeated four times: one load then fills a vector.

// A split whose children are the leaves first_leaf and first_leaf + 1.
struct TwinSplit {
    std::uint32_t line;
    std::uint32_t bound;
    std::uint32_t first_leaf;
};

struct ByteSplit {
    std::uint32_t line;
    std::uint32_t bound;
    std::uint32_t left;  // in picks
    std::uint32_t right;
};

// A categorical test, done before the splits: writes a line that says -1 for the codes of the set
// and 0 for the others, for a split to compare with -1.
struct CategoryTest {
    std::uint32_t line;
    std::uint32_t answer;  // offset of the line to write
    std::uint8_t left_set[32];
};

struct ByteTree {
    const TwinSplit* twins;
    const ByteSplit* splits;
    const CategoryTest* tests;
    const double* leaf_values;
    std::uint32_t twin_count;
    std::uint32_t split_count;
    std::uint32_t test_count;
};

constexpr std::size_t kPickLines = 2 * kMaxByteLeaves;
// Where the line of a twin split or split is among the picks.
constexpr std::uint32_t pick_offset(std::size_t split) {
    return static_cast<std::uint32_t>((kMaxByteLeaves + split) * kLineRows);
}

struct TreeKernels {
    // The line of leaf numbers that the 128 rows whose codes begin at `lines` reach. `picks` are
    // kPickLines lines, of which the first kMaxByteLeaves hold leaf numbers.
    const std::uint8_t* (*pick_leaves)(const ByteTree& tree, std::uint8_t* lines,
                                       std::uint8_t* picks);
    // Adds the tree's values for these rows to `sums`.
    void (*add_tree)(const ByteTree& tree, std::uint8_t* lines, std::uint8_t* picks, double* sums);
    // From codes (0 missing, else 1 + rank) to a line that splits compare as signed bytes, with
    // missing below everything or above everything.
    void (*place_missing_left)(const std::uint8_t* codes, std::uint8_t* line);
    void (*place_missing_right)(const std::uint8_t* codes, std::uint8_t* line);
};
BOSQUET_DECLARE_KERNELS(TreeKernels, tree_kernels)

}  // namespace bosquet
