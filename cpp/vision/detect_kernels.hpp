// The inner loops of a detector: resizing rows, integrating rows, and evaluating rows of windows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/isa.hpp"

namespace bosquet {

// A node of a tree: the weighted sum of up to three boxes, each from four corners of an integral
// image, is compared with a threshold.
struct ScanNode {
    std::int32_t
        corner_offsets[3][4];  // offsets of the corners from the window's first entry of the sums
    float weight[3];           // the third is 0 if there are two boxes
    float threshold;
    std::int32_t left,
        right;  // positive: a later node of the tree; otherwise minus the number of a leaf
};

struct ScanTree {
    std::uint32_t node_begin, node_count, leaf_begin;
};

struct ScanStage {
    std::uint32_t tree_begin, tree_count;
    std::uint32_t stumps;  // 1: every tree is a stump, with its left leaf first
    float threshold;
};

struct ScanCascade {
    const ScanNode* nodes;
    const float* leaves;
    const ScanTree* trees;
    const ScanStage* stages;
    std::uint32_t stage_count;
    std::int32_t frame[4];  // corners of the window without one pixel on each side
    std::int32_t squares;   // entries from the sums to the sums of squares
    double area;            // area of that frame
};

// A window that passed `depth` stages, and the sum of the last stage that was evaluated.
struct RowHit {
    std::uint32_t index, depth;
    double sum;
};

struct DetectKernels {
    // out = above · upper + below · lower; the two weights sum to 256.
    void (*blend_rows)(const std::uint8_t* above, const std::uint8_t* below, std::uint32_t upper,
                       std::uint32_t lower, std::size_t width, std::uint16_t* out);
    // out[i] = row[at[i]] · (pair & 65535) + row[at[i] + 1] · (pair >> 16), rounded from 16
    // fractional bits. Reads one entry past the last.
    void (*resample_row)(const std::uint16_t* row, const std::int32_t* at,
                         const std::uint32_t* pairs, std::size_t width, std::uint8_t* out);
    // Updates a row of an integral image, and of that of the squares, to the next row. Both have
    // one entry more than there are pixels.
    void (*integrate_row)(const std::uint8_t* pixels, std::size_t width, std::uint32_t* sums,
                          std::uint32_t* squares);
    // Computes the next row of a tilted integral image from the two rows above it and the two rows
    // of pixels.
    void (*tilt_row)(const std::uint8_t* pixels, const std::uint8_t* pixels_above,
                     std::size_t width, const std::uint32_t* above,
                     const std::uint32_t* twice_above, std::uint32_t* out);
    // Copies even columns to `even` and odd columns to `odd`.
    void (*split_columns)(const std::uint32_t* row, std::size_t entries, std::uint32_t* even,
                          std::uint32_t* odd);
    // Evaluates windows 0 to count - 1, whose first entries are contiguous from `row` on. If the
    // first stage rejects a window, the next one is skipped (as in OpenCV). Writes the windows that
    // pass at least `min_depth` stages in order and returns their number; adds the number of
    // evaluated windows to `visited`. Reads up to one vector past the last window.
    std::size_t (*scan_row)(const ScanCascade& cascade, const std::int32_t* row, std::size_t count,
                            std::uint32_t min_depth, RowHit* out, std::uint64_t* visited);
};
BOSQUET_DECLARE_KERNELS(DetectKernels, detect_kernels)

}  // namespace bosquet
