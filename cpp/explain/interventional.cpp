#include "explain/interventional.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <tuple>

#include "base/interrupt.hpp"

namespace bosquet {

namespace {

constexpr std::size_t kMaxBits = 32;
constexpr std::size_t kHashSize = 2 * BackgroundCases::kRows;  // a power of two
// Background rows that are processed together: their bits are stored for every level.
constexpr std::size_t kBackgroundRows = 1024;

// (a-1)! c! / (a+c)!, the weight of each of the `a` features.
struct Weights {
    std::array<std::array<double, kMaxBits + 1>, kMaxBits + 1> of{};
    constexpr Weights() {
        for (std::size_t a = 1; a <= kMaxBits; ++a) {
            of[a][0] = 1.0 / static_cast<double>(a);
            for (std::size_t c = 1; c <= kMaxBits; ++c)
                of[a][c] = of[a][c - 1] * static_cast<double>(c) / static_cast<double>(a + c);
        }
    }
};
constexpr Weights kWeights;

std::uint32_t full_mask(std::size_t bits) { return bits == kMaxBits ? ~0u : (1u << bits) - 1; }

}  // namespace

bool BackgroundCases::fits(const TreeShape& tree) { return tree.path_features() <= kMaxBits; }

// Calls visit(AtLeaf) for the leaves from left to right. The bits of a row at a node follow from
// those at its parent, so that the work is one step per split and row for any depth of the tree.
template <class Visit>
void BackgroundCases::visit_leaves(const double* values, std::size_t rows, std::size_t lines,
                                   std::vector<std::uint32_t>& masks, Visit visit) const {
    struct Frame {
        std::size_t split;
        std::uint32_t side;  // the next side to visit
        std::uint32_t bit;
        bool first_use;  // whether it is the first split on the feature on this path
    };
    if (tree_->splits() == 0) return;
    masks.resize((tree_->depth() + 1) * rows);
    std::fill_n(masks.begin(), rows, 0u);
    std::vector<std::uint32_t> slots;  // feature slot of each bit
    auto frame_at = [&](std::size_t split) {
        auto found = std::find(slots.begin(), slots.end(), tree_->split(split).slot);
        Frame frame{split, 0, static_cast<std::uint32_t>(found - slots.begin()),
                    found == slots.end()};
        if (frame.first_use) slots.push_back(tree_->split(split).slot);
        return frame;
    };
    std::vector<Frame> path{frame_at(0)};
    while (!path.empty()) {
        Frame& frame = path.back();
        if (frame.side == 2) {
            if (frame.first_use) slots.pop_back();
            path.pop_back();
            continue;
        }
        check_interrupt(8 * rows);
        std::uint32_t bit = 1u << frame.bit, opened = frame.first_use ? bit : 0;
        const std::uint32_t* parent_masks = masks.data() + (path.size() - 1) * rows;
        std::uint32_t* child_masks = masks.data() + path.size() * rows;
        if (frame.side == 0) {
            for (std::size_t i = 0; i < rows; ++i) {
                bool left = tree_->goes_left(frame.split, values + i * lines);
                child_masks[i] = (parent_masks[i] | opened) & ~(left ? 0u : bit);
            }
        } else {
            // The rows that met the feature so far and did not go left.
            for (std::size_t i = 0; i < rows; ++i)
                child_masks[i] = (parent_masks[i] | opened) & ~(child_masks[i] & bit);
        }
        std::int32_t child = tree_->split(frame.split).child[frame.side++];
        if (child >= 0)
            path.push_back(frame_at(static_cast<std::size_t>(child)));
        else
            visit(VisitedLeaf{static_cast<std::size_t>(-1 - child), slots.data(), slots.size(),
                              child_masks});
    }
}

BackgroundCases::BackgroundCases(const TreeShape& tree, const double* background, std::size_t rows,
                                 std::size_t lines)
    : tree_(&tree), first_case_(tree.leaves() + 1) {
    struct CaseOfLeaf {
        std::size_t leaf;
        Case item;
    };
    std::vector<CaseOfLeaf> cases_of_leaves;
    std::vector<std::uint32_t> masks, sorted;
    for (std::size_t begin = 0; begin < rows; begin += kBackgroundRows) {
        std::size_t count = std::min(kBackgroundRows, rows - begin);
        visit_leaves(background + begin * lines, count, lines, masks,
                     [&](const VisitedLeaf& visited) {
                         sorted.assign(visited.masks, visited.masks + count);
                         std::sort(sorted.begin(), sorted.end());
                         for (std::size_t i = 0; i < count; ++i) {
                             if (i == 0 || sorted[i] != sorted[i - 1])
                                 cases_of_leaves.push_back({visited.leaf, {sorted[i], 0}});
                             ++cases_of_leaves.back().item.count;
                         }
                     });
    }
    if (rows > kBackgroundRows)
        std::sort(cases_of_leaves.begin(), cases_of_leaves.end(),
                  [](const CaseOfLeaf& a, const CaseOfLeaf& b) {
                      return std::tie(a.leaf, a.item.mask) < std::tie(b.leaf, b.item.mask);
                  });
    for (std::size_t i = 0; i < cases_of_leaves.size(); ++i) {
        bool is_same_case = i > 0 && cases_of_leaves[i].leaf == cases_of_leaves[i - 1].leaf &&
                            cases_of_leaves[i].item.mask == cases_of_leaves[i - 1].item.mask;
        if (is_same_case) {
            cases_.back().count += cases_of_leaves[i].item.count;
            continue;
        }
        cases_.push_back(cases_of_leaves[i].item);
        ++first_case_[cases_of_leaves[i].leaf + 1];
    }
    for (std::size_t leaf = 0; leaf < tree.leaves(); ++leaf)
        first_case_[leaf + 1] += first_case_[leaf];
}

// Computes the shares of a leaf for rows with these bits, summed over the background. Returns false
// if no background row contributes.
bool BackgroundCases::compute_shares(const VisitedLeaf& visited, std::uint32_t mask,
                                     double* shares) const {
    std::fill_n(shares, visited.bits, 0.0);
    std::uint32_t full = full_mask(visited.bits);
    bool any = false;
    for (std::size_t i = first_case_[visited.leaf]; i < first_case_[visited.leaf + 1]; ++i) {
        auto [other, count] = cases_[i];
        if ((mask | other) != full || mask == other) continue;
        any = true;
        std::uint32_t row_only = mask & ~other, background_only = other & ~mask;
        auto a = static_cast<std::size_t>(std::popcount(row_only));
        auto c = static_cast<std::size_t>(std::popcount(background_only));
        double gain = count * kWeights.of[a][c], loss = count * kWeights.of[c][a];
        for (; row_only != 0; row_only &= row_only - 1) shares[std::countr_zero(row_only)] += gain;
        for (; background_only != 0; background_only &= background_only - 1)
            shares[std::countr_zero(background_only)] -= loss;
    }
    return any;
}

void BackgroundCases::add(const double* values, std::size_t rows, std::size_t lines,
                          std::size_t output, std::size_t outputs, std::size_t slots, double* sums,
                          Workspace& work) const {
    work.keys.resize(kHashSize);
    work.cases.resize(kHashSize);
    work.stamps.resize(kHashSize, 0);
    work.shares.resize(kRows * kMaxBits);
    work.reached.resize(kRows);
    visit_leaves(values, rows, lines, work.masks, [&](const VisitedLeaf& visited) {
        const double* leaf_values = tree_->leaf(visited.leaf);
        std::uint32_t cases = 0;
        std::uint64_t stamp = ++work.stamp;
        for (std::size_t i = 0; i < rows; ++i) {
            std::uint32_t mask = visited.masks[i];
            std::size_t entry = mask * 0x9E3779B1u >> 23 & (kHashSize - 1);
            while (work.stamps[entry] == stamp && work.keys[entry] != mask)
                entry = (entry + 1) % kHashSize;
            if (work.stamps[entry] != stamp) {
                work.stamps[entry] = stamp;
                work.keys[entry] = mask;
                work.cases[entry] = cases;
                work.reached[cases] =
                    compute_shares(visited, mask, work.shares.data() + cases * kMaxBits);
                ++cases;
            }
            std::uint32_t case_index = work.cases[entry];
            if (!work.reached[case_index]) continue;
            const double* shares = work.shares.data() + case_index * kMaxBits;
            double* out = sums + i * slots * outputs + output;
            for (std::size_t bit = 0; bit < visited.bits; ++bit) {
                double* slot_sums = out + visited.slots[bit] * outputs;
                for (std::uint32_t k = 0; k < tree_->values_per_leaf(); ++k)
                    slot_sums[k] += shares[bit] * leaf_values[k];
            }
        }
    });
}

}  // namespace bosquet
