// A tree in the form from which Shapley values are computed (explain/kernels.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "explain/kernels.hpp"
#include "explain/quadrature.hpp"
#include "parallel/team.hpp"
#include "trees/tree.hpp"

namespace bosquet {

// The features that an ensemble uses and the players of the game whose Shapley values are computed,
// in ascending order, and the index (slot) of each among them. A player has one feature or several,
// which are known or unknown together.
struct UsedFeatures {
    // `player_of` holds the player of each feature; empty: every feature is a player.
    UsedFeatures(const Ensemble& ensemble, std::span<const std::uint32_t> player_of);
    std::vector<std::uint32_t> features;
    std::vector<std::uint32_t> slot_of;  // by feature; undefined for features that are not used
    std::vector<std::uint32_t> players;
    std::vector<std::uint32_t> player_slot_of;  // by feature; likewise
    std::size_t count() const { return features.size(); }
};

// The data of a tree that the kernel needs and that does not depend on how unknown features are
// replaced.
class TreeShape {
  public:
    // With `pairs`, also stores what interactions need: the other features on the path to each
    // split.
    TreeShape(const Ensemble& ensemble, const Tree& tree, const UsedFeatures& used, bool pairs);

    std::size_t splits() const { return splits_.size(); }
    std::size_t leaves() const { return leaves_.size() / values_per_leaf_; }
    std::uint32_t points() const { return static_cast<std::uint32_t>(rule_.points.size()); }
    // The number of edges on the longest path.
    std::uint32_t depth() const { return depth_; }
    // The largest number of different players on a path.
    std::size_t path_features() const { return path_features_; }
    std::uint32_t values_per_leaf() const { return values_per_leaf_; }
    const ShapSplit& split(std::size_t i) const { return splits_[i]; }
    const double* leaf(std::size_t i) const { return leaves_.data() + i * values_per_leaf_; }

    // Whether a row goes left at a split, whether or not it reaches it. `values` holds one number
    // per line.
    bool goes_left(std::size_t split, const double* values) const;

    // Shares of training rows that go each way, [split][side], from the covers of the nodes.
    const std::vector<double>& cover_shares() const { return cover_shares_; }
    // Sets the shares to 1 for the side that a row would take at each split and 0 for the other.
    void row_shares(const double* values, double* shares) const;

    // Computes the numbers of all edges for given shares, at some of the points.
    void fill_edges(const double* shares, Range points, double* edge_numbers) const;
    std::size_t edge_size(std::size_t points) const {
        return splits() * 2 * kNumbersPerPoint * points;
    }

    // Adds the prediction of the tree with no feature known to `out`: the leaves weighted by their
    // shares.
    void add_expectation(const double* shares, double* out) const;

    ShapTree view(const double* shares, const double* edge_numbers, Range points) const;

  private:
    class Path;
    void add_leaf(std::span<const double> values);
    void add_split(const Ensemble& ensemble, const Tree& tree, const Node& node,
                   const UsedFeatures& used);
    void record_path(const Path& path, bool pairs);

    std::vector<ShapSplit> splits_;
    std::vector<PathFeature> paths_;
    std::vector<std::uint32_t> sets_;
    std::vector<double> leaves_;
    std::vector<double> cover_shares_;
    // The previous edge on the same feature, as split · 2 + side, or -1.
    std::vector<std::int64_t> edge_before_;
    Quadrature rule_;
    std::vector<double> ratio_fails_;
    std::uint32_t values_per_leaf_ = 1;
    std::uint32_t depth_ = 0;
    std::size_t path_features_ = 1;
};

}  // namespace bosquet
