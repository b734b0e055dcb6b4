#include "explain/interventional.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace bosquet {

namespace {

constexpr std::size_t kMaxBits = 32;
constexpr std::size_t kHashSize = 2 * LeafConditions::kRows;  // a power of two

// (a-1)! c! / (a+c)!, what each of the `a` features gets.
struct Weights {
    std::array<std::array<double, kMaxBits + 1>, kMaxBits + 1> of{};
    Weights() {
        for (std::size_t a = 1; a <= kMaxBits; ++a) {
            of[a][0] = 1.0 / static_cast<double>(a);
            for (std::size_t c = 1; c <= kMaxBits; ++c)
                of[a][c] = of[a][c - 1] * static_cast<double>(c) / static_cast<double>(a + c);
        }
    }
};

std::uint32_t full_mask(std::size_t bits) { return bits == kMaxBits ? ~0u : (1u << bits) - 1; }

}  // namespace

LeafConditions::LeafConditions(const TreeShape& tree) : tree_(&tree), leaves_(tree.leaves()) {
    struct Edge {
        std::uint32_t split, side;
    };
    struct Step {
        std::int32_t node;
        std::vector<Edge> path;
    };
    if (tree.splits() == 0) return;
    std::vector<Step> waiting{{0, {}}};
    while (!waiting.empty()) {
        Step step = std::move(waiting.back());
        waiting.pop_back();
        if (step.node >= 0) {
            for (std::uint32_t side : {0u, 1u}) {
                Step next{tree.split(static_cast<std::size_t>(step.node)).child[side], step.path};
                next.path.push_back({static_cast<std::uint32_t>(step.node), side});
                waiting.push_back(std::move(next));
            }
            continue;
        }
        Leaf leaf{conditions_.size(), step.path.size(), slots_.size(), 0, 0, 0};
        for (const Edge& edge : step.path) {
            std::uint32_t slot = tree.split(edge.split).slot;
            auto begin = slots_.begin() + static_cast<std::ptrdiff_t>(leaf.first_slot);
            auto found = std::find(begin, slots_.end(), slot);
            auto bit = static_cast<std::uint32_t>(found - begin);
            if (found == slots_.end()) slots_.push_back(slot);
            conditions_.push_back({edge.split, edge.side, bit});
        }
        leaf.bits = slots_.size() - leaf.first_slot;
        fits_ = fits_ && leaf.bits <= kMaxBits;
        leaves_[static_cast<std::size_t>(-1 - step.node)] = leaf;
    }
}

void LeafConditions::fail_lines(const double* values, std::size_t rows, std::size_t lines,
                                std::vector<std::uint32_t>& failed) const {
    failed.resize(tree_->splits() * rows);
    for (std::size_t split = 0; split < tree_->splits(); ++split)
        for (std::size_t i = 0; i < rows; ++i)
            failed[split * rows + i] = !tree_->goes_left(split, values + i * lines);
}

void LeafConditions::find_masks(const Leaf& leaf, std::size_t rows,
                                const std::vector<std::uint32_t>& failed,
                                std::uint32_t* masks) const {
    std::fill_n(masks, rows, full_mask(leaf.bits));
    for (std::size_t c = 0; c < leaf.conditions; ++c) {
        const Condition& condition = conditions_[leaf.first_condition + c];
        const std::uint32_t* line = failed.data() + condition.split * rows;
        for (std::size_t i = 0; i < rows; ++i)
            masks[i] &= ~((line[i] ^ condition.side) << condition.bit);
    }
}

void LeafConditions::set_background(const double* values, std::size_t rows, std::size_t lines) {
    std::vector<std::uint32_t> failed, masks(rows);
    fail_lines(values, rows, lines, failed);
    for (Leaf& leaf : leaves_) {
        find_masks(leaf, rows, failed, masks.data());
        std::sort(masks.begin(), masks.end());
        leaf.first_case = cases_.size();
        for (std::size_t i = 0; i < rows; ++i) {
            if (i == 0 || masks[i] != masks[i - 1]) cases_.push_back({masks[i], 0});
            ++cases_.back().second;
        }
        leaf.cases = cases_.size() - leaf.first_case;
    }
}

// The leaf's shares for rows with these bits, summed over the background; false if there are none.
bool LeafConditions::share_out(const Leaf& leaf, std::uint32_t mask, double* shares) const {
    static const Weights weights;
    std::fill_n(shares, leaf.bits, 0.0);
    std::uint32_t full = full_mask(leaf.bits);
    bool any = false;
    for (std::size_t i = 0; i < leaf.cases; ++i) {
        auto [other, count] = cases_[leaf.first_case + i];
        if ((mask | other) != full || mask == other) continue;
        any = true;
        std::uint32_t mine = mask & ~other, theirs = other & ~mask;
        auto a = static_cast<std::size_t>(std::popcount(mine));
        auto c = static_cast<std::size_t>(std::popcount(theirs));
        double gain = count * weights.of[a][c], loss = count * weights.of[c][a];
        for (; mine != 0; mine &= mine - 1) shares[std::countr_zero(mine)] += gain;
        for (; theirs != 0; theirs &= theirs - 1) shares[std::countr_zero(theirs)] -= loss;
    }
    return any;
}

void LeafConditions::add(const double* values, std::size_t rows, std::size_t lines,
                         std::size_t output, std::size_t outputs, std::size_t slots, double* sums,
                         Room& room) const {
    if (tree_->splits() == 0) return;
    fail_lines(values, rows, lines, room.failed);
    room.masks.resize(kRows);
    room.keys.resize(kHashSize);
    room.cases.resize(kHashSize);
    room.stamps.resize(kHashSize, 0);
    room.shares.resize(kRows * kMaxBits);
    room.reached.resize(kRows);
    for (std::size_t l = 0; l < leaves_.size(); ++l) {
        const Leaf& leaf = leaves_[l];
        find_masks(leaf, rows, room.failed, room.masks.data());
        const double* leaf_values = tree_->leaf(l);
        std::uint32_t cases = 0, stamp = ++room.stamp;
        for (std::size_t i = 0; i < rows; ++i) {
            std::uint32_t mask = room.masks[i];
            std::size_t at = mask * 0x9E3779B1u >> 23 & (kHashSize - 1);
            while (room.stamps[at] == stamp && room.keys[at] != mask) at = (at + 1) % kHashSize;
            if (room.stamps[at] != stamp) {
                room.stamps[at] = stamp;
                room.keys[at] = mask;
                room.cases[at] = cases;
                room.reached[cases] = share_out(leaf, mask, room.shares.data() + cases * kMaxBits);
                ++cases;
            }
            std::uint32_t which = room.cases[at];
            if (!room.reached[which]) continue;
            const double* shares = room.shares.data() + which * kMaxBits;
            double* to = sums + i * slots * outputs + output;
            for (std::size_t bit = 0; bit < leaf.bits; ++bit) {
                double* place = to + slots_[leaf.first_slot + bit] * outputs;
                for (std::uint32_t k = 0; k < tree_->values(); ++k)
                    place[k] += shares[bit] * leaf_values[k];
            }
        }
    }
}

}  // namespace bosquet
