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

// Codes are bytes: 0 for missing, then the intervals between this many thresholds.
constexpr std::size_t kMaxThresholds = 254;
// A feature takes a few kilobytes in each group that reads it. Models that would take more than
// some hundred megabytes by that are walked.
constexpr std::size_t kMaxFeatures = 1 << 17;

// A coded node has two bytes for the number of a line, and a feature has up to two lines.
constexpr std::size_t kMaxCodedFeatures = 1 << 15;

// More splits in the crown cost more than the steps they save: 64 and 256 ends are both slower.
constexpr std::size_t kCrownEnds = 128;

std::uint32_t four_times(std::uint8_t byte) { return byte * 0x01010101u; }

// How many of the numbers are below the value. Without branches: how they would go cannot be
// foretold, and a forest has millions of thresholds to look up.
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

// The nodes at which the crown of a deep tree ends, true for those: starting from the root, the
// split that most rows meet is taken in until there are kCrownEnds.
std::vector<bool> crown_ends(const Tree& tree) {
    std::vector<bool> ends(tree.nodes.size());
    auto lighter = [&](std::uint32_t a, std::uint32_t b) {
        return std::pair(tree.stats[a].cover, b) < std::pair(tree.stats[b].cover, a);
    };
    std::vector<std::uint32_t> heap{0};
    std::size_t count = 1;  // of ends, those in the heap and those that are leaves
    ends[0] = true;
    while (!heap.empty() && count < kCrownEnds) {
        std::pop_heap(heap.begin(), heap.end(), lighter);
        std::uint32_t at = heap.back();
        heap.pop_back();
        if (tree.nodes[at].is_leaf()) continue;
        ends[at] = false;
        for (std::uint32_t child : {tree.nodes[at].left, tree.nodes[at].left + 1}) {
            ends[child] = true;
            heap.push_back(child);
            std::push_heap(heap.begin(), heap.end(), lighter);
        }
        ++count;
    }
    return ends;
}

// What a tree asks of a feature at one threshold, or by categories.
struct Question {
    std::uint32_t feature;
    bool categorical;
    double threshold;

    auto key() const { return std::tuple(feature, categorical, threshold); }
};

// What a group's trees ask of one feature.
struct FeatureUse {
    std::vector<double> thresholds;  // finite, ascending, distinct
    bool missing_left = false;
    bool missing_right = false;
    bool categorical = false;

    bool knows(double threshold) const {
        std::size_t rank = rank_in(thresholds, threshold);
        return rank < thresholds.size() && thresholds[rank] == threshold;
    }
    void add(double threshold) {
        auto place = std::lower_bound(thresholds.begin(), thresholds.end(), threshold);
        if (place == thresholds.end() || *place != threshold) thresholds.insert(place, threshold);
    }
};

using FeatureUses = std::map<std::uint32_t, FeatureUse>;

// The questions of a tree that the group does not ask yet, each once. No value lies above +inf, so
// that it cuts nothing off and is no question.
std::vector<Question> new_questions(const Tree& tree, const FeatureUses& group) {
    std::vector<Question> questions;
    for (const Node& node : tree.nodes) {
        if (node.is_leaf()) continue;
        if (node.categorical()) {
            questions.push_back({node.feature(), true, 0});
        } else if (node.number < std::numeric_limits<double>::infinity()) {
            auto use = group.find(node.feature());
            if (use == group.end() || !use->second.knows(node.number))
                questions.push_back({node.feature(), false, node.number});
        }
    }
    std::sort(questions.begin(), questions.end(),
              [](const Question& a, const Question& b) { return a.key() < b.key(); });
    auto same = [](const Question& a, const Question& b) { return a.key() == b.key(); };
    questions.erase(std::unique(questions.begin(), questions.end(), same), questions.end());
    return questions;
}

