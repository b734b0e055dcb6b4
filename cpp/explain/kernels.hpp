// Shapley values of one tree for eight rows side by side.
//
// A leaf of value v says v · Π_{f in S} o_f · Π_{f not in S} z_f when only the features in S are
// known: o_f is 1 if the row meets all conditions on f on the way to the leaf, else 0, and z_f is
// the share of rows that do when f is not known. The weights of Shapley's formula are integrals,
// s! (d-1-s)! / d! = ∫ t^s (1-t)^(d-1-s) dt over [0, 1], so the sum over all coalitions is
//
//     φ_f = v (o_f - z_f) ∫ Π_{j ≠ f} (z_j + t (o_j - z_j)) dt,
//
// an integral of a polynomial, which a Gauss-Legendre rule of half as many points as there are
// features gives exactly. At a point t everything is a product along the path and a sum over
// leaves: one walk through the tree does it, with a few multiplications an edge and no term that
// cancels. Interactions take (o_i - z_i)(o_j - z_j) and the product over the others.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/isa.hpp"

namespace bosquet {

constexpr std::size_t kShapRows = 8;

// A feature on the way to a split, other than the split's own, and the level of its last edge.
struct OnPath {
    std::uint32_t level;
    std::uint32_t slot;
};

struct ShapSplit {
    double threshold;
    std::uint32_t value_line;  // of the rows' values: 2 · slot + (missing values go left)
    std::uint32_t slot;        // number of the feature among those that the ensemble uses
    std::int32_t child[2];     // a split, or -1 - a leaf
    std::uint32_t before;      // level of the edge above on the same feature; 0: none
    std::uint32_t path_begin;  // the other features on the way here
    std::uint32_t path_count;
    std::uint32_t set_begin;  // of a categorical split: its left set
    std::uint32_t set_words;
    std::uint32_t categories;  // 0: quantitative
    std::uint32_t missing_left;
};

// What an edge does to products and sums, for rows that still meet the feature's conditions above
// it. `points` numbers each, one set behind the other.
struct EdgeNumbers {
    // Factors of the product for rows that meet the edge's condition, and for those that do not.
    const double *meets, *fails;
    // What the sum below the edge is multiplied by, weight of the point included, to be added to
    // the feature's value; for both kinds of rows.
    const double *gain_meets, *gain_fails;
    // (o - z) / (z + t (o - z)) of the feature from this edge on, for rows that meet all.
    const double* ratio_meets;
};
constexpr std::size_t kNumbersPerPoint = 5;

struct ShapTree {
    const ShapSplit* splits;
    const OnPath* paths;
    const std::uint32_t* sets;
    const double* leaves;        // [leaf][value]
    const double* edge_numbers;  // [split][side][kNumbersPerPoint][point]
    const double* shares;        // [split][side]: of the rows without the feature that go this way
    const double* ratio_fails;   // [point], as ratio_meets, for rows that fail a condition
    std::uint32_t values;        // in a leaf
    std::uint32_t points;
    std::uint32_t levels;  // edges on the longest way down
    bool single_leaf;

    EdgeNumbers edge(std::size_t split, std::size_t side) const {
        const double* at = edge_numbers + (2 * split + side) * kNumbersPerPoint * points;
        return {at, at + points, at + 2 * points, at + 3 * points, at + 4 * points};
    }
};

// How many doubles a walk through a tree works in: per level the masks, products, ratios and sums
// of eight rows, and the split that is being walked.
inline std::size_t shap_room(std::size_t levels, std::size_t points, std::size_t values) {
    return (levels + 1) * (kShapRows * (1 + points * (2 + values)) + 1);
}

struct ShapKernels {
    // Adds to phi[slot][value][row]; `values` are [line][row]. With pairs, which may be null, also
    // to pairs[slot][slot][value][row], each pair at one of its two places.
    void (*add_tree)(const ShapTree& tree, const double* values, double* room, double* phi,
                     double* pairs, std::size_t slots);
};
BOSQUET_DECLARE_KERNELS(ShapKernels, shap_kernels)

}  // namespace bosquet
