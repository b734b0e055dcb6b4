// Grows one tree on binned rows and integer gradients.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "data/binned.hpp"
#include "grow/column_copies.hpp"
#include "grow/histograms.hpp"
#include "grow/kernels.hpp"
#include "grow/options.hpp"
#include "grow/split_finder.hpp"
#include "parallel/team.hpp"
#include "trees/bounds.hpp"
#include "trees/tree.hpp"

namespace bosquet {

struct GrownLeaf {
    std::uint32_t node;  // index of the node in the tree
    RowSet rows;  // rows of the sample on which the tree was grown; valid until the next tree
    ValueBounds bounds;
};

// A tree whose leaves have no values yet, with its splits expressed in bins.
struct GrownTree {
    Tree tree;
    std::vector<std::uint32_t> split_bins;  // one entry per node, for quantitative splits only
    std::vector<GrownLeaf> leaves;
};

// The time spent in the phases of growing, in seconds summed over threads.
struct GrowTimings {
    double histogram = 0, split = 0, partition = 0;
};

class Grower {
  public:
    // `reducer` combines the rows of the matrix with those of other parts.
    Grower(const BinnedMatrix& matrix, std::span<const FeatureBins> bins,
           const GrowOptions& options, Isa isa, Team& team, Reducer& reducer = single_part());
    ~Grower();

    // Uses another matrix with the same rows, bins and layout.
    void set_matrix(const BinnedMatrix& matrix);

    // `sample` holds the rows to grow on, ascending; all rows without one. `key` seeds the draws of
    // features.
    GrownTree grow(const PackedGradient* gradients, const GradientScale& scale,
                   std::optional<std::span<const std::uint32_t>> sample, std::uint64_t key);

    GrowTimings timings() const;

  private:
    struct GrowingNode;
    struct ByPriority {
        bool operator()(const GrowingNode* a, const GrowingNode* b) const;
    };
    using Frontier = std::set<GrowingNode*, ByPriority>;

    GrowingNode* new_node();

    void start_root(std::optional<std::span<const std::uint32_t>> sample, std::uint64_t key);
    void divide(GrowingNode& node, Team* team, int worker);
    void expand(GrowingNode& node, bool is_last_split, Team* team, int worker);
    void prepare_expansion(GrowingNode& node, bool is_last_split);
    void expand_some(Frontier& frontier, std::size_t budget);
    void expand_together(Frontier& frontier, std::size_t budget);
    void append_to_message(const PackedGradient* histogram);
    std::size_t read_from_message(std::size_t position, PackedGradient* histogram) const;
    void commit(GrowingNode& node, GrownTree& out, Frontier& frontier);
    void finish_leaf(GrowingNode& node, GrownTree& out);
    bool is_splittable(const GrowingNode& node) const;

    void partition(GrowingNode& node, Team* team, int worker);
    std::size_t mark(const GrowingNode& node, RowSet rows, const std::vector<std::uint8_t>& table,
                     std::uint64_t* marks) const;
    void set_child_bounds(GrowingNode& node);

    void build_histogram(const GrowingNode& node, Team* team, int worker);
    void find_splits(GrowingNode* built, GrowingNode* derived, PackedGradient* built_histogram,
                     Team* team, int worker);
    void find_split_among_few(GrowingNode& node, PackedGradient* histogram, Team* team, int worker);
    std::vector<std::uint32_t> features_for(const GrowingNode& node) const;

    const BinnedMatrix* matrix_;
    std::span<const FeatureBins> bins_;
    const GrowOptions* options_;
    const GrowKernels* kernels_;
    Team* team_;
    Reducer* reducer_;
    SplitFinder finder_;
    HistogramBuilder histograms_;
    ColumnCopies column_copies_;

    const PackedGradient* gradients_ = nullptr;
    std::uint64_t key_ = 0;
    std::vector<std::uint32_t> tree_features_;
    // The rows of a node are in one buffer, those of its children in the other.
    Buffer<std::uint32_t> rows_[2];
    Buffer<std::uint64_t> marks_;
    std::vector<Buffer<std::uint64_t>> worker_marks_;

    std::vector<std::unique_ptr<GrowingNode>> nodes_;
    std::size_t nodes_used_ = 0;
    std::vector<GrowTimings> worker_timings_;
    std::vector<std::vector<Split>> worker_candidates_;  // candidates of two nodes per worker
    std::vector<std::int64_t> message_;  // the numbers that are combined with those of other parts
    bool draws_features_ = false;        // whether some nodes may not use all features
    // Whether nodes use so few features that each builds the histograms of its own features only.
    bool draws_few_features_ = false;
};

}  // namespace bosquet
