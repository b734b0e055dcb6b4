#include "trees/compile.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

#include "base/interrupt.hpp"

namespace bosquet {

namespace {

// Codes are bytes: 0 for missing values, then the intervals between at most this many thresholds.
constexpr std::size_t kMaxThresholds = 254;
// A feature takes a few kilobytes in each group that reads it. Models that would take more than a
// few hundred megabytes that way are walked.
constexpr std::size_t kMaxFeatures = 1 << 17;

// A coded node has two bytes for the index of a line, and a feature has up to two lines.
constexpr std::size_t kMaxCodedFeatures = 1 << 15;

// The number of nodes at which the top of a deep tree ends. More splits in the top cost more than
// the steps that they save, fewer save less: 64 and 256 are both slower.
constexpr std::size_t kTopEnds = 128;

std::uint32_t repeat_four_times(std::uint8_t byte) { return byte * 0x01010101u; }

// The number of entries below the value. Without branches, because they are unpredictable and a
// forest has millions of thresholds to look up.
std::size_t rank_in(const std::vector<double>& ascending, double value) {
    const double* from = ascending.data();
    std::size_t count = ascending.size();
    while (count > 1) {
        std::size_t half = count / 2;
        from += half * static_cast<std::size_t>(from[half - 1] < value);
        count -= half;
    }
    auto rank = static_cast<std::size_t>(from - ascending.data());
    return rank + static_cast<std::size_t>(count == 1 && *from < value);
}

// Marks the nodes at which the top of a deep tree ends. Starting from the root, the split with the
// most rows is added to the top until it has kTopEnds ends.
std::vector<bool> top_ends(const Tree& tree) {
    std::vector<bool> ends(tree.nodes.size());
    auto lighter = [&](std::uint32_t a, std::uint32_t b) {
        return std::pair(tree.stats[a].cover, b) < std::pair(tree.stats[b].cover, a);
    };
    std::vector<std::uint32_t> heap{0};
    std::size_t count = 1;  // number of ends, both in the heap and leaves
    ends[0] = true;
    while (!heap.empty() && count < kTopEnds) {
        std::pop_heap(heap.begin(), heap.end(), lighter);
        std::uint32_t node_index = heap.back();
        heap.pop_back();
        if (tree.nodes[node_index].is_leaf()) continue;
        ends[node_index] = false;
        for (std::uint32_t child : {tree.nodes[node_index].left, tree.nodes[node_index].left + 1}) {
            ends[child] = true;
            heap.push_back(child);
            std::push_heap(heap.begin(), heap.end(), lighter);
        }
        ++count;
    }
    return ends;
}

// The condition of a split: a threshold of a feature, or a set of its categories.
struct Condition {
    std::uint32_t feature;
    bool categorical;
    double threshold;

    auto key() const { return std::tuple(feature, categorical, threshold); }
};

// How the trees of a group use one feature.
struct FeatureUse {
    std::vector<double> thresholds;  // finite, ascending, distinct
    bool missing_left = false;
    bool missing_right = false;
    bool categorical = false;

