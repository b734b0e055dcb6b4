// Finds the best split of a node from its histogram.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "data/binned.hpp"
#include "grow/kernels.hpp"
#include "grow/options.hpp"
#include "parallel/reducer.hpp"
#include "trees/bounds.hpp"

namespace bosquet {

// The units of the integer gradients of a round, and the range of the Hessian of a single row in
// these units.
struct GradientScale {
    double gradient_unit = 1;
    double hessian_unit = 1;
    std::int32_t min_hessian = 1;
    std::int32_t max_hessian = 1;
    // Twice the decrease of the loss that a split at random has on average: sum g^2 / sum h.
    double random_decrease = 0;
};

struct Split {
    double gain = -std::numeric_limits<double>::infinity();
    std::uint32_t feature = 0;
    std::uint32_t bin = 0;  // quantitative: bins up to this one go left
    bool missing_left = false;
    std::vector<std::uint32_t> left_bins;  // categorical: these bins go left
    PackedGradient left_sum = 0;           // of gradients and Hessians

    bool found() const { return gain > -std::numeric_limits<double>::infinity(); }
};

// The node for which a split is searched.
struct NodeToSplit {
    RowSet rows;
    std::uint64_t all_rows;  // number of its rows in all parts
    // Cumulative sums of quantitative features, entries of categorical ones.
    const PackedGradient* histogram;
    ValueBounds bounds;
    NodeScan scan;
    std::uint64_t key;  // of the node, for random numbers
    double min_gain;    // gains up to this value may consist of rounding errors only

    PackedGradient total() const { return scan.total; }
};

class SplitFinder {
  public:
    SplitFinder(const BinnedMatrix& matrix, const GrowOptions& options, const GrowKernels& kernels,
                Reducer& reducer)
        : matrix_(&matrix), options_(&options), kernels_(&kernels), reducer_(&reducer) {}

    void set_scale(const GradientScale& scale);
    // Uses another matrix with the same layout.
    void set_matrix(const BinnedMatrix& matrix) { matrix_ = &matrix; }

    NodeToSplit prepare_node(RowSet rows, std::uint64_t all_rows, const PackedGradient* histogram,
                             PackedGradient total, const ValueBounds& bounds,
                             std::uint64_t key) const;

    // Finds the best split on one feature without checking the numbers of rows. `out` is unchanged
    // if there is none.
    void find_best_split_on(std::uint32_t feature, const NodeToSplit& node, Split& out) const;

    // Returns the best of the candidates, one per feature, with at least min_samples_leaf rows on
    // each side. Histograms hold no counts, but for most candidates the sum of Hessians proves that
    // there are enough rows. If it does not, the rows per bin of that feature are counted and, if a
    // side has too few, its bins are searched again.
    Split choose_split(std::span<Split> candidates, const NodeToSplit& node) const;

    // The value of a leaf with these sums.
    double leaf_value(PackedGradient sum, const ValueBounds& bounds) const;

  private:
    struct Sums {
        double g, h;
    };
    Sums dequantise(PackedGradient sum) const {
        return {gradient_of(sum) * scale_.gradient_unit, hessian_of(sum) * scale_.hessian_unit};
    }
    // Whether values have no constraints, so that the best value of a child is -G / (H + l2).
    bool is_unconstrained() const {
        return options_->max_delta_step == 0 && options_->monotone.empty();
    }
    double loss_decrease(std::uint32_t feature, PackedGradient left, const NodeToSplit& node,
                         double l2) const;
    double priority(const Split& split, const NodeToSplit& node) const;
    double decrease_from_score(double score, const NodeToSplit& node, double l2) const;
    Split search(std::uint32_t feature, const NodeToSplit& node, const std::int64_t* counts) const;
    Split search_ordered(std::uint32_t feature, const NodeToSplit& node,
                         const std::int64_t* counts) const;
    Split search_categories(std::uint32_t feature, const NodeToSplit& node,
                            const std::int64_t* counts) const;
    ScanResult scan_constrained(std::uint32_t feature, const PackedGradient* sums,
                                BinRange missing_right, BinRange missing_left,
                                const NodeToSplit& node) const;
    BinRange bins_with_enough_rows(const std::int64_t* counts, std::uint32_t bins,
                                   std::int64_t before, std::int64_t rows) const;
    static bool left_is_heavier(PackedGradient left, PackedGradient total);
    std::vector<std::int64_t> count_bins(std::uint32_t feature, RowSet rows) const;
    static std::int64_t count_left(const Split& split, std::span<const std::int64_t> counts);
    bool is_surely_large_enough(const Split& split, PackedGradient total) const;
    bool is_admissible(PackedGradient left, PackedGradient total) const;

    const BinnedMatrix* matrix_;
    const GrowOptions* options_;
    const GrowKernels* kernels_;
    Reducer* reducer_;
    GradientScale scale_;
    std::int32_t min_hessian_ = 1;  // minimum of a child, in units
    double noise_ = 0;              // standard deviation of the noise of a priority
};

}  // namespace bosquet
