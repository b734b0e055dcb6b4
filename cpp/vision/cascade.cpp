#include "vision/cascade.hpp"

#include <cmath>
#include <string>

#include "base/error.hpp"

namespace bosquet {

namespace {

constexpr std::int32_t kLargestSide = 4096;

bool in_window(const Box& box, bool tilted, std::int32_t width, std::int32_t height) {
    // Each side is compared with the window first, so that no sum overflows.
    if (box.x < 0 || box.y < 0 || box.width <= 0 || box.height <= 0) return false;
    if (box.x > width || box.y > height || box.width > width || box.height > height) return false;
    if (!tilted) return box.x + box.width <= width && box.y + box.height <= height;
    return box.x - box.height >= 0 && box.x + box.width <= width &&
           box.y + box.width + box.height <= height;
}

void check_feature(const CascadeFeature& feature, std::size_t index, std::int32_t width,
                   std::int32_t height) {
    for (std::size_t b = 0; b < kBoxes; ++b) {
        const Box& box = feature.box[b];
        if (!std::isfinite(feature.weight[b]))
            throw InputError("feature " + std::to_string(index) +
                             " has a weight that is not finite");
        bool unused = b > 0 && feature.weight[b] == 0 && box.x == 0 && box.y == 0 &&
                      box.width == 0 && box.height == 0;
        if (!unused && !in_window(box, feature.tilted, width, height))
            throw InputError("feature " + std::to_string(index) +
                             " has a rectangle that is not inside the window");
    }
}

// The nodes of a tree from the root on, parents before children. Empty if the nodes do not form a
// tree.
std::vector<std::uint32_t> parents_first(const CascadeNode* nodes, std::uint32_t size) {
    std::vector<std::uint32_t> order{0};
    std::vector<char> seen_node(size), seen_leaf(size + 1);
    seen_node[0] = 1;
    for (std::size_t next = 0; next < order.size(); ++next) {
        for (std::int32_t child : {nodes[order[next]].left, nodes[order[next]].right}) {
            std::int64_t index = child > 0 ? child : -static_cast<std::int64_t>(child);
            if (index > (child > 0 ? size - 1 : size)) return {};
            char& seen = child > 0 ? seen_node[index] : seen_leaf[index];
            if (seen) return {};
            seen = 1;
            if (child > 0) order.push_back(static_cast<std::uint32_t>(index));
        }
    }
    if (order.size() != size) return {};
    return order;
}

std::size_t total(const std::vector<std::uint32_t>& sizes) {
    std::size_t sum = 0;
    for (std::uint32_t size : sizes) sum += size;
    return sum;
}

}  // namespace

bool CascadeModel::has_tilted() const {
    for (const CascadeFeature& feature : features)
        if (feature.tilted) return true;
    return false;
}

void CascadeModel::check() const {
    if (width < 3 || height < 3 || width > kLargestSide || height > kLargestSide)
        throw InputError("the window has " + std::to_string(width) + " x " +
                         std::to_string(height) + " pixels, but both sides must be between 3 and " +
                         std::to_string(kLargestSide));
    for (std::size_t i = 0; i < features.size(); ++i) check_feature(features[i], i, width, height);
    if (total(tree_size) != nodes.size() || nodes.size() + tree_size.size() != leaves.size() ||
        total(stage_size) != tree_size.size() || stage_size.size() != stage_threshold.size())
        throw InputError("the cascade has " + std::to_string(stage_size.size()) + " stages, " +
                         std::to_string(tree_size.size()) + " trees, " +
                         std::to_string(nodes.size()) + " nodes and " +
                         std::to_string(leaves.size()) +
                         " leaves, which contradict the sizes of its stages and trees");
    for (std::size_t i = 0; i < leaves.size(); ++i)
        if (!std::isfinite(leaves[i]))
            throw InputError("leaf " + std::to_string(i) + " is " + std::to_string(leaves[i]) +
                             "; leaf values must be finite");
    for (std::size_t s = 0; s < stage_size.size(); ++s)
        if (stage_size[s] == 0 || !std::isfinite(stage_threshold[s]))
            throw InputError("stage " + std::to_string(s) +
                             " has no trees, or its threshold is not finite");
    for (std::size_t i = 0; i < nodes.size(); ++i)
        if (nodes[i].feature >= features.size() || !std::isfinite(nodes[i].threshold))
            throw InputError("node " + std::to_string(i) + " has the feature " +
                             std::to_string(nodes[i].feature) + " and the threshold " +
                             std::to_string(nodes[i].threshold) + "; the cascade has " +
                             std::to_string(features.size()) +
                             " features, and thresholds must be finite");
    std::size_t begin = 0;
    for (std::size_t t = 0; t < tree_size.size(); begin += tree_size[t], ++t)
        if (tree_size[t] == 0 || parents_first(nodes.data() + begin, tree_size[t]).empty())
            throw InputError("the nodes of tree " + std::to_string(t) + " do not form a tree");
}

namespace {

ScanNode to_scan_node(const CascadeNode& node, const CascadeFeature& feature,
                      const ScanLayout& layout) {
    ScanNode out{};
    out.threshold = node.threshold;
    out.left = node.left;
    out.right = node.right;
    std::int32_t base = feature.tilted ? layout.plane : 0;
    for (std::size_t b = 0; b < kBoxes; ++b) {
        const Box& box = feature.box[b];
        out.weight[b] = feature.weight[b];
        auto at = [&](std::int32_t x, std::int32_t y) { return base + layout.offset(x, y); };
        std::int32_t x = box.x, y = box.y, w = box.width, h = box.height;
        if (feature.tilted) {
            out.corner_offsets[b][0] = at(x, y);
            out.corner_offsets[b][1] = at(x - h, y + h);
            out.corner_offsets[b][2] = at(x + w, y + w);
            out.corner_offsets[b][3] = at(x + w - h, y + w + h);
        } else {
            out.corner_offsets[b][0] = at(x, y);
            out.corner_offsets[b][1] = at(x + w, y);
            out.corner_offsets[b][2] = at(x, y + h);
            out.corner_offsets[b][3] = at(x + w, y + h);
        }
    }
    return out;
}

// OpenCV subtracts this from the threshold of a stage, to allow for rounding in decimal text.
constexpr float kStageAllowance = 1e-5f;

}  // namespace

CompiledCascade::CompiledCascade(const CascadeModel& model, const ScanLayout& layout)
    : leaves(model.leaves) {
    nodes.reserve(model.nodes.size());
    std::uint32_t node_begin = 0, leaf_begin = 0;
    for (std::uint32_t size : model.tree_size) {
        const CascadeNode* tree = model.nodes.data() + node_begin;
        std::vector<std::uint32_t> order = parents_first(tree, size);
        std::vector<std::int32_t> rank(size);
        for (std::uint32_t i = 0; i < size; ++i) rank[order[i]] = static_cast<std::int32_t>(i);
        for (std::uint32_t i : order) {
            ScanNode node = to_scan_node(tree[i], model.features[tree[i].feature], layout);
            if (node.left > 0) node.left = rank[node.left];
            if (node.right > 0) node.right = rank[node.right];
            nodes.push_back(node);
        }
        trees.push_back({node_begin, size, leaf_begin});
        node_begin += size;
        leaf_begin += size + 1;
    }
    std::uint32_t tree_begin = 0;
    for (std::size_t s = 0; s < model.stage_size.size(); ++s) {
        ScanStage stage{tree_begin, model.stage_size[s], 1,
                        model.stage_threshold[s] - kStageAllowance};
        for (std::uint32_t t = 0; t < stage.tree_count; ++t) {
            const ScanTree& tree = trees[tree_begin + t];
            const ScanNode& root = nodes[tree.node_begin];
            if (tree.node_count != 1 || root.left != 0 || root.right != -1) stage.stumps = 0;
        }
        stages.push_back(stage);
        tree_begin += stage.tree_count;
    }
    std::int32_t right = model.width - 1, bottom = model.height - 1;
    scan = {nodes.data(),
            leaves.data(),
            trees.data(),
            stages.data(),
            static_cast<std::uint32_t>(stages.size()),
            {layout.offset(1, 1), layout.offset(right, 1), layout.offset(1, bottom),
             layout.offset(right, bottom)},
            layout.squares(model.has_tilted()),
            static_cast<double>(model.width - 2) * (model.height - 2)};
}

}  // namespace bosquet
