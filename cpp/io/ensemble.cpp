#include "io/ensemble.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/interrupt.hpp"
#include "io/leaves.hpp"
#include "trees/validate.hpp"

namespace bosquet {

namespace {

// The first number of a node is 0 for a leaf, otherwise 1 + 4 * feature + the flags below.
constexpr std::uint64_t kFileCategorical = 2;
constexpr std::uint64_t kFileMissingLeft = 1;

// Flags of the section in addition to those of leaves (io/leaves.hpp).
constexpr std::uint64_t kCountedCovers = 8;
constexpr std::uint64_t kAllFlags =
    kVectorLeaves | kListedNumbers | kListedVectors | kCountedCovers;
// Integers below this value are exact as floats, and so are sums that stay below it.
constexpr std::uint64_t kMaxCount = 1 << 24;

// The gains of huge targets exceed single precision and are infinite in memory. Shares of an
// infinite sum would be NaN, so that a file holds the largest float instead.
constexpr float kLargestGain = std::numeric_limits<float>::max();

// The minimum size of an item; counts are checked with it before memory is allocated.
constexpr std::size_t kRealBytes = 8;

using Thresholds = std::vector<std::vector<double>>;  // one list per feature

Thresholds thresholds_of(const Ensemble& ensemble) {
    Thresholds thresholds(ensemble.features);
    for (const Tree& tree : ensemble.trees)
        for (const Node& node : tree.nodes)
            if (!node.is_leaf() && !node.categorical())
                thresholds[node.feature()].push_back(node.threshold());
    for (std::vector<double>& table : thresholds) make_distinct(table);
    return thresholds;
}

bool is_count(float cover) {
    return cover < static_cast<float>(kMaxCount) && !std::signbit(cover) &&
           cover == std::floor(cover);
}

// Whether covers are numbers of rows, so that those of the leaves determine all others.
bool covers_are_counts(const Ensemble& ensemble) {
    for (const Tree& tree : ensemble.trees)
        for (std::size_t node_index = 0; node_index < tree.nodes.size(); ++node_index) {
            std::size_t left = tree.nodes[node_index].left;
            float cover = tree.stats[node_index].cover;
            if (!is_count(cover)) return false;
            if (left != 0 && cover != tree.stats[left].cover + tree.stats[left + 1].cover)
                return false;
        }
    return true;
}

// Computes the covers of the splits from those of the leaves. Children come after their parents, so
// that the loop runs from the end.
void sum_covers(Tree& tree) {
    for (std::size_t node_index = tree.nodes.size(); node_index-- > 0;) {
        std::size_t left = tree.nodes[node_index].left;
        if (left == 0) continue;
        float cover = tree.stats[left].cover + tree.stats[left + 1].cover;
        if (!(cover < static_cast<float>(kMaxCount)))
            ByteReader::reject("the cover of a split", "is too large");
        tree.stats[node_index].cover = cover;
    }
}

// A set of categories: bit c % 8 of byte c / 8 is category c; the last byte is not 0.
void write_set(const Tree& tree, const Node& node, ByteWriter& out) {
    const std::uint32_t* words = tree.category_words.data() + node.set_begin();
    std::vector<std::uint8_t> set(std::size_t{node.set_words()} * 4);
    for (std::size_t i = 0; i < set.size(); ++i)
        set[i] = static_cast<std::uint8_t>(words[i / 4] >> (8 * (i % 4)));
    while (!set.empty() && set.back() == 0) set.pop_back();
    out.write_varint(set.size());
    out.write_bytes(set);
}

void read_set(ByteReader& in, Tree& tree, Node& node) {
    auto set = in.read_bytes(in.read_count(1, "the size of a category set"), "a category set");
    if (!set.empty() && set.back() == 0)
        ByteReader::reject("a category set", "is not encoded in its shortest form");
    std::size_t begin = tree.category_words.size(), words = (set.size() + 3) / 4;
    if (begin + words > 0xffffffffu) ByteReader::reject("a category set", "is too large");
    tree.category_words.resize(begin + words);
    for (std::size_t i = 0; i < set.size(); ++i)
        tree.category_words[begin + i / 4] |= std::uint32_t{set[i]} << (8 * (i % 4));
    node.put_set(static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(words));
}

void write_tree(const Tree& tree, const Thresholds& thresholds, const LeafWriter& leaves,
                bool counted_covers, ByteWriter& out) {
    out.write_varint(tree.nodes.size() / 2);
    for (std::size_t node_index = 0; node_index < tree.nodes.size(); ++node_index) {
        const Node& node = tree.nodes[node_index];
        if (node.is_leaf()) {
            out.write_varint(0);
            leaves.write(tree, node, out);
            if (counted_covers)
                out.write_varint(static_cast<std::uint64_t>(tree.stats[node_index].cover));
        } else {
            out.write_varint(1 + 4 * std::uint64_t{node.feature()} +
                             (node.categorical() ? kFileCategorical : 0) +
                             (node.missing_left() ? kFileMissingLeft : 0));
            out.write_varint(node.left / 2);
            if (node.categorical()) {
                write_set(tree, node, out);
            } else {
                const std::vector<double>& table = thresholds[node.feature()];
                auto position =
                    std::lower_bound(table.begin(), table.end(), node.threshold(), precedes);
                out.write_varint(static_cast<std::uint64_t>(position - table.begin()));
            }
            out.write_real32(std::clamp(tree.stats[node_index].gain, -kLargestGain, kLargestGain));
        }
        if (!counted_covers) out.write_real32(tree.stats[node_index].cover);
    }
}

// Reads trees one after another.
class TreeReader {
  public:
    TreeReader(ByteReader& in, const Thresholds& thresholds, const LeafReader& leaves,
               bool counted_covers)
        : in_(&in), thresholds_(&thresholds), leaves_(&leaves), counted_(counted_covers) {}

