// Finding the best split of a node from its histogram.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/binned.hpp"
#include "grow/kernels.hpp"
#include "grow/options.hpp"

namespace bosquet {

// The units of this round's integer gradients, and the range of a single row's hessian in them.
struct GradientScale {
    double gradient_unit = 1;
    double hessian_unit = 1;
    std::int32_t least_hessian = 1;
    std::int32_t greatest_hessian = 1;
};

struct Split {
    double gain = -std::numeric_limits<double>::infinity();
    std::uint32_t feature = 0;
    std::uint32_t bin = 0;  // quantitative: bins up to this one go left
    bool missing_left = false;
    std::vector<std::uint32_t> left_bins;  // categorical: these bins go left
    Packed left = 0;                       // sums of the left child

    bool found() const { return gain > -std::numeric_limits<double>::infinity(); }
};

// The node a split is sought for.
struct SplitRequest {
    RowSet rows;
    const Packed* histogram;  // running sums of quantitative features, entries of categorical ones
    ValueBounds bounds;
    NodeScan scan;
    double least_gain;  // a gain up to this may be rounding alone

    Packed total() const { return scan.total; }
};

class SplitFinder {
  public:
    SplitFinder(const BinnedMatrix& matrix, const GrowOptions& options, const GrowKernels& kernels)
        : matrix_(&matrix), options_(&options), kernels_(&kernels) {}

    void set_scale(const GradientScale& scale);

    SplitRequest request(RowSet rows, const Packed* histogram, Packed total,
                         const ValueBounds& bounds) const;

    // The best split on one feature, counts of rows not yet looked at; `out` stays as it is if
    // there is none.
    void best_on(std::uint32_t feature, const SplitRequest& node, Split& out) const;

    // The best of the candidates, one a feature, that leaves min_samples_leaf rows on each side.
    // A histogram holds no counts: a hessian sum proves most candidates. Where it does not, the
    // rows of each bin of that one feature are counted and, where a side has too few, its bins
    // searched again.
    Split choose(std::span<Split> candidates, const SplitRequest& node) const;

    // The value a node with these sums would take as a leaf.
    double leaf_value(Packed sum, const ValueBounds& bounds) const;
    const GradientScale& scale() const { return scale_; }

  private:
    struct Sums {
        double g, h;
    };
    Sums real(Packed sum) const {
        return {gradient_of(sum) * scale_.gradient_unit, hessian_of(sum) * scale_.hessian_unit};
    }
    // No constraint on values: the best value of a child is -G / (H + l2).
    bool unconstrained() const {
        return options_->max_delta_step == 0 && options_->monotone.empty();
    }
    double reduction(std::uint32_t feature, Packed left, const SplitRequest& node, double l2) const;
    double reduction_from(double score, const SplitRequest& node, double l2) const;
    Split search(std::uint32_t feature, const SplitRequest& node,
                 const std::uint32_t* counts) const;
    Split search_ordered(std::uint32_t feature, const SplitRequest& node,
                         const std::uint32_t* counts) const;
    Split search_categories(std::uint32_t feature, const SplitRequest& node,
                            const std::uint32_t* counts) const;
    ScanResult scan_constrained(std::uint32_t feature, const Packed* sums, BinRange missing_right,
                                BinRange missing_left, const SplitRequest& node) const;
    BinRange with_enough_rows(const std::uint32_t* counts, std::uint32_t bins, std::size_t before,
                              std::size_t rows) const;
    static bool left_is_heavier(Packed left, Packed total);
    std::vector<std::uint32_t> count_bins(std::uint32_t feature, RowSet rows) const;
    static std::size_t count_left(const Split& split, std::span<const std::uint32_t> counts);
    bool surely_large_enough(const Split& split, Packed total) const;
    bool admissible(Packed left, Packed total) const;

    const BinnedMatrix* matrix_;
    const GrowOptions* options_;
    const GrowKernels* kernels_;
    GradientScale scale_;
    std::int32_t least_hessian_ = 1;  // of a child, in units
};

}  // namespace bosquet
