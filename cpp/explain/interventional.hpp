// Shapley values against background rows, leaf by leaf.
//
// Which features a row meets on the way to a leaf is a set of bits, and so is which a background
// row meets. Between the two the leaf's part in the values depends on nothing else: with `a`
// features that only the row meets and `c` that only the background row meets, and all others met
// by both, each of the first gets (a-1)! c! / (a+c)! of the leaf's value and each of the second
// loses a! (c-1)! / (a+c)!. If a feature is met by neither, the leaf is out of reach. Rows with the
// same bits are one case, so that the work grows with the number of cases and hardly with that of
// rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "explain/shap_tree.hpp"

namespace bosquet {

// The background rows at the leaves of one tree.
class BackgroundCases {
  public:
    // Whether a path's features fit the bits of a word.
    static bool fits(const TreeShape& tree);

    // The background is [row][line].
    BackgroundCases(const TreeShape& tree, const double* background, std::size_t rows,
                    std::size_t lines);

    std::size_t bytes() const { return cases_.size() * sizeof(Case); }

    // What a thread works in.
    struct Workspace {
        std::vector<std::uint32_t> masks;  // [level][row]
        std::vector<std::uint32_t> keys, cases;
        std::vector<std::uint64_t> stamps;  // the leaf that an entry of `keys` belongs to
        std::vector<double> shares;         // [case][bit]
        std::vector<char> reached;          // [case]
        std::uint64_t stamp = 0;
    };
    static constexpr std::size_t kRows = 256;

    // Adds to sums[row][slot][output], for rows [row][line]; the leaf's value goes to `output`, or
    // to all outputs if leaves hold several.
    void add(const double* values, std::size_t rows, std::size_t lines, std::size_t output,
             std::size_t outputs, std::size_t slots, double* sums, Workspace& work) const;

  private:
    struct Case {
        std::uint32_t mask, count;  // bits, and how many background rows have them
    };
    // A leaf on the walk through the tree.
    struct AtLeaf {
        std::size_t leaf;
        const std::uint32_t* slots;  // [bit]: the features on its path
        std::size_t bits;
        const std::uint32_t* masks;  // [row]
    };

    template <class Visit>
    void visit_leaves(const double* values, std::size_t rows, std::size_t lines,
                      std::vector<std::uint32_t>& masks, Visit visit) const;
    bool share_out(const AtLeaf& at, std::uint32_t mask, double* shares) const;

    const TreeShape* tree_;
    std::vector<Case> cases_;              // by leaf, ascending by mask
    std::vector<std::size_t> first_case_;  // [leaf], and the number of cases behind the last
};

}  // namespace bosquet