    // The minimum size of a tree in bytes: its node count and one leaf.
    std::size_t min_bytes() const { return 1 + min_leaf_bytes(); }

    Tree read() {
        Tree tree;
        std::size_t splits =
            in_->read_count(min_split_bytes() + min_leaf_bytes(), "the size of a tree");
        if (splits > kMaxTreeNodes / 2) ByteReader::reject("the size of a tree", "is too large");
        tree.nodes.resize(2 * splits + 1);
        tree.stats.resize(2 * splits + 1);
        leaves_->reserve(splits + 1, tree);
        for (std::size_t node_index = 0; node_index < tree.nodes.size(); ++node_index) {
            std::uint64_t head = in_->read_varint(4 * std::uint64_t{Node::kMaxFeature}, "a node");
            if (head == 0)
                read_leaf(tree, tree.nodes[node_index], tree.stats[node_index]);
            else
                read_split(head, splits, tree, tree.nodes[node_index], tree.stats[node_index]);
        }
        if (counted_) sum_covers(tree);
        return tree;
    }

  private:
    std::size_t min_leaf_bytes() const { return 1 + leaves_->min_bytes() + (counted_ ? 1 : 4); }
    std::size_t min_split_bytes() const { return 1 + 1 + 1 + 4 + (counted_ ? 0 : 4); }

    void read_leaf(Tree& tree, Node& leaf, NodeStats& stats) {
        leaves_->read(*in_, tree, leaf);
        if (counted_)
            stats.cover = static_cast<float>(in_->read_varint(kMaxCount, "the cover of a leaf"));
        else
            stats.cover = in_->read_real32("the cover of a leaf");
    }

    void read_split(std::uint64_t head, std::size_t splits, Tree& tree, Node& node,
                    NodeStats& stats) {
        std::uint64_t feature = (head - 1) / 4;
        if (feature >= thresholds_->size())
            ByteReader::reject("the feature of a split", "does not exist");
        node.tag = static_cast<std::uint32_t>(feature);
        if ((head - 1) & kFileMissingLeft) node.tag |= Node::kMissingLeft;
        node.left =
            static_cast<std::uint32_t>(2 * in_->read_varint(splits, "the child of a split") + 1);
        if ((head - 1) & kFileCategorical) {
            node.tag |= Node::kCategorical;
            read_set(*in_, tree, node);
        } else {
            const std::vector<double>& table = (*thresholds_)[static_cast<std::size_t>(feature)];
            node.set_threshold(table[in_->read_varint(table.size(), "the threshold of a split")]);
        }
        stats.gain = in_->read_real32("the gain of a split");
        if (!(std::abs(stats.gain) <= kLargestGain))
            ByteReader::reject("the gain of a split", "is not finite");
        if (!counted_) stats.cover = in_->read_real32("the cover of a split");
    }

