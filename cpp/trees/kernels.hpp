// Evaluates a tree by operations on lines of bytes: 128 rows at a time, every node is evaluated,
// without branches.
//
// A line holds one byte for each of 128 rows. A split compares a line of codes with a bound and
// picks, for each row, the byte from the line of its left or right child. Leaves are lines filled
// with their own number. Evaluated bottom-up, the line of the root holds for each row the number of
// its leaf. A vector instruction handles 16 to 64 rows, so that evaluating 62 nodes is faster than
// following eight or ten pointers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/isa.hpp"

namespace bosquet {

constexpr std::size_t kLineRows = 128;
constexpr std::size_t kMaxByteLeaves = 256;

// Offsets are in bytes, of a line among the codes of 128 rows or among the picks. The picks begin
// with one line per leaf number, followed by one per leaf-pair split and one per other split.
// Bounds and leaf numbers are repeated four times, so that one load fills a vector.

// A split whose children are both leaves: first_leaf and first_leaf + 1.
struct LeafPairSplit {
    std::uint32_t line;
    std::uint32_t bound;
    std::uint32_t first_leaf;
};

struct ByteSplit {
    std::uint32_t line;
    std::uint32_t bound;
    std::uint32_t left;  // offset in the picks
    std::uint32_t right;
};

// A categorical test, evaluated before the splits. It writes a line with -1 for the codes of the
// set and 0 for the others, which a split compares with -1.
struct CategoryTest {
    std::uint32_t line;
    std::uint32_t result;  // offset of the line to write
    std::uint8_t left_set[32];
};

struct ByteTree {
    const LeafPairSplit* leaf_pairs;
    const ByteSplit* splits;
    const CategoryTest* tests;
    const double* leaf_values;
    std::uint32_t leaf_pair_count;
    std::uint32_t split_count;
    std::uint32_t test_count;
};

constexpr std::size_t kPickLines = 2 * kMaxByteLeaves;
// The offset of the line of a split among the picks.
constexpr std::uint32_t pick_offset(std::size_t split) {
    return static_cast<std::uint32_t>((kMaxByteLeaves + split) * kLineRows);
}

struct TreeKernels {
    // Returns the line of leaf numbers for the 128 rows whose codes begin at `lines`. `picks` has
    // kPickLines lines, the first kMaxByteLeaves of which hold leaf numbers.
    const std::uint8_t* (*pick_leaves)(const ByteTree& tree, std::uint8_t* lines,
                                       std::uint8_t* picks);
    // Adds the values of the tree for these rows to `sums`.
    void (*add_tree)(const ByteTree& tree, std::uint8_t* lines, std::uint8_t* picks, double* sums);
    // Converts codes (0 for missing, otherwise 1 + rank) to a line that splits compare as signed
    // bytes, with missing values below or above all others.
    void (*place_missing_left)(const std::uint8_t* codes, std::uint8_t* line);
    void (*place_missing_right)(const std::uint8_t* codes, std::uint8_t* line);
};
BOSQUET_DECLARE_KERNELS(TreeKernels, tree_kernels)

}  // namespace bosquet