// Whether the tree's questions can be added to those of the group, so that codes still tell apart
// all that is asked.
bool fits(const std::vector<Question>& questions, const FeatureUses& group) {
    const FeatureUse nothing;
    for (std::size_t i = 0; i < questions.size();) {
        std::uint32_t feature = questions[i].feature;
        auto found = group.find(feature);
        const FeatureUse& use = found == group.end() ? nothing : found->second;
        std::size_t thresholds = use.thresholds.size();
        bool by_threshold = thresholds > 0, by_category = use.categorical;
        for (; i < questions.size() && questions[i].feature == feature; ++i) {
            (questions[i].categorical ? by_category : by_threshold) = true;
            if (!questions[i].categorical && !use.knows(questions[i].threshold)) ++thresholds;
        }
        if (thresholds > kMaxThresholds || (by_threshold && by_category)) return false;
    }
    return true;
}

void join(FeatureUses& group, const Tree& tree, const std::vector<Question>& questions) {
    for (const Question& question : questions)
        if (!question.categorical) group[question.feature].add(question.threshold);
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
            group_.trees.push_back(lines_tree(tree));
        else
            group_.trees.push_back(form == TreeForm::coded ? coded_tree(tree) : walked_tree());
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

    CompiledTree coded_tree(const Tree& tree) {
        std::vector<std::uint32_t> roots;
        CompiledTree out = compile(tree, crown_ends(tree), roots);
        out.form = TreeForm::coded;
        out.roots = std::move(roots);
        out.nodes.resize(tree.nodes.size());
        for (std::size_t at = 0; at < tree.nodes.size(); ++at) {
            const Node& node = tree.nodes[at];
            out.nodes[at].left = static_cast<std::uint32_t>(at);
            if (node.is_leaf()) continue;
            ThresholdTest test = threshold_test(node);
            out.nodes[at] = {node.left, static_cast<std::uint16_t>(test.line / kLineRows),
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
                coded.codes = new_line();
        } else {
            coded.bins->edges = use.thresholds;
            if (use.missing_left) coded.missing_left = new_line();
            if (use.missing_right) coded.missing_right = new_line();
        }
        coded.binner = std::make_unique<ColumnBinner>(*coded.bins);
        place_of_[feature] = group_.features.size();
        group_.features.push_back(std::move(coded));
    }

    const CodedFeature& coded(const Node& node) const {
        return group_.features[place_of_.at(node.feature())];
    }

    CompiledTree lines_tree(const Tree& tree) {
        std::vector<bool> ends(tree.nodes.size());
        for (std::size_t at = 0; at < ends.size(); ++at) ends[at] = tree.nodes[at].is_leaf();
        std::vector<std::uint32_t> leaves;
        CompiledTree out = compile(tree, ends, leaves);
        for (std::uint32_t leaf : leaves) out.leaf_values.push_back(tree.nodes[leaf].number);
        return out;
    }

    // Operations on lines that take a row from the root to the first of its nodes that is an end;
    // `numbered` are the ends by the number that a row gets.
    CompiledTree compile(const Tree& tree, const std::vector<bool>& ends,
                         std::vector<std::uint32_t>& numbered) {
        tree_line_ = feature_lines_;
        CompiledTree out;
        std::map<std::uint32_t, std::uint32_t> class_lines;
        if (!fold_levels(tree, out, class_lines)) return walked_tree();
        std::vector<std::uint32_t> place = number_ends(tree, ends, numbered);
        auto twin = [&](const Node& node) { return ends[node.left] && ends[node.left + 1]; };
        std::uint32_t splits = 0;
        // Children stand behind their parents, so from the end they come first.
        for (bool twins : {true, false})
            for (std::size_t at = tree.nodes.size(); at-- > 0;) {
                const Node& node = tree.nodes[at];
                if (place[at] == kBelow || ends[at] || twin(node) != twins) continue;
                auto [line, bound] = test_of(tree, at, out, class_lines);
                if (twins)
                    out.twins.push_back(
                        {line, bound,
                         four_times(static_cast<std::uint8_t>(place[node.left] / kLineRows))});
                else
                    out.splits.push_back({line, bound, place[node.left], place[node.left + 1]});
                place[at] = pick_offset(splits++);
            }
        group_.lines = std::max(group_.lines, tree_line_);
        return out;
    }

    // Gives ends their numbers, two that hang on one node neighbouring ones, and returns for each
    // the offset of its line among the picks; kBelow for a node behind an end.
    static constexpr std::uint32_t kBelow = 0xffffffff;
    static std::vector<std::uint32_t> number_ends(const Tree& tree, const std::vector<bool>& ends,
                                                  std::vector<std::uint32_t>& numbered) {
        std::vector<std::uint32_t> place(tree.nodes.size(), kBelow);
        auto number = [&](std::uint32_t at) {
            place[at] = static_cast<std::uint32_t>(numbered.size() * kLineRows);
            numbered.push_back(at);
        };
        place[0] = 0;
        if (ends[0]) number(0);
        for (std::size_t at = 0; at < tree.nodes.size(); ++at) {
            if (place[at] == kBelow || ends[at]) continue;
            for (std::uint32_t child : {tree.nodes[at].left, tree.nodes[at].left + 1}) {
                place[child] = 0;
                if (ends[child]) number(child);
            }
        }
        return place;
    }

    struct ThresholdTest {
        std::uint32_t line;
        std::uint8_t bound;
    };
    ThresholdTest threshold_test(const Node& node) const {
        const CodedFeature& feature = coded(node);
        std::size_t rank = rank_in(feature.bins->edges, node.number);
        // A value goes left if no more than `rank` edges lie below it; its code is one more in the
        // line where 0 means missing.
        auto bound = static_cast<std::uint8_t>(node.missing_left() ? rank + 1 : rank);
        return {node.missing_left() ? feature.missing_left : feature.missing_right,
                static_cast<std::uint8_t>(bound ^ 0x80)};
    }

    struct Test {
        std::uint32_t line, bound;
    };
    Test test_of(const Tree& tree, std::size_t at, CompiledTree& out,
                 const std::map<std::uint32_t, std::uint32_t>& class_lines) {
        const Node& node = tree.nodes[at];
        const CodedFeature& feature = coded(node);
        if (!node.categorical()) {
            ThresholdTest test = threshold_test(node);
            return {test.line, four_times(test.bound)};
        }
        CategoryTest test{};
        test.answer = tree_line_++ * kLineRows;
        auto include = [&](std::uint32_t code) { test.left_set[code / 8] |= 1u << (code % 8); };
        if (feature.wide_column == kNoLine) {
            test.line = feature.codes;
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
        return {test.answer, four_times(0xff)};
    }

    static bool goes_left(const Tree& tree, const Node& node, std::uint32_t code) {
        return code == 0 ? node.missing_left() : tree.in_left_set(node, code - 1);
    }

    // Finds the classes of levels of each wide feature; false if a feature has too many.
    bool fold_levels(const Tree& tree, CompiledTree& out,
                     std::map<std::uint32_t, std::uint32_t>& class_lines) {
        std::map<std::uint32_t, std::vector<const Node*>> nodes_on;
        for (const Node& node : tree.nodes)
            if (!node.is_leaf() && coded(node).wide_column != kNoLine)
                nodes_on[node.feature()].push_back(&node);
        for (const auto& [feature, nodes] : nodes_on) {
            auto classes = classes_of(tree, nodes);
            if (!classes) return false;
            class_lines[feature] = tree_line_ * kLineRows;
            out.classes.push_back({coded(*nodes[0]).wide_column,
                                   tree_line_++ * static_cast<std::uint32_t>(kLineRows),
                                   std::move(*classes)});
        }
        return true;
    }

    // Starts from one class and lets each node cut every class in two.
    static std::optional<std::vector<std::uint8_t>> classes_of(
        const Tree& tree, const std::vector<const Node*>& nodes) {
        std::uint32_t words = 0;
        for (const Node* node : nodes) words = std::max(words, node->set_words());
        // Missing, every level that a set may name, and one for all levels behind them.
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
    std::map<std::uint32_t, std::size_t> place_of_;
    std::uint32_t feature_lines_ = 0;
    std::uint32_t tree_line_ = 0;
};

// The form that a tree is to have if its questions fit into a group.
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
                std::vector<Question> questions = new_questions(tree, uses);
                if (fits(questions, uses))
                    join(uses, tree, questions);
                else if (fits(new_questions(tree, {}), {}))
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
