// A single tree with the statistics of its nodes.
#pragma once

#include <cstdint>
#include <vector>

#include "cart/cart_split.hpp"
#include "trees/tree.hpp"

namespace bosquet {

struct CartNode {
    std::uint32_t rows = 0;
    double weight = 0;
    double impurity = 0;
    std::vector<CartSplit> competitors;
    std::vector<Surrogate> surrogates;
};

struct CartTree {
    Tree tree;
    std::vector<CartNode> nodes;      // empty for the trees of a forest
    std::vector<double> node_values;  // [node][output]; empty if `nodes` is
};

}  // namespace bosquet