    bool has_threshold(double threshold) const {
        std::size_t rank = rank_in(thresholds, threshold);
        return rank < thresholds.size() && thresholds[rank] == threshold;
    }
    void add(double threshold) {
        auto position = std::lower_bound(thresholds.begin(), thresholds.end(), threshold);
        if (position == thresholds.end() || *position != threshold)
            thresholds.insert(position, threshold);
    }
};

using FeatureUses = std::map<std::uint32_t, FeatureUse>;

// The distinct conditions of a tree that the group does not have yet. A threshold of +inf separates
// no values and is not a condition.
std::vector<Condition> new_conditions(const Tree& tree, const FeatureUses& group) {
    std::vector<Condition> conditions;
    for (const Node& node : tree.nodes) {
        if (node.is_leaf()) continue;
        if (node.categorical()) {
            conditions.push_back({node.feature(), true, 0});
        } else if (node.threshold() < std::numeric_limits<double>::infinity()) {
            auto use = group.find(node.feature());
            if (use == group.end() || !use->second.has_threshold(node.threshold()))
                conditions.push_back({node.feature(), false, node.threshold()});
        }
    }
    std::sort(conditions.begin(), conditions.end(),
              [](const Condition& a, const Condition& b) { return a.key() < b.key(); });
    auto same = [](const Condition& a, const Condition& b) { return a.key() == b.key(); };
    conditions.erase(std::unique(conditions.begin(), conditions.end(), same), conditions.end());
    return conditions;
}

// Whether the conditions can be added to the group, so that byte codes still distinguish all
// intervals.
bool can_add(const std::vector<Condition>& conditions, const FeatureUses& group) {
    const FeatureUse unused;
    for (std::size_t i = 0; i < conditions.size();) {
        std::uint32_t feature = conditions[i].feature;
        auto found = group.find(feature);
        const FeatureUse& use = found == group.end() ? unused : found->second;
        std::size_t thresholds = use.thresholds.size();
        bool by_threshold = thresholds > 0, by_category = use.categorical;
        for (; i < conditions.size() && conditions[i].feature == feature; ++i) {
            (conditions[i].categorical ? by_category : by_threshold) = true;
            if (!conditions[i].categorical && !use.has_threshold(conditions[i].threshold))
                ++thresholds;
        }
        if (thresholds > kMaxThresholds || (by_threshold && by_category)) return false;
    }
    return true;
}

void add_to_group(FeatureUses& group, const Tree& tree, const std::vector<Condition>& conditions) {
    for (const Condition& condition : conditions)
        if (!condition.categorical) group[condition.feature].add(condition.threshold);
    for (const Node& node : tree.nodes) {
        if (node.is_leaf()) continue;
        FeatureUse& use = group[node.feature()];
        if (node.categorical())
            use.categorical = true;
        else
            (node.missing_left() ? use.missing_left : use.missing_right) = true;
    }
}

class GroupCompiler {
  public:
    GroupCompiler(const Ensemble& ensemble, const FeatureUses& uses) : ensemble_(&ensemble) {
        for (const auto& [feature, use] : uses) add_feature(feature, use);
        feature_lines_ = group_.lines;
    }

    void add(const Tree& tree, TreeForm form) {
        if (form == TreeForm::lines)
            group_.trees.push_back(compile_lines_tree(tree));
        else
            group_.trees.push_back(form == TreeForm::coded ? compile_coded_tree(tree)
                                                           : walked_tree());
    }

    TreeGroup finish(std::size_t first) {
        group_.first = first;
        return std::move(group_);
    }

  private:
    static CompiledTree walked_tree() {
        CompiledTree tree;
        tree.form = TreeForm::walked;
        return tree;
    }

    CompiledTree compile_coded_tree(const Tree& tree) {
        std::vector<std::uint32_t> roots;
        CompiledTree out = compile(tree, top_ends(tree), roots);
        out.form = TreeForm::coded;
        out.roots = std::move(roots);
        out.nodes.resize(tree.nodes.size());
        for (std::size_t node_index = 0; node_index < tree.nodes.size(); ++node_index) {
            const Node& node = tree.nodes[node_index];
            out.nodes[node_index].left = static_cast<std::uint32_t>(node_index);
            if (node.is_leaf()) continue;
            ThresholdTest test = threshold_test(node);
            out.nodes[node_index] = {node.left, static_cast<std::uint16_t>(test.line / kLineRows),
                                     static_cast<std::int8_t>(test.bound), 1};
        }
        return out;
    }

    std::uint32_t new_line() { return group_.lines++ * kLineRows; }

    void add_feature(std::uint32_t feature, const FeatureUse& use) {
        CodedFeature coded;
        coded.feature = feature;
        coded.bins = std::make_unique<FeatureBins>();
        if (use.categorical) {
            coded.bins->categorical = true;
            coded.bins->categories = ensemble_->categories[feature];
            if (coded.bins->wide())
                coded.wide_column = group_.wide_columns++;
            else
                coded.codes_line = new_line();
        } else {
            coded.bins->edges = use.thresholds;
            if (use.missing_left) coded.missing_left_line = new_line();
            if (use.missing_right) coded.missing_right_line = new_line();
        }
        coded.binner = std::make_unique<ColumnBinner>(*coded.bins);
        index_of_feature_[feature] = group_.features.size();
        group_.features.push_back(std::move(coded));
    }

    const CodedFeature& coded_feature_of(const Node& node) const {
        return group_.features[index_of_feature_.at(node.feature())];
    }

    CompiledTree compile_lines_tree(const Tree& tree) {
        std::vector<bool> ends(tree.nodes.size());
        for (std::size_t node_index = 0; node_index < ends.size(); ++node_index)
            ends[node_index] = tree.nodes[node_index].is_leaf();
        std::vector<std::uint32_t> leaves;
        CompiledTree out = compile(tree, ends, leaves);
        for (std::uint32_t leaf : leaves) out.leaf_values.push_back(tree.nodes[leaf].leaf_value());
        return out;
    }

