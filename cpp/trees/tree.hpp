// What a grown tree is. A tree does not know who grew it.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "trees/compiled_slot.hpp"

namespace bosquet {

// 16 bytes. The children of a node stand side by side, so it names only the left one; a node
// without one is a leaf (the root, number 0, is nobody's child). Children stand behind their
// parent.
struct Node {
    double number = 0;  // threshold of a quantitative split, a packed set, or what a leaf holds
    std::uint32_t left = 0;  // left child; the right one is left + 1
    std::uint32_t tag = 0;   // feature, and two flags

    static constexpr std::uint32_t kMissingLeft = 1u << 31;
    static constexpr std::uint32_t kCategorical = 1u << 30;
    static constexpr std::uint32_t kMaxFeature = kCategorical - 1;

    bool is_leaf() const { return left == 0; }
    std::uint32_t feature() const { return tag & kMaxFeature; }
    bool missing_left() const { return (tag & kMissingLeft) != 0; }
    bool categorical() const { return (tag & kCategorical) != 0; }

    // A categorical split sends left the codes whose bit is set in `words` 32-bit words that begin
    // at `begin` of the tree's category_words; codes beyond them go right.
    std::uint32_t set_begin() const {
        return static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(number) >> 32);
    }
    std::uint32_t set_words() const {
        return static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(number));
    }
    void put_set(std::uint32_t begin, std::uint32_t words) {
        number = std::bit_cast<double>(std::uint64_t{begin} << 32 | words);
    }
};

// What is remembered of a node besides its rule. Gains of targets beyond 1e19 are not numbers of
// single precision: the largest one stands for them, so that sums of gains stay finite.
struct NodeStats {
    static float finite(double value) {
        constexpr double largest = std::numeric_limits<float>::max();
        return static_cast<float>(value < largest ? value : largest);
    }
    float gain = 0;   // by how much its split lowered the loss; 0 for a leaf
    float cover = 0;  // weight (rows, or weighted rows) of the training data in it
};

struct Tree {
    std::vector<Node> nodes;
    std::vector<NodeStats> stats;
    std::vector<std::uint32_t> category_words;
    std::vector<double> leaf_values;  // of vector leaves, one vector behind the other; else empty

    bool in_left_set(const Node& node, std::uint32_t code) const {
        std::uint32_t word = code / 32;
        if (word >= node.set_words()) return false;
        return category_words[node.set_begin() + word] >> (code % 32) & 1;
    }
};

// Trees in the order they were added.
//
// As a rule the tree number i adds to output i % outputs, and the number of a leaf is what it adds.
// With vector leaves every tree adds to all outputs: the number of a leaf is then a small integer,
// and tells which of the tree's vectors of `outputs` values is the leaf's.
struct Ensemble {
    std::uint32_t features = 0;
    std::uint32_t outputs = 1;
    std::vector<double> base;               // what each output starts from
    std::vector<std::uint32_t> categories;  // levels of each feature; 0: quantitative
    std::vector<Tree> trees;
    bool vector_leaves = false;

    // What a leaf of the tree adds: a value for each output with vector leaves, else one value.
    std::span<const double> values_of(const Tree& tree, const Node& leaf) const {
        if (!vector_leaves) return {&leaf.number, 1};
        return {tree.leaf_values.data() + static_cast<std::size_t>(leaf.number) * outputs, outputs};
    }
    // How many trees it takes to add to every output once.
    std::size_t trees_a_round() const { return vector_leaves ? 1 : outputs; }

    void add(Tree tree) {
        trees.push_back(std::move(tree));
        compiled.reset();
    }

    // Whoever adds, changes or removes a tree empties this slot.
    CompiledSlot compiled;
};

}  // namespace bosquet
