#include "boost/route.hpp"

namespace bosquet {

void route_rows(const GrownTree& grown, const BinnedMatrix& matrix, Range rows,
                std::span<const std::uint16_t> leaf_of_node, std::uint16_t* leaf_of_row) {
    const Tree& tree = grown.tree;
    const std::vector<FeaturePlace>& places = matrix.layout().features;
    for (std::size_t row = rows.begin; row < rows.end; ++row) {
        std::uint32_t at = 0;
        while (!tree.nodes[at].is_leaf()) {
            const Node& node = tree.nodes[at];
            std::uint32_t bin = matrix.bin(places[node.feature()], row);
            bool left;
            if (bin == 0)
                left = node.missing_left();
            else if (node.categorical())
                left = tree.in_left_set(node, bin - 1);
            else
                left = bin <= grown.split_bins[at];
            at = node.left + !left;
        }
        leaf_of_row[row] = leaf_of_node[at];
    }
}

}  // namespace bosquet
