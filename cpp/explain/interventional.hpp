// Interventional Shapley values with background rows, computed leaf by leaf.
//
// For each leaf, a bit set marks the features for which a row satisfies all conditions on the path
// to the leaf; the same is stored for each background row. The contribution of the leaf for a row
// and a background row depends only on these bits. Let `a` features be satisfied only by the row,
// `c` only by the background row, and all others by both. Each of the first then gets (a-1)! c! /
// (a+c)! of the value of the leaf, and each of the second loses a! (c-1)! / (a+c)!. If a feature is
// satisfied by neither, the contribution is 0. Rows with the same bits form one case, so that the
// work grows with the number of cases and hardly with the number of rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "explain/shap_tree.hpp"

namespace bosquet {

// The cases of the background rows at the leaves of one tree.
class BackgroundCases {
  public:
    // Whether the features of every path fit into the bits of a word.
    static bool fits(const TreeShape& tree);

    // The background is stored as [row][line].
    BackgroundCases(const TreeShape& tree, const double* background, std::size_t rows,
                    std::size_t lines);

    std::size_t bytes() const { return cases_.size() * sizeof(Case); }

    // The buffers of one thread.
    struct Workspace {
        std::vector<std::uint32_t> masks;  // [level][row]
        std::vector<std::uint32_t> keys, cases;
        std::vector<std::uint64_t> stamps;  // the leaf to which an entry of `keys` belongs
        std::vector<double> shares;         // [case][bit]
        std::vector<char> reached;          // [case]
        std::uint64_t stamp = 0;
    };
    static constexpr std::size_t kRows = 256;

    // Adds to sums[row][slot][output] for rows [row][line]. The value of the leaf is added to
    // `output`, or to all outputs with vector leaves.
    void add(const double* values, std::size_t rows, std::size_t lines, std::size_t output,
             std::size_t outputs, std::size_t slots, double* sums, Workspace& work) const;

  private:
    struct Case {
        std::uint32_t mask, count;  // bits, and the number of background rows with these bits
    };
    // A leaf that is visited.
    struct VisitedLeaf {
        std::size_t leaf;
        const std::uint32_t* slots;  // [bit]: slots of the features on its path
        std::size_t bits;
        const std::uint32_t* masks;  // [row]
    };

    template <class Visit>
    void visit_leaves(const double* values, std::size_t rows, std::size_t lines,
                      std::vector<std::uint32_t>& masks, Visit visit) const;
    bool compute_shares(const VisitedLeaf& visited, std::uint32_t mask, double* shares) const;

    const TreeShape* tree_;
    std::vector<Case> cases_;              // ordered by leaf and mask
    std::vector<std::size_t> first_case_;  // [leaf], followed by the total number of cases
};

}  // namespace bosquet
