#include "trees/permute.hpp"

#include <algorithm>
#include <numeric>

#include "base/interrupt.hpp"
#include "base/random.hpp"
#include "trees/walk.hpp"

namespace bosquet {

namespace {

std::vector<std::uint32_t> used_features(const Tree& tree) {
    std::vector<std::uint32_t> features;
    for (const Node& node : tree.nodes)
        if (!node.is_leaf()) features.push_back(node.feature());
    std::sort(features.begin(), features.end());
    features.erase(std::unique(features.begin(), features.end()), features.end());
    return features;
}

std::vector<std::uint32_t> permutation(std::size_t count, std::uint64_t key, std::uint64_t stream) {
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0u);
    for (std::size_t i = count; i > 1; --i)
        std::swap(order[i - 1], order[hash64(key, stream, i) % i]);
    return order;
}

}  // namespace

PermutedLeaves permute_leaves(const Ensemble& ensemble, const Tree& tree, const Table& table,
                              std::span<const std::uint32_t> rows, std::uint64_t key) {
    PermutedLeaves out;
    out.features = used_features(tree);
    std::size_t used = out.features.size(), count = rows.size();
    out.leaves.resize((used + 1) * count);
    // A row holds only the columns that the tree reads, so that the features of its nodes are
    // renumbered.
    Tree local = tree;
    for (Node& node : local.nodes) {
        if (node.is_leaf()) continue;
        auto position = std::lower_bound(out.features.begin(), out.features.end(), node.feature());
        node.tag = (node.tag & ~Node::kMaxFeature) |
                   static_cast<std::uint32_t>(position - out.features.begin());
    }
    Ensemble reduced;
    reduced.features = static_cast<std::uint32_t>(used);
    for (std::uint32_t f : out.features) reduced.categories.push_back(ensemble.categories[f]);

    std::size_t stride = walked_size(used);
    std::vector<double> walked(count * stride, 0.0), values(count);
    std::vector<std::uint32_t> leaves(count);
    auto read = [&](std::size_t index) {
        const Column& column = table.columns[out.features[index]];
        for (std::size_t i = 0; i < count; ++i) values[i] = read_value(column, rows[i]);
    };
    auto walk_into = [&](std::size_t position) {
        check_interrupt();
        leaves_of_rows(reduced, local, walked.data(), stride, count, leaves.data());
        std::copy(leaves.begin(), leaves.end(), out.leaves.begin() + position * count);
    };
    for (std::size_t index = 0; index < used; ++index) {
        read(index);
        for (std::size_t i = 0; i < count; ++i)
            put_walked(walked.data() + i * stride, index, values[i]);
    }
    walk_into(0);
    for (std::size_t index = 0; index < used; ++index) {
        read(index);
        std::vector<std::uint32_t> order = permutation(count, key, out.features[index]);
        for (std::size_t i = 0; i < count; ++i)
            put_walked(walked.data() + i * stride, index, values[order[i]]);
        walk_into(index + 1);
        for (std::size_t i = 0; i < count; ++i)
            put_walked(walked.data() + i * stride, index, values[i]);
    }
    return out;
}

}  // namespace bosquet
