#include "stump/stump.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.hpp"
#include "trees/validate.hpp"

namespace bosquet {

namespace {

// The number of values per leaf. Without vector leaves, a tree adds to a single output.
std::size_t leaf_width(const Ensemble& ensemble) {
    return ensemble.vector_leaves ? ensemble.outputs : 1;
}

void check_fits(const Stump& stump, std::span<const double> values, const Ensemble& ensemble) {
    if (values.size() != 2 * leaf_width(ensemble))
        throw InputError("the stump has " + std::to_string(values.size() / 2) +
                         " values per side, but a leaf of the model has " +
                         std::to_string(leaf_width(ensemble)));
    if (stump.is_constant()) return;
    if (static_cast<std::uint32_t>(stump.feature) >= ensemble.features)
        throw InputError("the stump uses feature " + std::to_string(stump.feature) +
                         ", but the model has only " + std::to_string(ensemble.features) +
                         " features");
    std::uint32_t categories = ensemble.categories[stump.feature];
    if (stump.categorical != (categories > 0))
        throw InputError("feature " + std::to_string(stump.feature) + " is " +
                         (stump.categorical ? "categorical" : "quantitative") +
                         " in the stump, but not in the model");
    if (!stump.left_categories.empty() && stump.left_categories.back() >= categories)
        throw InputError("the stump contains a category that the model does not have");
}

Node root_of(const Stump& stump, Tree& tree) {
    Node root;
    root.left = 1;
    root.tag = static_cast<std::uint32_t>(stump.feature);
    if (stump.missing_left) root.tag |= Node::kMissingLeft;
    if (!stump.categorical) {
        root.set_threshold(stump.threshold);
        return root;
    }
    tree.set_left_categories(root, stump.left_categories);
    return root;
}

}  // namespace

bool Stump::goes_left(double value) const {
    if (std::isnan(value)) return missing_left;
    if (!categorical) return value <= threshold;
    if (value < 0) return missing_left;
    if (value >= kMaxCategories) return false;
    return std::binary_search(left_categories.begin(), left_categories.end(),
                              static_cast<std::uint32_t>(value));
}

void append_stump(const Stump& stump, std::span<const double> values, double scale,
                  Ensemble& ensemble) {
    check_fits(stump, values, ensemble);
    std::size_t outputs = leaf_width(ensemble);
    std::size_t leaves = stump.is_constant() ? 1 : 2;
    std::vector<double> scaled(values.begin(), values.begin() + leaves * outputs);
    for (double& value : scaled) {
        value *= scale;
        if (!std::isfinite(value))
            throw InputError(
                "values times scale must be finite; pass smaller values or a smaller scale");
    }
    Tree tree;
    if (!stump.is_constant()) {
        tree.nodes.push_back(root_of(stump, tree));
        tree.stats.push_back(
            {static_cast<float>(stump.gain > 0 ? stump.gain : 0), static_cast<float>(stump.rows)});
    }
    for (std::size_t leaf = 0; leaf < leaves; ++leaf) {
        Node node;
        if (ensemble.vector_leaves)
            node.set_vector_index(leaf);
        else
            node.set_leaf_value(scaled[leaf]);
        tree.nodes.push_back(node);
        double rows = leaves == 1 ? stump.rows
                      : leaf == 0 ? stump.left_rows
                                  : stump.rows - stump.left_rows;
        tree.stats.push_back({0, static_cast<float>(rows)});
    }
    if (ensemble.vector_leaves) tree.leaf_values = std::move(scaled);
    if (auto fault = find_fault(ensemble, tree))
        throw InputError("the stump does not match the model: " + *fault);
    ensemble.add(std::move(tree));
}

}  // namespace bosquet