    // Compiles the operations on lines that lead a row from the root to the first node on its path
    // that is an end. `ends_in_order` receives the ends in the order of their numbers.
    CompiledTree compile(const Tree& tree, const std::vector<bool>& ends,
                         std::vector<std::uint32_t>& ends_in_order) {
        tree_line_ = feature_lines_;
        CompiledTree out;
        std::map<std::uint32_t, std::uint32_t> class_lines;
        if (!group_levels(tree, out, class_lines)) return walked_tree();
        std::vector<std::uint32_t> offset = number_ends(tree, ends, ends_in_order);
        auto is_leaf_pair = [&](const Node& node) {
            return ends[node.left] && ends[node.left + 1];
        };
        std::uint32_t splits = 0;
        // Children come after their parents, so that the loop runs from the end.
        for (bool leaf_pairs : {true, false})
            for (std::size_t node_index = tree.nodes.size(); node_index-- > 0;) {
                const Node& node = tree.nodes[node_index];
                if (offset[node_index] == kBelow || ends[node_index] ||
                    is_leaf_pair(node) != leaf_pairs)
                    continue;
                auto [line, bound] = test_of(tree, node_index, out, class_lines);
                if (leaf_pairs)
                    out.leaf_pairs.push_back({line, bound,
                                              repeat_four_times(static_cast<std::uint8_t>(
                                                  offset[node.left] / kLineRows))});
                else
                    out.splits.push_back({line, bound, offset[node.left], offset[node.left + 1]});
                offset[node_index] = pick_offset(splits++);
            }
        group_.lines = std::max(group_.lines, tree_line_);
        return out;
    }

    // Numbers the ends, so that two children of one node get consecutive numbers. Returns for each
    // end the offset of its line among the picks, and kBelow for a node below an end.
    static constexpr std::uint32_t kBelow = 0xffffffff;
    static std::vector<std::uint32_t> number_ends(const Tree& tree, const std::vector<bool>& ends,
                                                  std::vector<std::uint32_t>& ends_in_order) {
        std::vector<std::uint32_t> offset(tree.nodes.size(), kBelow);
        auto add_end = [&](std::uint32_t node_index) {
            offset[node_index] = static_cast<std::uint32_t>(ends_in_order.size() * kLineRows);
            ends_in_order.push_back(node_index);
        };
        offset[0] = 0;
        if (ends[0]) add_end(0);
        for (std::size_t node_index = 0; node_index < tree.nodes.size(); ++node_index) {
            if (offset[node_index] == kBelow || ends[node_index]) continue;
            for (std::uint32_t child :
                 {tree.nodes[node_index].left, tree.nodes[node_index].left + 1}) {
                offset[child] = 0;
                if (ends[child]) add_end(child);
            }
        }
        return offset;
    }

    struct ThresholdTest {
        std::uint32_t line;
        std::uint8_t bound;
    };
    ThresholdTest threshold_test(const Node& node) const {
        const CodedFeature& feature = coded_feature_of(node);
        std::size_t rank = rank_in(feature.bins->edges, node.threshold());
        // A value goes left if at most `rank` edges are below it. In the line where 0 means missing
        // its code is one larger.
        auto bound = static_cast<std::uint8_t>(node.missing_left() ? rank + 1 : rank);
        return {node.missing_left() ? feature.missing_left_line : feature.missing_right_line,
                static_cast<std::uint8_t>(bound ^ 0x80)};
    }

    struct Test {
        std::uint32_t line, bound;
    };
    Test test_of(const Tree& tree, std::size_t node_index, CompiledTree& out,
                 const std::map<std::uint32_t, std::uint32_t>& class_lines) {
        const Node& node = tree.nodes[node_index];
        const CodedFeature& feature = coded_feature_of(node);
        if (!node.categorical()) {
            ThresholdTest test = threshold_test(node);
            return {test.line, repeat_four_times(test.bound)};
        }
        CategoryTest test{};
        test.result = tree_line_++ * kLineRows;
        auto include = [&](std::uint32_t code) { test.left_set[code / 8] |= 1u << (code % 8); };
        if (feature.wide_column == kNoLine) {
            test.line = feature.codes_line;
            for (std::uint32_t code = 0; code <= feature.bins->categories; ++code)
                if (goes_left(tree, node, code)) include(code);
        } else {
            test.line = class_lines.at(node.feature());
            for (const CategoryClasses& classes : out.classes)
                if (classes.line == test.line)
                    for (std::uint32_t code = 0; code < classes.class_of.size(); ++code)
                        if (goes_left(tree, node, code)) include(classes.class_of[code]);
        }
        out.tests.push_back(test);
        return {test.result, repeat_four_times(0xff)};
    }

