// The inner loops of growing a tree.
//
// The gradient and the Hessian of a row are integers packed into one 64-bit word, g * 2^32 + h with
// h >= 0, so that one addition adds both. The caller makes sure that neither half overflows
// (boosting/quantise.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/isa.hpp"
#include "data/narrow_column.hpp"

namespace bosquet {

using PackedGradient = std::int64_t;
constexpr std::int32_t gradient_of(PackedGradient sum) {
    return static_cast<std::int32_t>(sum >> 32);
}
constexpr std::int32_t hessian_of(PackedGradient sum) { return static_cast<std::int32_t>(sum); }

// The rows of a node: row numbers at `rows`, or the run [first, first + count) if `rows` is
// nullptr.
struct RowSet {
    const std::uint32_t* rows;
    std::size_t first;
    std::size_t count;

    // The number of the i-th row.
    [[gnu::always_inline]] std::size_t row(std::size_t i) const {
        return rows != nullptr ? rows[i] : first + i;
    }
    RowSet part(std::size_t begin, std::size_t size) const {
        return rows != nullptr ? RowSet{rows + begin, 0, size}
                               : RowSet{nullptr, first + begin, size};
    }
};

// Values shared by the scans of all features of a node.
struct NodeScan {
    PackedGradient total;  // sums of the node
    double gradient_unit;  // the value of 1 in the upper half
    double hessian_unit;
    double l2;
    // G / (H + 2 l2): the gradient per unit of Hessian if the split made no difference.
    double mean;
    std::int32_t min_hessian;  // minimum of a child, in units; at least 1

    // For scores in single precision: `mean` and `l2` in the units of the histogram, and the
    // maximum error of the square root of a score: relative_error times the best root plus
    // absolute_error.
    float float_mean, float_l2;
    float relative_error, absolute_error;
};

// The first and the last bin after which a feature may be split.
struct BinRange {
    std::uint32_t first, last;
};

struct ScanResult {
    double score = -1;  // see split_score; negative: no admissible split
    std::uint32_t bin = 0;
    bool missing_left = false;
    PackedGradient left = 0;
};

// With a = H_L + l2, c = H_R + l2 and S = a + c,
//     G_L^2 / a + G_R^2 / c = (G_L - G a / S)^2 S / (a c) + G^2 / S.
// Only the first term depends on the split, and it has no cancellation of large terms. This
// function returns that term without its factor S; `mean` is G / S. All searches use this function,
// so that they compare the same bits.
[[gnu::always_inline]] inline double split_score(double left_g, double a, double c, double mean) {
    double t = left_g - mean * a;
    return t * t / (a * c);
}

struct GrowKernels {
    void (*tile_histogram)(const std::uint8_t* tile, std::uint32_t stride, std::uint32_t features,
                           RowSet rows, const PackedGradient* gradients, PackedGradient* histogram);
    void (*wide_histogram)(const std::uint16_t* column, RowSet rows,
                           const PackedGradient* gradients, PackedGradient* histogram);
    // a[i] += b[i]
    void (*add)(PackedGradient* a, const PackedGradient* b, std::size_t count);
    // a[i] -= b[i]
    void (*subtract)(PackedGradient* a, const PackedGradient* b, std::size_t count);
    // Replaces the entries of a quantitative feature by cumulative sums: entry i becomes the sum of
    // bins 1 to i; entry 0, the missing values, is unchanged. The cumulative sums of a child are
    // the difference of those of its parent and its sibling, like the entries.
    void (*accumulate)(PackedGradient* histogram, std::uint32_t bins);
    // Returns the best split of a quantitative feature from its cumulative sums, with the missing
    // values on the right or, if there are any, on the left.
    ScanResult (*scan)(const PackedGradient* sums, BinRange missing_right, BinRange missing_left,
                       const NodeScan& node);
    // Sets bit i of `marks` if bin(row i) - shift <= bound as unsigned bytes; returns the number of
    // set bits. Shift 0 sends bin 0, the missing values, left; shift 1 makes it 255 and sends it
    // right.
    std::size_t (*mark_below)(NarrowColumn column, RowSet rows, std::uint8_t shift,
                              std::uint8_t bound, std::uint64_t* marks);
    // Sets bit i if goes_left[bin(row i)] is 1.
    std::size_t (*mark_table)(NarrowColumn column, RowSet rows, const std::uint8_t* goes_left,
                              std::uint64_t* marks);
    std::size_t (*mark_wide)(const std::uint16_t* column, RowSet rows,
                             const std::uint8_t* goes_left, std::uint64_t* marks);
    // Writes the marked rows to `left` and the others to `right`, in order, and nothing past their
    // ends.
    void (*split_rows)(RowSet rows, const std::uint64_t* marks, std::uint32_t* left,
                       std::uint32_t* right);
};
BOSQUET_DECLARE_KERNELS(GrowKernels, grow_kernels)

}  // namespace bosquet
