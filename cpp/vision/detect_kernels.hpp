// The inner loops of a detector: rows of smaller images, rows of integral images, and rows of
// windows through the stages of a cascade.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/isa.hpp"

namespace bosquet {

// A question to a window: the weighted sum of up to three boxes, each from the four corners of an
// integral image, against a threshold.
struct ScanNode {
    std::int32_t at[3][4];  // corners, counted from the window's first entry of the sums
    float weight[3];        // the third is 0 where there are two boxes
    float threshold;
    std::int32_t left, right;  // positive: a later node of the tree; otherwise minus a leaf
};

struct ScanTree {
    std::uint32_t node_begin, node_count, leaf_begin;
};

struct ScanStage {
    std::uint32_t tree_begin, tree_count;
    std::uint32_t stumps;  // 1: every tree is one question, its left leaf the first
    float threshold;
};

struct ScanCascade {
    const ScanNode* nodes;
    const float* leaves;
    const ScanTree* trees;
    const ScanStage* stages;
    std::uint32_t stage_count;
    std::int32_t frame[4];   // corners of the window less one pixel on each side
    std::int32_t squares;    // entries from the sums to the sums of squares
    double area;             // of that frame
};

// A window that went through `depth` stages, and the sum of the last stage that it was put to.
struct RowHit {
    std::uint32_t index, depth;
    double sum;
};

struct DetectKernels {
    // out = above · upper + below · lower; the two weights sum to 256.
    void (*blend_rows)(const std::uint8_t* above, const std::uint8_t* below, std::uint32_t upper,
                       std::uint32_t lower, std::size_t width, std::uint16_t* out);
    // out[i] = row[at[i]] · (pair & 65535) + row[at[i] + 1] · (pair >> 16), rounded from 16 bits
    // behind the point. One entry behind the last is read.
    void (*resample_row)(const std::uint16_t* row, const std::int32_t* at,
                         const std::uint32_t* pairs, std::size_t width, std::uint8_t* out);
    // Turns the row above of an integral image, and that of the squares, into the next one. They
    // have one entry more than pixels.
    void (*integrate_row)(const std::uint8_t* pixels, std::size_t width, std::uint32_t* sums,
                          std::uint32_t* squares);
    // The next row of a tilted integral image from the two above it and the two rows of pixels.
    void (*tilt_row)(const std::uint8_t* pixels, const std::uint8_t* pixels_above,
                     std::size_t width, const std::uint32_t* above, const std::uint32_t* twice_above,
                     std::uint32_t* out);
    // Even columns to the front, odd ones from `odd` on.
    void (*split_columns)(const std::uint32_t* row, std::size_t entries, std::uint32_t* even,
                          std::uint32_t* odd);
    // Puts windows 0 to count - 1, whose first entries lie side by side from `row` on, through the
    // cascade. A window that the first stage rejects takes the next one with it (OpenCV's rule).
    // Writes those that pass `min_depth` stages or more in order and returns how many; adds the
    // number of windows looked at to `visited`. Reads up to a vector behind the last window.
    std::size_t (*scan_row)(const ScanCascade& cascade, const std::int32_t* row, std::size_t count,
                            std::uint32_t min_depth, RowHit* out, std::uint64_t* visited);
};
BOSQUET_DECLARE_KERNELS(DetectKernels, detect_kernels)

}  // namespace bosquet