    static bool goes_left(const Tree& tree, const Node& node, std::uint32_t code) {
        return code == 0 ? node.missing_left() : tree.in_left_set(node, code - 1);
    }

    // Groups the levels of each wide feature into classes; returns false if a feature has too many
    // classes.
    bool group_levels(const Tree& tree, CompiledTree& out,
                      std::map<std::uint32_t, std::uint32_t>& class_lines) {
        std::map<std::uint32_t, std::vector<const Node*>> nodes_on;
        for (const Node& node : tree.nodes)
            if (!node.is_leaf() && coded_feature_of(node).wide_column != kNoLine)
                nodes_on[node.feature()].push_back(&node);
        for (const auto& [feature, nodes] : nodes_on) {
            auto classes = classes_of(tree, nodes);
            if (!classes) return false;
            class_lines[feature] = tree_line_ * kLineRows;
            out.classes.push_back({coded_feature_of(*nodes[0]).wide_column,
                                   tree_line_++ * static_cast<std::uint32_t>(kLineRows),
                                   std::move(*classes)});
        }
        return true;
    }

    // Starts from one class; each node splits every class in two.
    static std::optional<std::vector<std::uint8_t>> classes_of(
        const Tree& tree, const std::vector<const Node*>& nodes) {
        std::uint32_t words = 0;
        for (const Node* node : nodes) words = std::max(words, node->set_words());
        // Missing values, every level that a set may contain, and one entry for all larger levels.
        std::vector<std::uint8_t> class_of(std::size_t{words} * 32 + 2);
        for (const Node* node : nodes) {
            std::array<std::array<int, 2>, 256> next;
            next.fill({-1, -1});
            int count = 0;
            for (std::uint32_t code = 0; code < class_of.size(); ++code) {
                int& to = next[class_of[code]][goes_left(tree, *node, code)];
                if (to < 0) to = count++;
                if (count > 256) return std::nullopt;
                class_of[code] = static_cast<std::uint8_t>(to);
            }
        }
        return class_of;
    }

    const Ensemble* ensemble_;
    TreeGroup group_;
    std::map<std::uint32_t, std::size_t> index_of_feature_;
    std::uint32_t feature_lines_ = 0;
    std::uint32_t tree_line_ = 0;
};

// The form of a tree if its conditions fit into a group.
TreeForm form_of(const Ensemble& ensemble, const Tree& tree) {
    if (!ensemble.vector_leaves && (tree.nodes.size() + 1) / 2 <= kMaxByteLeaves)
        return TreeForm::lines;
    if (ensemble.features > kMaxCodedFeatures) return TreeForm::walked;
    auto by_category = [](const Node& node) { return !node.is_leaf() && node.categorical(); };
    bool any = std::any_of(tree.nodes.begin(), tree.nodes.end(), by_category);
    return any ? TreeForm::walked : TreeForm::coded;
}

}  // namespace

CompiledEnsemble::CompiledEnsemble(const Ensemble& ensemble, std::size_t first, std::size_t last)
    : first_(first), last_(last) {
    std::size_t features = 0;
    while (first < last) {
        FeatureUses uses;
        std::vector<TreeForm> forms;
        for (std::size_t t = first; t < last; ++t) {
            const Tree& tree = ensemble.trees[t];
            check_interrupt(64 * tree.nodes.size());
            TreeForm form = features > kMaxFeatures ? TreeForm::walked : form_of(ensemble, tree);
            if (form != TreeForm::walked) {
                std::vector<Condition> conditions = new_conditions(tree, uses);
                if (can_add(conditions, uses))
                    add_to_group(uses, tree, conditions);
                else if (can_add(new_conditions(tree, {}), {}))
                    break;
                else
                    form = TreeForm::walked;
            }
            forms.push_back(form);
        }
        features += uses.size();
        GroupCompiler compiler(ensemble, uses);
        for (std::size_t i = 0; i < forms.size(); ++i) {
            check_interrupt(64 * ensemble.trees[first + i].nodes.size());
            compiler.add(ensemble.trees[first + i], forms[i]);
        }
        groups_.push_back(compiler.finish(first));
        first += forms.size();
    }
}

}  // namespace bosquet
