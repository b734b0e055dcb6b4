// Shapley values of one tree for eight rows at a time.
//
// If only the features in S are known, a leaf of value v contributes v · Π_{f in S} o_f · Π_{f not
// in S} z_f. Here o_f is 1 if the row satisfies all conditions on f on the path to the leaf and 0
// otherwise, and z_f is the share of rows that do so when f is unknown. The weights of Shapley's
// formula are integrals, s! (d-1-s)! / d! = ∫ t^s (1-t)^(d-1-s) dt over [0, 1], so that the sum
// over all coalitions is
//
//     φ_f = v (o_f - z_f) ∫ Π_{j ≠ f} (z_j + t (o_j - z_j)) dt,
//
// which is the integral of a polynomial. A Gauss-Legendre rule with half as many points as there
// are features computes it exactly. At a point t the integrand is a product along the path and a
// sum over leaves: one traversal of the tree computes it with a few multiplications per edge and
// without cancellation. Interactions use (o_i - z_i)(o_j - z_j) and the product over the other
// features.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/isa.hpp"

namespace bosquet {

constexpr std::size_t kShapRows = 8;

// A feature on the path to a split, other than the split's own feature, and the level of its last
// edge.
struct PathFeature {
    std::uint32_t level;
    std::uint32_t slot;
};

struct ShapSplit {
    double threshold;
    std::uint32_t value_line;  // line of the rows' values: 2 · feature + (missing values go left)
    std::uint32_t slot;        // index of the player of the feature among those used
    std::int32_t child[2];     // index of a split, or -1 - index of a leaf
    std::uint32_t before;      // level of the previous edge on the same feature; 0: none
    std::uint32_t path_begin;  // the other features on the path to the split
    std::uint32_t path_count;
    std::uint32_t set_begin;  // categorical: position of the left set
    std::uint32_t set_words;
    std::uint32_t categories;  // 0: quantitative
    std::uint32_t missing_left;
};

// The factors of an edge for products and sums, for rows that satisfy the conditions on the feature
// above it. Each array has one number per point.
struct EdgeNumbers {
    // Factors of the product for rows that satisfy the condition of the edge and for rows that do
    // not.
    const double *meets, *fails;
    // Factors by which the sum below the edge is multiplied, including the weight of the point, to
    // get the contribution to the feature; for both kinds of rows.
    const double *gain_meets, *gain_fails;
    // (o - z) / (z + t (o - z)) of the feature from this edge on, for rows that satisfy all
    // conditions.
    const double* ratio_meets;
};
constexpr std::size_t kNumbersPerPoint = 5;

struct ShapTree {
    const ShapSplit* splits;
    const PathFeature* paths;
    const std::uint32_t* sets;
    const double* leaves;        // [leaf][value]
    const double* edge_numbers;  // [split][side][kNumbersPerPoint][point]
    // [split][side]: share of the rows that go this way if the feature is unknown.
    const double* shares;
    const double* ratio_fails;  // [point]: like ratio_meets for rows that fail a condition
    std::uint32_t values_per_leaf;
    std::uint32_t points;
    std::uint32_t depth;  // number of edges on the longest path
    bool single_leaf;

    EdgeNumbers edge(std::size_t split, std::size_t side) const {
        const double* at = edge_numbers + (2 * split + side) * kNumbersPerPoint * points;
        return {at, at + points, at + 2 * points, at + 3 * points, at + 4 * points};
    }
};

// The size of the workspace of a traversal in doubles: per level the masks, products, ratios and
// sums of eight rows, and the current split.
inline std::size_t shap_workspace_size(std::size_t depth, std::size_t points,
                                       std::size_t values_per_leaf) {
    return (depth + 1) * (kShapRows * (1 + points * (2 + values_per_leaf)) + 1);
}

struct ShapKernels {
    // Adds to phi[slot][value][row]; `values` is [line][row]. If `pairs` is not nullptr, also adds
    // to pairs[slot][slot][value][row], each pair at one of its two positions.
    void (*add_tree)(const ShapTree& tree, const double* values, double* workspace, double* phi,
                     double* pairs, std::size_t slots);
};
BOSQUET_DECLARE_KERNELS(ShapKernels, shap_kernels)

}  // namespace bosquet
