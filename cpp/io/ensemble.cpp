#include "io/ensemble.hpp"

#include <algorithm>
#include <cmath>

#include "tree/validate.hpp"

namespace bosquet {

namespace {

// The first number of a node: 0 for a leaf, else 1 + 4 * feature + these.
constexpr std::uint64_t kCategorical = 2;
constexpr std::uint64_t kMissingLeft = 1;

// The least room that each thing takes, by which a count is judged before room is made.
constexpr std::size_t kRealBytes = 8;
constexpr std::size_t kNodeBytes = 1 + 1 + 1 + 4 + 4;  // a split; a leaf takes 1 + 8 + 4
constexpr std::size_t kTreeBytes = 1 + 1 + 8 + 4;

// Orders thresholds as numbers, and -0 before +0, so that each keeps its bits.
bool before(double a, double b) { return a < b || (a == b && std::signbit(a) > std::signbit(b)); }

using Thresholds = std::vector<std::vector<double>>;  // by feature

Thresholds thresholds_of(const Ensemble& ensemble) {
    Thresholds thresholds(ensemble.features);
    for (const Tree& tree : ensemble.trees)
        for (const Node& node : tree.nodes)
            if (!node.is_leaf() && !node.categorical())
                thresholds[node.feature()].push_back(node.number);
    for (std::vector<double>& table : thresholds) {
        std::sort(table.begin(), table.end(), before);
        auto same = [](double a, double b) { return !before(a, b); };
        table.erase(std::unique(table.begin(), table.end(), same), table.end());
    }
    return thresholds;
}

// A set of categories: bit c % 8 of byte c / 8 is category c; the last byte is not 0.
void write_set(const Tree& tree, const Node& node, ByteWriter& out) {
    const std::uint32_t* words = tree.category_words.data() + node.set_begin();
    std::vector<std::uint8_t> set(std::size_t{node.set_words()} * 4);
    for (std::size_t i = 0; i < set.size(); ++i)
        set[i] = static_cast<std::uint8_t>(words[i / 4] >> (8 * (i % 4)));
    while (!set.empty() && set.back() == 0) set.pop_back();
    out.varint(set.size());
    out.bytes(set);
}

void read_set(ByteReader& in, Tree& tree, Node& node) {
    auto set = in.bytes(in.count(1, "the size of a category set"), "a category set");
    if (!set.empty() && set.back() == 0)
        ByteReader::refuse("a category set", "is not written in its shortest form");
    std::size_t begin = tree.category_words.size(), words = (set.size() + 3) / 4;
    if (begin + words > 0xffffffffu) ByteReader::refuse("a category set", "is too large");
    tree.category_words.resize(begin + words);
    for (std::size_t i = 0; i < set.size(); ++i)
        tree.category_words[begin + i / 4] |= std::uint32_t{set[i]} << (8 * (i % 4));
    node.put_set(static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(words));
}

void write_tree(const Tree& tree, const Thresholds& thresholds, ByteWriter& out) {
    out.varint(tree.nodes.size() / 2);
    for (std::size_t at = 0; at < tree.nodes.size(); ++at) {
        const Node& node = tree.nodes[at];
        if (node.is_leaf()) {
            out.varint(0);
            out.real64(node.number);
        } else {
            out.varint(1 + 4 * std::uint64_t{node.feature()} +
                       (node.categorical() ? kCategorical : 0) +
                       (node.missing_left() ? kMissingLeft : 0));
            out.varint(node.left / 2);
            if (node.categorical()) {
                write_set(tree, node, out);
            } else {
                const std::vector<double>& table = thresholds[node.feature()];
                auto place = std::lower_bound(table.begin(), table.end(), node.number, before);
                out.varint(static_cast<std::uint64_t>(place - table.begin()));
            }
            out.real32(tree.stats[at].gain);
        }
        out.real32(tree.stats[at].cover);
    }
}

Node read_split(ByteReader& in, std::uint64_t head, std::size_t splits,
                const Thresholds& thresholds, Tree& tree) {
    Node node;
    std::uint64_t feature = (head - 1) / 4;
    if (feature >= thresholds.size())
        ByteReader::refuse("the feature of a split", "does not exist");
    node.tag = static_cast<std::uint32_t>(feature);
    if ((head - 1) & kMissingLeft) node.tag |= Node::kMissingLeft;
    node.left = static_cast<std::uint32_t>(2 * in.varint(splits, "the child of a split") + 1);
    if ((head - 1) & kCategorical) {
        node.tag |= Node::kCategorical;
        read_set(in, tree, node);
    } else {
        const std::vector<double>& table = thresholds[static_cast<std::size_t>(feature)];
        node.number = table[in.varint(table.size(), "the threshold of a split")];
    }
    return node;
}

Tree read_tree(ByteReader& in, const Thresholds& thresholds) {
    Tree tree;
    std::size_t splits = in.count(2 * kNodeBytes, "the size of a tree");
    if (splits > kMaxTreeNodes / 2) ByteReader::refuse("the size of a tree", "is too large");
    tree.nodes.resize(2 * splits + 1);
    tree.stats.resize(2 * splits + 1);
    for (std::size_t at = 0; at < tree.nodes.size(); ++at) {
        std::uint64_t head = in.varint(4 * std::uint64_t{Node::kMaxFeature}, "a node");
        if (head == 0) {
            tree.nodes[at].number = in.real64("the value of a leaf");
        } else {
            tree.nodes[at] = read_split(in, head, splits, thresholds, tree);
            tree.stats[at].gain = in.real32("the gain of a split");
        }
        tree.stats[at].cover = in.real32("the cover of a node");
    }
    return tree;
}

Thresholds read_thresholds(ByteReader& in, std::size_t features) {
    Thresholds thresholds(features);
    for (std::vector<double>& table : thresholds) {
        table.resize(in.count(kRealBytes, "the number of thresholds"));
        for (double& threshold : table) {
            threshold = in.real64("a threshold");
            if (std::isnan(threshold)) ByteReader::refuse("a threshold", "is not a number");
        }
        for (std::size_t i = 1; i < table.size(); ++i)
            if (!before(table[i - 1], table[i]))
                ByteReader::refuse("a list of thresholds", "does not ascend");
    }
    return thresholds;
}

}  // namespace

void write_ensemble(const Ensemble& ensemble, ByteWriter& out) {
    if (auto fault = find_fault(ensemble))
        throw ModelFileError("the model cannot be saved: " + *fault);
    out.varint(ensemble.features);
    out.varint(ensemble.outputs);
    for (double start : ensemble.base) out.real64(start);
    for (std::uint32_t levels : ensemble.categories) out.varint(levels);
    Thresholds thresholds = thresholds_of(ensemble);
    for (const std::vector<double>& table : thresholds) {
        out.varint(table.size());
        for (double threshold : table) out.real64(threshold);
    }
    out.varint(ensemble.trees.size());
    for (const Tree& tree : ensemble.trees) write_tree(tree, thresholds, out);
}

Ensemble read_ensemble(std::span<const std::uint8_t> section) {
    ByteReader in(section);
    Ensemble ensemble;
    std::size_t features = in.count(2, "the number of features");
    if (features > Node::kMaxFeature) ByteReader::refuse("the number of features", "is too large");
    ensemble.features = static_cast<std::uint32_t>(features);
    std::size_t outputs = in.count(kRealBytes, "the number of outputs");
    ensemble.outputs = static_cast<std::uint32_t>(outputs);
    if (ensemble.outputs != outputs) ByteReader::refuse("the number of outputs", "is too large");
    ensemble.base.resize(outputs);
    for (double& start : ensemble.base) start = in.real64("the base");
    ensemble.categories.resize(features);
    for (std::uint32_t& levels : ensemble.categories)
        levels = static_cast<std::uint32_t>(
            in.varint(kMaxCategories + 1, "the number of categories of a feature"));
    Thresholds thresholds = read_thresholds(in, features);
    std::size_t trees = in.count(kTreeBytes, "the number of trees");
    ensemble.trees.reserve(trees);
    for (std::size_t t = 0; t < trees; ++t) ensemble.trees.push_back(read_tree(in, thresholds));
    if (in.remaining() != 0) ByteReader::refuse("the ensemble", "is followed by more bytes");
    if (auto fault = find_fault(ensemble)) throw ModelFileError("bad model file: " + *fault);
    return ensemble;
}

}  // namespace bosquet
