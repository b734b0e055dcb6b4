#include "boosting/route.hpp"

#include <algorithm>

namespace bosquet {

Router::Router(const GrownTree& grown, const BinnedMatrix& matrix,
               std::span<const std::uint16_t> leaf_of_node, Isa isa)
    : grown_(&grown),
      matrix_(&matrix),
      leaf_of_node_(leaf_of_node),
      kernels_(&select_route_kernels(isa)) {
    const std::vector<Node>& nodes = grown.tree.nodes;
    if (grown.leaves.size() > 256) return;  // leaf numbers must fit in a byte
    lines_.resize(nodes.size() * kRouteRows);
    tables_.reserve(nodes.size());
    // Children come after their parents.
    for (std::size_t node_index = nodes.size(); node_index-- > 0;) {
        const Node& node = nodes[node_index];
        if (node.is_leaf()) {
            std::fill_n(lines_.begin() + static_cast<std::ptrdiff_t>(node_index * kRouteRows),
                        kRouteRows, static_cast<std::uint8_t>(leaf_of_node[node_index]));
            continue;
        }
        const FeaturePlace& place = matrix.layout().features[node.feature()];
        LineSplit split{};
        split.line = static_cast<std::uint32_t>(node_index);
        split.left = node.left;
        if (place.wide)
            split.wide_column = matrix.wide_column(place);
        else
            split.column = matrix.column(place);
        if (node.categorical()) {
            std::vector<std::uint8_t>& table = tables_.emplace_back(place.bins);
            table[0] = node.missing_left();
            for (std::uint32_t bin = 1; bin < place.bins; ++bin)
                table[bin] = grown.tree.in_left_set(node, bin - 1);
            table.resize(std::max<std::size_t>(table.size(), 256));
            split.goes_left = table.data();
        } else {
            split.shift = node.missing_left() ? 0 : 1;
            split.bound = static_cast<std::uint8_t>(grown.split_bins[node_index] - split.shift);
        }
        splits_.push_back(split);
    }
}

void Router::route(Range rows, std::uint16_t* leaf_of_row) const {
    if (lines_.empty()) return route_one_by_one(rows, leaf_of_row);
    std::vector<std::uint8_t> lines = lines_;
    kernels_->route(splits_.data(), splits_.size(), lines.data(), rows.begin, rows.end,
                    leaf_of_row);
}

void Router::route_one_by_one(Range rows, std::uint16_t* leaf_of_row) const {
    const Tree& tree = grown_->tree;
    const std::vector<FeaturePlace>& places = matrix_->layout().features;
    for (std::size_t row = rows.begin; row < rows.end; ++row) {
        std::uint32_t node_index = 0;
        while (!tree.nodes[node_index].is_leaf()) {
            const Node& node = tree.nodes[node_index];
            std::uint32_t bin = matrix_->bin(places[node.feature()], row);
            bool left;
            if (bin == 0)
                left = node.missing_left();
            else if (node.categorical())
                left = tree.in_left_set(node, bin - 1);
            else
                left = bin <= grown_->split_bins[node_index];
            node_index = node.left + !left;
        }
        leaf_of_row[row] = leaf_of_node_[node_index];
    }
}

}  // namespace bosquet
