#include "tree/predict.hpp"

#include <cmath>

namespace bosquet {

std::uint32_t leaf_of(const Tree& tree, const double* row) {
    std::uint32_t at = 0;
    while (!tree.nodes[at].is_leaf()) {
        const Node& node = tree.nodes[at];
        double x = row[node.feature()];
        bool left;
        if (node.categorical())
            left = x >= 0 ? tree.in_left_set(node, x) : node.missing_left();
        else
            left = x <= node.number || (node.missing_left() && std::isnan(x));
        at = node.left + !left;
    }
    return at;
}

void predict_row(const Ensemble& ensemble, const double* row, std::size_t first, std::size_t last,
                 double* out) {
    for (std::size_t t = first; t < last; ++t) {
        const Tree& tree = ensemble.trees[t];
        out[t % ensemble.outputs] += tree.nodes[leaf_of(tree, row)].number;
    }
}

}  // namespace bosquet