    ByteReader* in_;
    const Thresholds* thresholds_;
    const LeafReader* leaves_;
    bool counted_;
};

Thresholds read_thresholds(ByteReader& in, std::size_t features) {
    Thresholds thresholds(features);
    for (std::vector<double>& table : thresholds) {
        table.resize(in.read_count(kRealBytes, "the number of thresholds"));
        for (double& threshold : table) {
            threshold = in.read_real64("a threshold");
            if (std::isnan(threshold)) ByteReader::reject("a threshold", "is NaN");
        }
        for (std::size_t i = 1; i < table.size(); ++i)
            if (!precedes(table[i - 1], table[i]))
                ByteReader::reject("a list of thresholds", "is not in ascending order");
    }
    return thresholds;
}

}  // namespace

void write_ensemble(const Ensemble& ensemble, ByteWriter& out) {
    if (auto fault = find_fault(ensemble))
        throw ModelFileError("the model cannot be saved: " + *fault);
    LeafWriter leaves(ensemble);
    bool counted_covers = covers_are_counts(ensemble);
    out.write_varint(leaves.flags() | (counted_covers ? kCountedCovers : 0));
    out.write_varint(ensemble.features);
    out.write_varint(ensemble.outputs);
    for (double base : ensemble.base) out.write_real64(base);
    for (std::uint32_t levels : ensemble.categories) out.write_varint(levels);
    Thresholds thresholds = thresholds_of(ensemble);
    for (const std::vector<double>& table : thresholds) {
        out.write_varint(table.size());
        for (double threshold : table) out.write_real64(threshold);
    }
    leaves.write_lists(out);
    out.write_varint(ensemble.trees.size());
    for (const Tree& tree : ensemble.trees) {
        check_interrupt(128 * tree.nodes.size());
        write_tree(tree, thresholds, leaves, counted_covers, out);
    }
}

Ensemble read_ensemble(std::span<const std::uint8_t> section) {
    ByteReader in(section);
    Ensemble ensemble;
    std::uint64_t flags = in.read_varint(kAllFlags + 1, "the flags");
    ensemble.vector_leaves = (flags & kVectorLeaves) != 0;
    std::size_t features = in.read_count(2, "the number of features");
    if (features > Node::kMaxFeature) ByteReader::reject("the number of features", "is too large");
    ensemble.features = static_cast<std::uint32_t>(features);
    std::size_t outputs = in.read_count(kRealBytes, "the number of outputs");
    ensemble.outputs = static_cast<std::uint32_t>(outputs);
    if (ensemble.outputs != outputs) ByteReader::reject("the number of outputs", "is too large");
    if (outputs == 0) ByteReader::reject("the ensemble", "has no output");
    ensemble.base.resize(outputs);
    for (double& base : ensemble.base) base = in.read_real64("the base");
    ensemble.categories.resize(features);
    for (std::uint32_t& levels : ensemble.categories)
        levels = static_cast<std::uint32_t>(
            in.read_varint(kMaxCategories + 1, "the number of categories of a feature"));
    Thresholds thresholds = read_thresholds(in, features);
    LeafReader leaves(flags, outputs);
    leaves.read_lists(in);
    TreeReader reader(in, thresholds, leaves, (flags & kCountedCovers) != 0);
    std::size_t trees = in.read_count(reader.min_bytes(), "the number of trees");
    ensemble.trees.reserve(trees);
    for (std::size_t t = 0; t < trees; ++t) {
        ensemble.trees.push_back(reader.read());
        check_interrupt(128 * ensemble.trees.back().nodes.size());
    }
    if (in.remaining() != 0) ByteReader::reject("the ensemble", "is followed by more bytes");
    if (auto fault = find_fault(ensemble)) throw ModelFileError("invalid model file: " + *fault);
    return ensemble;
}

}  // namespace bosquet
