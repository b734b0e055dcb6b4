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
#include <utility>
#include <vector>

#include "explain/shap_tree.hpp"
#include "parallel/team.hpp"

namespace bosquet {

// One tree's leaves with the conditions on the way to each.
class LeafConditions {
  public:
    LeafConditions(const TreeShape& tree);

    // Whether every leaf has few enough features on its way for its bits to fit a word.
    bool fits() const { return fits_; }

    // Notes the background: rows [row][line].
    void set_background(const double* values, std::size_t rows, std::size_t lines);

    // Rooms of a thread.
    struct Room {
        std::vector<std::uint32_t> failed;  // [split][row]: 1 for rows that go right
        std::vector<std::uint32_t> masks;   // [row]
        std::vector<std::uint32_t> keys, stamps, cases;
        std::vector<double> shares;  // [case][bit]
        std::vector<char> reached;   // [case]
        std::uint32_t stamp = 0;
    };
    static constexpr std::size_t kRows = 256;

    // Adds to sums[row][slot][output], for rows [row][line]; the leaf's value goes to `output`, or
    // to all outputs if leaves hold several.
    void add(const double* values, std::size_t rows, std::size_t lines, std::size_t output,
             std::size_t outputs, std::size_t slots, double* sums, Room& room) const;

  private:
    struct Condition {
        std::uint32_t split, side, bit;
    };
    struct Leaf {
        std::size_t first_condition, conditions, first_slot, bits;
        std::size_t first_case, cases;  // of the background
    };
    using Case = std::pair<std::uint32_t, std::uint32_t>;  // bits, and how many rows have them

    void fail_lines(const double* values, std::size_t rows, std::size_t lines,
                    std::vector<std::uint32_t>& failed) const;
    void find_masks(const Leaf& leaf, std::size_t rows, const std::vector<std::uint32_t>& failed,
                    std::uint32_t* masks) const;
    bool share_out(const Leaf& leaf, std::uint32_t mask, double* shares) const;

    const TreeShape* tree_;
    bool fits_ = true;
    std::vector<Leaf> leaves_;
    std::vector<Condition> conditions_;
    std::vector<std::uint32_t> slots_;
    std::vector<Case> cases_;
};

}  // namespace bosquet
