// The structure of a tree, independent of the algorithm that grew it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "trees/compiled_slot.hpp"

namespace bosquet {

// A node of 16 bytes. The children of a node are adjacent, so that it stores only the left one; a
// node without a left child is a leaf (node 0 is the root and never a child). Children come after
// their parent.
struct Node {
    // The threshold of a quantitative split, the bits of a packed set, the value of a leaf or the
    // index of its vector.
    double payload = 0;
    std::uint32_t left = 0;  // left child; the right one is left + 1
    std::uint32_t tag = 0;   // feature and two flags

    static constexpr std::uint32_t kMissingLeft = 1u << 31;
    static constexpr std::uint32_t kCategorical = 1u << 30;
    static constexpr std::uint32_t kMaxFeature = kCategorical - 1;

    bool is_leaf() const { return left == 0; }
    std::uint32_t feature() const { return tag & kMaxFeature; }
    bool missing_left() const { return (tag & kMissingLeft) != 0; }
    bool categorical() const { return (tag & kCategorical) != 0; }

    double threshold() const { return payload; }
    void set_threshold(double threshold) { payload = threshold; }
    double leaf_value() const { return payload; }
    void set_leaf_value(double value) { payload = value; }
    // With vector leaves: the index of the vector of the leaf in its tree.
    std::size_t vector_index() const { return static_cast<std::size_t>(payload); }
    void set_vector_index(std::size_t index) { payload = static_cast<double>(index); }

    // A categorical split sends those codes left whose bit is set in `words` 32-bit words, which
    // start at `begin` in the tree's category_words. Larger codes go right.
    std::uint32_t set_begin() const {
        return static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(payload) >> 32);
    }
    std::uint32_t set_words() const {
        return static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(payload));
    }
    void put_set(std::uint32_t begin, std::uint32_t words) {
        payload = std::bit_cast<double>(std::uint64_t{begin} << 32 | words);
    }
};

// Statistics of a node. Gains of targets beyond 1e19 overflow single precision; they are replaced
// by the largest float, so that sums of gains stay finite.
struct NodeStats {
    static float finite(double value) {
        constexpr double largest = std::numeric_limits<float>::max();
        return static_cast<float>(value < largest ? value : largest);
    }
    float gain = 0;   // decrease of the loss by its split; 0 for a leaf
    float cover = 0;  // number or weight of the training rows in the node
};

struct Tree {
    std::vector<Node> nodes;
    std::vector<NodeStats> stats;
    std::vector<std::uint32_t> category_words;
    std::vector<double> leaf_values;  // the concatenated vectors of vector leaves; otherwise empty

    bool in_left_set(const Node& node, std::uint32_t code) const {
        std::uint32_t word = code / 32;
        if (word >= node.set_words()) return false;
        return category_words[node.set_begin() + word] >> (code % 32) & 1;
    }

    // Makes a node a categorical split that sends `codes`, in any order, to the left.
    void set_left_categories(Node& node, std::span<const std::uint32_t> codes) {
        std::uint32_t words = 0;
        for (std::uint32_t code : codes) words = std::max(words, code / 32 + 1);
        auto begin = static_cast<std::uint32_t>(category_words.size());
        category_words.resize(begin + words);
        for (std::uint32_t code : codes) category_words[begin + code / 32] |= 1u << (code % 32);
        node.tag |= Node::kCategorical;
        node.put_set(begin, words);
    }
};

// Trees in the order in which they were added.
//
// Without vector leaves, tree i adds to output i % outputs, and a leaf has a value. With vector
// leaves every tree adds to all outputs, and a leaf has the index of its vector of `outputs` values
// in the tree.
struct Ensemble {
    std::uint32_t features = 0;
    std::uint32_t outputs = 1;
    std::vector<double> base;               // start value of each output
    std::vector<std::uint32_t> categories;  // number of levels of each feature; 0: quantitative
    std::vector<Tree> trees;
    bool vector_leaves = false;

    // The values of a leaf: one per output with vector leaves, otherwise one.
    std::span<const double> values_of(const Tree& tree, const Node& leaf) const {
        if (!vector_leaves) return {&leaf.payload, 1};
        return {tree.leaf_values.data() + leaf.vector_index() * outputs, outputs};
    }
    // The number of trees that add to every output once.
    std::size_t trees_per_round() const { return vector_leaves ? 1 : outputs; }

    void add(Tree tree) {
        trees.push_back(std::move(tree));
        compiled.reset();
    }

    // Has to be reset whenever a tree is added, changed or removed.
    CompiledSlot compiled;
};

}  // namespace bosquet
