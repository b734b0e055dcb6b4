#include "explain/shap_tree.hpp"

#include <algorithm>

namespace bosquet {

namespace {

constexpr std::int64_t kNoEdge = -1;

}  // namespace

UsedFeatures::UsedFeatures(const Ensemble& ensemble, std::span<const std::uint32_t> player_of)
    : slot_of(ensemble.features), player_slot_of(ensemble.features) {
    std::vector<bool> used(ensemble.features);
    for (const Tree& tree : ensemble.trees)
        for (const Node& node : tree.nodes)
            if (!node.is_leaf()) used[node.feature()] = true;
    for (std::uint32_t f = 0; f < ensemble.features; ++f)
        if (used[f]) {
            slot_of[f] = static_cast<std::uint32_t>(features.size());
            features.push_back(f);
            players.push_back(player_of.empty() ? f : player_of[f]);
        }
    std::sort(players.begin(), players.end());
    players.erase(std::unique(players.begin(), players.end()), players.end());
    for (std::uint32_t f : features) {
        auto found =
            std::lower_bound(players.begin(), players.end(), player_of.empty() ? f : player_of[f]);
        player_slot_of[f] = static_cast<std::uint32_t>(found - players.begin());
    }
}

// The edges from the root to a node, with the last edge on each feature.
class TreeShape::Path {
  public:
    explicit Path(std::size_t slots) : last_(slots, 0) {}

    // Adds an edge at `level`, counted from 1; edges at this and deeper levels are removed first.
    void go_to(std::size_t level, std::uint32_t slot, std::int64_t edge) {
        while (edges_.size() >= level) {
            const Edge& gone = edges_.back();
            last_[gone.slot] = gone.before;
            if (gone.before == 0) features_.pop_back();
            edges_.pop_back();
        }
        edges_.push_back({edge, slot, last_[slot]});
        if (last_[slot] == 0) features_.push_back(slot);
        last_[slot] = static_cast<std::uint32_t>(level);
    }

    // The level of the last edge on a feature; 0 if there is none.
    std::uint32_t last(std::uint32_t slot) const { return last_[slot]; }
    std::int64_t edge(std::uint32_t level) const { return edges_[level - 1].edge; }
    const std::vector<std::uint32_t>& features() const { return features_; }

