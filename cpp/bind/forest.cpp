#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/error.hpp"
#include "bind/bindings.hpp"
#include "bind/checks.hpp"
#include "bind/long_call.hpp"
#include "bind/vectors.hpp"
#include "trees/permute.hpp"
#include "trees/tree.hpp"
#include "trees/validate.hpp"

namespace nb = nanobind;
using namespace bosquet;

namespace {

using RowNumbers = nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Returns a copy of the ensemble whose leaves vote: 1 for the class with the largest share, 0 for
// the others. With one output, a share of at most 1/2 becomes 0. With several targets, the outputs
// of one target follow those of the previous one.
std::shared_ptr<Ensemble> with_hard_votes(const Ensemble& self,
                                          std::vector<std::uint32_t> class_counts) {
    if (class_counts.empty()) class_counts = {self.outputs};
    if (std::count(class_counts.begin(), class_counts.end(), 0u) != 0 ||
        std::accumulate(class_counts.begin(), class_counts.end(), std::size_t{0}) != self.outputs)
        throw InputError("class_counts must be positive and sum to the number of outputs (" +
                         std::to_string(self.outputs) + ")");
    auto votes = std::make_shared<Ensemble>(self);
    for (Tree& tree : votes->trees) {
        if (!self.vector_leaves) {
            for (Node& node : tree.nodes)
                if (node.is_leaf()) node.set_leaf_value(node.leaf_value() > 0.5 ? 1.0 : 0.0);
            continue;
        }
        double* values = tree.leaf_values.data();
        for (double* end = values + tree.leaf_values.size(); values < end;) {
            for (std::uint32_t count : class_counts) {
                auto best = std::max_element(values, values + count) - values;
                std::fill_n(values, count, 0.0);
                values[best] = 1;
                values += count;
            }
        }
    }
    return votes;
}

nb::ndarray<nb::numpy, double> importance_by_tree(const Ensemble& self, const std::string& kind) {
    if (kind != "gain" && kind != "split")
        throw InputError("kind='" + kind + "' is unknown; pass 'gain' or 'split'");
    double* out;
    auto result = new_array<double>({self.trees.size(), self.features}, &out);
    std::fill_n(out, self.trees.size() * self.features, 0.0);
    for (const Tree& tree : self.trees) {
        for (std::size_t node_index = 0; node_index < tree.nodes.size(); ++node_index)
            if (!tree.nodes[node_index].is_leaf())
                out[tree.nodes[node_index].feature()] +=
                    kind == "gain" ? tree.stats[node_index].gain : 1;
        out += self.features;
    }
    return result;
}

nb::tuple find_permuted_leaves(const Ensemble& self, std::size_t tree, nb::object data,
                               RowNumbers rows, std::uint64_t key) {
    OwnedTable table = table_of(data);
    check_index(tree, self.trees.size(), "tree");
    check_columns(self, table.columns.size());
    // A copy: the caller's row numbers may change once the GIL is released.
    std::vector<std::uint32_t> wanted(rows.data(), rows.data() + rows.shape(0));
    for (std::uint32_t row : wanted) check_index(row, table.rows, "row");
    PermutedLeaves found;
    {
        LongCall call;
        found = permute_leaves(self, self.trees[tree], table, wanted, key);
    }
    std::int32_t* out;
    auto leaves = new_array<std::int32_t>({found.features.size() + 1, wanted.size()}, &out);
    std::copy(found.leaves.begin(), found.leaves.end(), out);
    return nb::make_tuple(to_array(found.features), leaves);
}

template <class T>
using NodeArray = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Appends a tree given by arrays with one entry per node, in the format of tree_arrays. A right
// child has the number after its left sibling.
void add_tree(Ensemble& self, NodeArray<std::int32_t> feature, NodeArray<double> threshold,
              NodeArray<std::int32_t> left, NodeArray<bool> missing_left, nb::list categories,
              DoubleMatrix value, NodeArray<double> gain, NodeArray<double> cover) {
    std::size_t size = feature.shape(0);
    nb::tuple left_categories(
        categories);  // a copy: reading an entry may run Python code that changes the list
    std::size_t outputs = self.vector_leaves ? self.outputs : 1;
    if (threshold.shape(0) != size || left.shape(0) != size || missing_left.shape(0) != size ||
        left_categories.size() != size || value.shape(0) != size || value.shape(1) != outputs ||
        gain.shape(0) != size || cover.shape(0) != size)
        throw InputError("the arrays of a tree must have one entry per node (" +
                         std::to_string(size) + " in feature), and value " +
                         std::to_string(outputs) + " columns");
    Tree tree;
    tree.nodes.resize(size);
    tree.stats.resize(size);
    for (std::size_t node_index = 0; node_index < size; ++node_index) {
        Node& node = tree.nodes[node_index];
        tree.stats[node_index] = {static_cast<float>(gain.data()[node_index]),
                                  static_cast<float>(cover.data()[node_index])};
        if (feature.data()[node_index] < 0) {
            const double* values = value.data() + node_index * outputs;
            if (self.vector_leaves) {
                node.set_vector_index(tree.leaf_values.size() / outputs);
                tree.leaf_values.insert(tree.leaf_values.end(), values, values + outputs);
            } else {
                node.set_leaf_value(values[0]);
            }
            continue;
        }
        if (static_cast<std::uint32_t>(feature.data()[node_index]) >= self.features)
            throw InputError("node " + std::to_string(node_index) + " splits on feature " +
                             std::to_string(feature.data()[node_index]) +
                             ", but the model has only " + std::to_string(self.features) +
                             " features");
        node.left = static_cast<std::uint32_t>(left.data()[node_index]);
        node.tag = static_cast<std::uint32_t>(feature.data()[node_index]) |
                   (missing_left.data()[node_index] ? Node::kMissingLeft : 0);
        node.set_threshold(threshold.data()[node_index]);
        if (left_categories[node_index].is_none()) continue;
        auto codes = cast_to<std::vector<std::uint32_t>>(
            left_categories[node_index], "left_categories of node " + std::to_string(node_index),
            "None or a list of category codes");
        for (std::uint32_t code : codes)
            if (code >= kMaxCategories)
                throw InputError("category code " + std::to_string(code) + " of node " +
                                 std::to_string(node_index) +
                                 " is out of range; codes must be below " +
                                 std::to_string(kMaxCategories));
        tree.set_left_categories(node, codes);
    }
    // Only the new tree is checked: checking all trees on every call would take quadratic time.
    if (auto fault = find_fault(self, tree))
        throw InputError("the arrays do not describe a valid tree: " + *fault);
    self.add(std::move(tree));
}

}  // namespace

void bind_forest(nb::module_& module) {
    module.def(
        "add_tree", add_tree, nb::arg("ensemble"), nb::arg("feature"), nb::arg("threshold"),
        nb::arg("left"), nb::arg("missing_left"), nb::arg("left_categories"), nb::arg("value"),
        nb::arg("gain"), nb::arg("cover"),
        "Append a tree given by arrays with one entry per node, in the format of tree_arrays.");
    module.def("with_hard_votes", with_hard_votes, nb::arg("ensemble"),
               nb::arg("class_counts") = std::vector<std::uint32_t>{},
               "Return a copy whose leaves vote for one class instead of holding class shares.");
    module.def(
        "importance_by_tree", importance_by_tree, nb::arg("ensemble"), nb::arg("kind"),
        "Return for each tree and feature the sum of the gains of its splits, or their number.");
    module.def("permuted_leaves", find_permuted_leaves, nb::arg("ensemble"), nb::arg("tree"),
               nb::arg("data"), nb::arg("rows"), nb::arg("key"),
               "Return the features that a tree uses, and the leaves that the rows reach: first "
               "with their own values, then with each of these features permuted among the rows.");
}
