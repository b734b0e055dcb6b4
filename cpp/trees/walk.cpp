#include "trees/walk.hpp"

#include "trees/kernels.hpp"

namespace bosquet {

namespace {

constexpr std::size_t kLanes = 8;

bool category_goes_left(const Ensemble& ensemble, const Tree& tree, const Node& node, double x) {
    if (!(x >= 0 && x < ensemble.categories[node.feature()])) return node.missing_left();
    return tree.in_left_set(node, static_cast<std::uint32_t>(x));
}

// Walks `lanes` rows to their leaves side by side: lane i walks down trees[i] with the row rows(i).
template <std::size_t lanes, class Rows>
[[gnu::always_inline]] inline void walk(const Ensemble& ensemble, const Tree* const* trees,
                                        Rows rows, std::uint32_t* leaves) {
    const Node* nodes[lanes];
    std::uint32_t node_index[lanes];
#pragma GCC unroll 8
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        nodes[lane] = trees[lane]->nodes.data();
        node_index[lane] = 0;
    }
    std::uint32_t moved;
    do {
        moved = 0;
#pragma GCC unroll 8
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            const Node& node = nodes[lane][node_index[lane]];
            double x = rows(lane)[std::rotl(node.tag, 1) & 0x7fffffffu];
            std::uint32_t right = !(x <= node.threshold());
            if (node.categorical()) [[unlikely]]
                right = !category_goes_left(ensemble, *trees[lane], node, x);
            // A lane that has reached its leaf stays there: a leaf has tag 0, so that it reads the
            // first entry of the row, and the result is masked out. For a conditional the compiler
            // would generate a branch, which is unpredictable here.
            std::uint32_t walking = 0u - static_cast<std::uint32_t>(node.left != 0);
            node_index[lane] ^= (node_index[lane] ^ (node.left + right)) & walking;
            moved |= node.left;
        }
    } while (moved != 0);
#pragma GCC unroll 8
    for (std::size_t lane = 0; lane < lanes; ++lane) leaves[lane] = node_index[lane];
}

}  // namespace

std::uint32_t leaf_of(const Ensemble& ensemble, const Tree& tree, const double* row) {
    std::uint32_t node_index = 0;
    while (!tree.nodes[node_index].is_leaf()) {
        const Node& node = tree.nodes[node_index];
        double x = row[node.feature()];
        bool left;
        if (node.categorical())
            left = category_goes_left(ensemble, tree, node, x);
        else
            left = x <= node.threshold() || (node.missing_left() && x != x);
        node_index = node.left + !left;
    }
    return node_index;
}

void leaves_of_rows(const Ensemble& ensemble, const Tree& tree, const double* rows,
                    std::size_t stride, std::size_t count, std::uint32_t* leaves) {
    const Tree* same[kLanes];
    for (const Tree*& each : same) each = &tree;
    auto row = [&](std::size_t lane) { return rows + lane * stride; };
    for (; count >= kLanes; count -= kLanes, rows += kLanes * stride, leaves += kLanes)
        walk<kLanes>(ensemble, same, row, leaves);
    for (; count > 0; --count, rows += stride, ++leaves) walk<1>(ensemble, same, row, leaves);
}

void leaves_of_lines(const CodedNode* nodes, const std::uint32_t* roots, const std::uint8_t* starts,
                     const std::uint8_t* lines, std::uint32_t* leaves) {
    auto codes = reinterpret_cast<const std::int8_t*>(lines);
    for (std::size_t row = 0; row < kLineRows; row += kLanes, codes += kLanes) {
        std::uint32_t node_index[kLanes];
#pragma GCC unroll 8
        for (std::size_t lane = 0; lane < kLanes; ++lane)
            node_index[lane] = roots[starts[row + lane]];
        std::uint32_t moved;
        do {
            moved = 0;
#pragma GCC unroll 8
            for (std::size_t lane = 0; lane < kLanes; ++lane) {
                const CodedNode node = nodes[node_index[lane]];
                std::int8_t code = codes[node.line * kLineRows + lane];
                node_index[lane] = node.left + (code > node.bound);
                moved |= node.is_split;
            }
        } while (moved != 0);
#pragma GCC unroll 8
        for (std::size_t lane = 0; lane < kLanes; ++lane) leaves[row + lane] = node_index[lane];
    }
}

void add_trees(const Ensemble& ensemble, const double* row, std::size_t first, std::size_t last,
               double* out) {
    std::size_t output = first % ensemble.outputs;
    const Tree* trees[kLanes];
    std::uint32_t leaves[kLanes];
    auto same = [&](std::size_t) { return row; };
    while (first < last) {
        std::size_t lanes = last - first >= kLanes ? kLanes : 1;
        for (std::size_t lane = 0; lane < lanes; ++lane)
            trees[lane] = &ensemble.trees[first + lane];
        if (lanes == kLanes)
            walk<kLanes>(ensemble, trees, same, leaves);
        else
            walk<1>(ensemble, trees, same, leaves);
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            const Node& leaf = trees[lane]->nodes[leaves[lane]];
            if (ensemble.vector_leaves) {
                const double* values = ensemble.values_of(*trees[lane], leaf).data();
                for (std::size_t k = 0; k < ensemble.outputs; ++k) out[k] += values[k];
                continue;
            }
            out[output] += leaf.leaf_value();
            if (++output == ensemble.outputs) output = 0;
        }
        first += lanes;
    }
}

}  // namespace bosquet