  private:
    struct Edge {
        std::int64_t edge;
        std::uint32_t slot, before;  // `before`: level of the previous edge on the same feature
    };
    std::vector<Edge> edges_;
    std::vector<std::uint32_t> last_;      // by slot
    std::vector<std::uint32_t> features_;  // slots in the order in which they were first used
};

TreeShape::TreeShape(const Ensemble& ensemble, const Tree& tree, const UsedFeatures& used,
                     bool pairs)
    : values_per_leaf_(ensemble.vector_leaves ? ensemble.outputs : 1) {
    struct Step {
        std::uint32_t node;
        std::size_t level;
        std::uint32_t slot;  // slot of the edge that leads here
        std::int64_t edge;
    };
    std::vector<Step> stack{{0, 0, 0, kNoEdge}};
    Path path(used.players.size());
    while (!stack.empty()) {
        Step step = stack.back();
        stack.pop_back();
        depth_ = std::max(depth_, static_cast<std::uint32_t>(step.level));
        const Node& node = tree.nodes[step.node];
        auto child = static_cast<std::int32_t>(node.is_leaf() ? -1 - static_cast<int>(leaves())
                                                              : static_cast<int>(splits()));
        if (step.edge != kNoEdge)
            splits_[static_cast<std::size_t>(step.edge / 2)].child[step.edge % 2] = child;
        if (node.is_leaf()) {
            add_leaf(ensemble.values_of(tree, node));
            continue;
        }
        if (step.edge != kNoEdge) path.go_to(step.level, step.slot, step.edge);
        std::uint32_t slot = used.player_slot_of[node.feature()];
        add_split(ensemble, tree, node, used);
        record_path(path, pairs);
        for (std::uint32_t side : {1u, 0u})
            stack.push_back(
                {node.left + side, step.level + 1, slot, 2 * std::int64_t{child} + side});
    }
    rule_ = gauss_legendre((path_features_ + 1) / 2);
    for (double t : rule_.points) ratio_fails_.push_back(-1 / (1 - t));
}

void TreeShape::add_leaf(std::span<const double> values) {
    leaves_.insert(leaves_.end(), values.begin(), values.end());
}

void TreeShape::add_split(const Ensemble& ensemble, const Tree& tree, const Node& node,
                          const UsedFeatures& used) {
    ShapSplit split{};
    split.slot = used.player_slot_of[node.feature()];
    split.missing_left = node.missing_left();
    split.value_line = 2 * used.slot_of[node.feature()] + split.missing_left;
    if (node.categorical()) {
        split.categories = std::max(1u, ensemble.categories[node.feature()]);
        split.set_begin = static_cast<std::uint32_t>(sets_.size());
        split.set_words = node.set_words();
        auto from = tree.category_words.begin() + node.set_begin();
        sets_.insert(sets_.end(), from, from + node.set_words());
    } else {
        split.threshold = node.threshold();
    }
    splits_.push_back(split);
    double left = tree.stats[node.left].cover, right = tree.stats[node.left + 1].cover;
    double share = left + right > 0 ? left / (left + right) : 0.5;
    cover_shares_.insert(cover_shares_.end(), {share, 1 - share});
}

// Records for the last split the previous edge on its own feature and, for pairs, the last edge of
// each other feature on its path.
void TreeShape::record_path(const Path& path, bool pairs) {
    ShapSplit& split = splits_.back();
    split.before = path.last(split.slot);
    edge_before_.push_back(split.before == 0 ? kNoEdge : path.edge(split.before));
    path_features_ = std::max(path_features_, path.features().size() + (split.before == 0));
    if (!pairs) return;
    split.path_begin = static_cast<std::uint32_t>(paths_.size());
    for (std::uint32_t slot : path.features())
        if (slot != split.slot) paths_.push_back({path.last(slot), slot});
    split.path_count = static_cast<std::uint32_t>(paths_.size()) - split.path_begin;
}

bool TreeShape::goes_left(std::size_t i, const double* values) const {
    const ShapSplit& split = splits_[i];
    double x = values[split.value_line];
    if (split.categories == 0) return x <= split.threshold;
    if (!(x >= 0 && x < split.categories)) return split.missing_left != 0;
    auto code = static_cast<std::uint32_t>(x);
    return code / 32 < split.set_words &&
           (sets_[split.set_begin + code / 32] >> (code % 32) & 1u) != 0;
}

void TreeShape::row_shares(const double* values, double* shares) const {
    for (std::size_t i = 0; i < splits_.size(); ++i) {
        bool left = goes_left(i, values);
        shares[2 * i] = left ? 1 : 0;
        shares[2 * i + 1] = left ? 0 : 1;
    }
}

void TreeShape::fill_edges(const double* shares, Range points, double* edge_numbers) const {
    std::size_t count = points.size();
    std::vector<double> merged(2 * splits_.size());  // share of all edges on the feature so far
    double* out = edge_numbers;
    for (std::size_t edge = 0; edge < merged.size(); ++edge, out += kNumbersPerPoint * count) {
        std::int64_t before = edge_before_[edge / 2];
        double z_before = before == kNoEdge ? 1 : merged[static_cast<std::size_t>(before)];
        double z = merged[edge] = z_before * shares[edge];
        for (std::size_t i = 0; i < count; ++i) {
            double t = rule_.points[points.begin + i], weight = rule_.weights[points.begin + i];
            // With z_before = 1 these are 1 and 0, as if the feature had not been used yet.
            double met_before = z_before + t * (1 - z_before), met = z + t * (1 - z);
            double ratio_before = (1 - z_before) / met_before, ratio = (1 - z) / met;
            out[i] = met / met_before;
            out[count + i] = z * (1 - t) / met_before;
            out[2 * count + i] = weight * (ratio - ratio_before);
            out[3 * count + i] = weight * (ratio_fails_[points.begin + i] - ratio_before);
            out[4 * count + i] = ratio;
        }
    }
}

void TreeShape::add_expectation(const double* shares, double* out) const {
    std::vector<double> share(splits_.size() + 1, 1.0);  // share of rows that reach a split
    if (splits_.empty())
        for (std::uint32_t k = 0; k < values_per_leaf_; ++k) out[k] += leaves_[k];
    for (std::size_t i = 0; i < splits_.size(); ++i)
        for (std::size_t side = 0; side < 2; ++side) {
            double reaching = share[i] * shares[2 * i + side];
            std::int32_t child = splits_[i].child[side];
            if (child >= 0) {
                share[static_cast<std::size_t>(child)] = reaching;
                continue;
            }
            const double* leaf =
                leaves_.data() + static_cast<std::size_t>(-1 - child) * values_per_leaf_;
            for (std::uint32_t k = 0; k < values_per_leaf_; ++k) out[k] += reaching * leaf[k];
        }
}

ShapTree TreeShape::view(const double* shares, const double* edge_numbers, Range points) const {
    return {splits_.data(),
            paths_.data(),
            sets_.data(),
            leaves_.data(),
            edge_numbers,
            shares,
            ratio_fails_.data() + points.begin,
            values_per_leaf_,
            static_cast<std::uint32_t>(points.size()),
            depth_,
            splits_.empty()};
}

}  // namespace bosquet
