#include "trees/validate.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "base/interrupt.hpp"

namespace bosquet {

namespace {

using Fault = const char*;  // nullptr: none

Fault fault_in_shape(const Tree& tree) {
    std::size_t size = tree.nodes.size();
    if (size == 0) return "the tree has no nodes";
    if (size > kMaxTreeNodes) return "the tree has too many nodes";
    if (size % 2 == 0) return "a split has only one child";
    if (tree.stats.size() != size) return "the statistics of nodes are missing";
    std::vector<bool> has_parent(size);
    has_parent[0] = true;
    for (std::size_t node_index = 0; node_index < size; ++node_index) {
        std::size_t left = tree.nodes[node_index].left;
        if (left == 0) continue;
        if (left <= node_index) return "a child comes before its parent";
        if (left + 1 >= size) return "a child does not exist";
        if (has_parent[left] || has_parent[left + 1]) return "a node has two parents";
        has_parent[left] = has_parent[left + 1] = true;
    }
    for (bool found : has_parent)
        if (!found) return "a node has no parent";
    return nullptr;
}

Fault fault_in_set(const Tree& tree, const Node& node, std::uint32_t categories) {
    std::uint64_t begin = node.set_begin(), words = node.set_words();
    if (begin + words > tree.category_words.size()) return "a category set does not exist";
    if (words > (std::uint64_t{categories} + 31) / 32) return "a category set is too large";
    if (words * 32 > categories && words > 0 &&
        tree.category_words[begin + words - 1] >> (categories % 32) != 0)
        return "a category set contains a category that does not exist";
    return nullptr;
}

Fault fault_in_vector_index(const Ensemble& ensemble, const Tree& tree, const Node& leaf) {
    auto vectors = static_cast<double>(tree.leaf_values.size() / ensemble.outputs);
    if (!(leaf.payload >= 0 && leaf.payload < vectors))
        return "the vector of a leaf does not exist";
    return leaf.payload == std::floor(leaf.payload)
               ? nullptr
               : "the index of the vector of a leaf is not an integer";
}

Fault fault_in_vectors(const Ensemble& ensemble, const Tree& tree) {
    std::size_t leaves = (tree.nodes.size() + 1) / 2;
    std::size_t expected_size = ensemble.vector_leaves ? leaves * ensemble.outputs : 0;
    if (tree.leaf_values.size() != expected_size)
        return "the number of leaf vectors does not match the number of leaves";
    for (double value : tree.leaf_values)
        if (!std::isfinite(value)) return "the value of a leaf is not finite";
    return nullptr;
}

Fault fault_in_node(const Ensemble& ensemble, const Tree& tree, const Node& node) {
    if (node.is_leaf()) {
        if (node.tag != 0) return "a leaf has a split feature";
        if (ensemble.vector_leaves) return fault_in_vector_index(ensemble, tree, node);
        return std::isfinite(node.leaf_value()) ? nullptr : "the value of a leaf is not finite";
    }
    if (node.feature() >= ensemble.features) return "the feature of a split does not exist";
    std::uint32_t categories = ensemble.categories[node.feature()];
    if (!node.categorical()) {
        if (categories != 0) return "a categorical feature is split at a threshold";
        return std::isnan(node.threshold()) ? "a threshold is NaN" : nullptr;
    }
    if (categories == 0) return "a quantitative feature is split by categories";
    return fault_in_set(tree, node, categories);
}

Fault fault_in_tree(const Ensemble& ensemble, const Tree& tree) {
    if (Fault fault = fault_in_shape(tree)) return fault;
    if (Fault fault = fault_in_vectors(ensemble, tree)) return fault;
    for (const Node& node : tree.nodes)
        if (Fault fault = fault_in_node(ensemble, tree, node)) return fault;
    for (const NodeStats& stats : tree.stats) {
        if (std::isnan(stats.gain)) return "the gain of a split is NaN";
        if (!(stats.cover >= 0) || std::isinf(stats.cover))
            return "the cover of a node is negative or not finite";
    }
    return nullptr;
}

Fault fault_in_header(const Ensemble& ensemble) {
    if (ensemble.features > Node::kMaxFeature) return "there are too many features";
    if (ensemble.outputs == 0) return "the number of outputs is 0";
    if (ensemble.base.size() != ensemble.outputs)
        return "the length of the base is not the number of outputs";
    for (double base : ensemble.base)
        if (!std::isfinite(base)) return "the base is not finite";
    if (ensemble.categories.size() != ensemble.features)
        return "the number of category counts is not the number of features";
    for (std::uint32_t levels : ensemble.categories)
        if (levels > kMaxCategories) return "a feature has too many categories";
    if (ensemble.trees.size() % ensemble.trees_per_round() != 0)
        return "the number of trees is not a multiple of the number of outputs";
    return nullptr;
}

}  // namespace

std::optional<std::string> find_fault(const Ensemble& ensemble) {
    if (Fault fault = fault_in_header(ensemble)) return fault;
    for (std::size_t t = 0; t < ensemble.trees.size(); ++t) {
        check_interrupt(16 * ensemble.trees[t].nodes.size());
        if (Fault fault = fault_in_tree(ensemble, ensemble.trees[t]))
            return "in tree " + std::to_string(t) + ", " + fault;
    }
    return std::nullopt;
}

namespace {

// Whether the values are probabilities that sum to 1, up to rounding errors of a fit.
bool are_shares(std::span<const double> values) {
    constexpr double kRounding = 1e-9;
    double sum = 0;
    for (double value : values) {
        if (!(value >= 0 && value <= 1)) return false;
        sum += value;
    }
    return std::abs(sum - 1) <= kRounding;
}

bool are_shares(std::span<const double> values, std::span<const std::uint32_t> classes) {
    for (std::uint32_t count : classes) {
        if (!are_shares(values.first(count))) return false;
        values = values.subspan(count);
    }
    return true;
}

// Without branches, because the order of leaves and splits is unpredictable.
bool leaves_within_0_and_1(const Tree& tree) {
    bool within = true;
    for (const Node& node : tree.nodes)
        within &= !node.is_leaf() | ((node.leaf_value() >= 0) & (node.leaf_value() <= 1));
    return within;
}

// Checks all vectors of a tree; each of them belongs to a leaf.
bool vectors_are_shares(const Tree& tree, std::span<const std::uint32_t> classes,
                        std::size_t outputs) {
    std::span<const double> all(tree.leaf_values);
    for (; !all.empty(); all = all.subspan(outputs))
        if (!are_shares(all.first(outputs), classes)) return false;
    return true;
}

}  // namespace

bool holds_class_shares(const Ensemble& ensemble, std::span<const std::uint32_t> classes) {
    bool one_number = classes.size() == 1 && classes[0] == 2 && ensemble.outputs == 1;
    std::size_t all = std::accumulate(classes.begin(), classes.end(), std::size_t{0});
    if (one_number == ensemble.vector_leaves || (!one_number && ensemble.outputs != all))
        return false;
    for (double base : ensemble.base)
        if (base != 0) return false;
    for (const Tree& tree : ensemble.trees)
        if (one_number ? !leaves_within_0_and_1(tree)
                       : !vectors_are_shares(tree, classes, ensemble.outputs))
            return false;
    return true;
}

std::vector<double> max_absolute_prediction(const Ensemble& ensemble) {
    std::vector<double> sums(ensemble.outputs);
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] = std::abs(ensemble.base[k]);
    std::vector<double> largest(ensemble.vector_leaves ? ensemble.outputs : 1);
    for (std::size_t t = 0; t < ensemble.trees.size(); ++t) {
        const Tree& tree = ensemble.trees[t];
        std::fill(largest.begin(), largest.end(), 0.0);
        for (const Node& node : tree.nodes) {
            if (!node.is_leaf()) continue;
            std::span<const double> values = ensemble.values_of(tree, node);
            for (std::size_t k = 0; k < values.size(); ++k)
                largest[k] = std::max(largest[k], std::abs(values[k]));
        }
        double* sum = sums.data() + (ensemble.vector_leaves ? 0 : t % ensemble.outputs);
        for (double value : largest) *sum++ += value;
    }
    return sums;
}

std::optional<std::string> find_fault(const Ensemble& ensemble, const Tree& tree) {
    if (Fault fault = fault_in_tree(ensemble, tree)) return fault;
    return std::nullopt;
}

}  // namespace bosquet
