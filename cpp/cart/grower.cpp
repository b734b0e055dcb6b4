#include "cart/grower.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/random.hpp"
#include "cart/bag_rows.hpp"
#include "cart/cart_search.hpp"
#include "cart/node_values.hpp"
#include "cart/surrogates.hpp"

namespace bosquet {

namespace {

// Minimum work of a node (rows times columns) for which several threads are used.
constexpr std::size_t kWorkForThreads = 100'000;

template <class Sums>
class TypedGrower final : public CartGrower {
  public:
    using Item = typename Sums::Item;

    TypedGrower(const CodedTable& table, const CartTarget& target, const CartOptions& options,
                const Sums& sums, int team_size)
        : table_(&table),
          options_(&options),
          target_(target),
          sums_(sums),
          rows_(sums),
          values_(target, options, sums, rows_, table.rows) {
        for (int worker = 0; worker < team_size; ++worker)
            searches_.emplace_back(table, options, sums);
        features_.resize(table.columns.size());
        if (options.surrogates > 0)
            surrogates_ = std::make_unique<SurrogateSearch>(table, options.surrogates);
    }

    CartTree grow(const Bag& bag, std::uint64_t key, bool details, Team* team) override {
        // An interrupt may have left an unfinished tree.
        out_ = {};
        frontier_.clear();
        std::iota(features_.begin(), features_.end(), 0u);
        details_ = details;
        team_ = team;
        rows_.load(bag, target_, options_->criterion);
        OpenNode root;
        root.rows.count = rows_.size();
        root.key = mix64(key);
        root.sums = rows_.sums_of(root.rows);
        total_weight_ = weight(root);
        add_nodes(1);
        leaves_ = 1;
        open_node(std::move(root));
        while (!frontier_.empty()) {
            if (options_->max_leaf_nodes != 0 && leaves_ >= options_->max_leaf_nodes) break;
            OpenNode node = take_next_node();
            split(node);
            ++leaves_;
        }
        for (OpenNode& node : frontier_) close_node(node);
        frontier_.clear();
        return std::move(out_);
    }

  private:
    // A node that is neither split nor a leaf yet.
    struct OpenNode {
        std::uint32_t index = 0, depth = 0;  // of the node in the tree
        RowRange rows;
        std::uint64_t key = 0;
        std::vector<double> sums;
        ValueBounds bounds;
        CartSplit split;
        double gain = 0;  // decrease of the impurity of the whole tree
        std::vector<CartSplit> competitors;
    };

    void add_nodes(std::size_t count) {
        std::size_t size = out_.tree.nodes.size() + count;
        out_.tree.nodes.resize(size);
        out_.tree.stats.resize(size);
        if (!details_) return;
        out_.nodes.resize(size);
        out_.node_values.resize(size * values_.outputs());
    }

    // Searches the split of a node; without one the node becomes a leaf.
    void open_node(OpenNode node) {
        if (may_split(node)) find_split(node);
        if (!node.split.found()) {
            close_node(node);
            return;
        }
        frontier_.push_back(std::move(node));
        if (options_->max_leaf_nodes != 0)
            std::push_heap(frontier_.begin(), frontier_.end(), has_lower_priority);
    }

    static bool has_lower_priority(const OpenNode& a, const OpenNode& b) {
        return a.gain != b.gain ? a.gain < b.gain : a.index > b.index;
    }

    OpenNode take_next_node() {
        if (options_->max_leaf_nodes != 0)
            std::pop_heap(frontier_.begin(), frontier_.end(), has_lower_priority);
        OpenNode node = std::move(frontier_.back());
        frontier_.pop_back();
        return node;
    }

    bool may_split(const OpenNode& node) const {
        if (node.rows.count < options_->min_samples_split ||
            node.rows.count < 2 * std::size_t{options_->min_samples_leaf})
            return false;
        if (options_->max_depth != 0 && node.depth >= options_->max_depth) return false;
        if (options_->min_weight_leaf > 0 && weight(node) < 2 * options_->min_weight_leaf)
            return false;
        return !values_.pure(node.rows, node.sums);
    }

    using View = typename CartSearch<Sums>::Node;

    void find_split(OpenNode& node) {
        std::vector<CartSplit> all_splits;
        View view{rows_.rows_of_node(node.rows), node.sums, node.key, node.bounds, node.rows.count};
        search_columns(view, [&](CartSplit&& split) {
            if (!split.found()) return;
            if (options_->competitors > 0) all_splits.push_back(split);
            if (split.gain > node.split.gain) node.split = std::move(split);
        });
        if (!node.split.found()) return;
        // With surrogates, the proxy gain of the node was already subtracted, for each column on
        // the rows whose value is known.
        double own_proxy_gain =
            options_->surrogates > 0 ? 0.0 : values_.proxy_gain_of_node(node.rows, node.sums);
        node.gain = gain_from(node.split.gain - own_proxy_gain);
        if (node.gain + 1e-15 < options_->min_impurity_decrease) {
            node.split = {};
            return;
        }
        for (CartSplit& split : all_splits) split.gain = gain_from(split.gain - own_proxy_gain);
        keep_competitors(node, all_splits);
    }

    // Calls consider(split) with the best split of each column. If competitors are not needed, a
    // column may skip splits that are worse than those of other columns.
    template <class Consider>
    void search_columns(const View& view, Consider consider) {
        constexpr double kNone = -std::numeric_limits<double>::infinity();
        auto raise_floor = [&](double& floor, const CartSplit& split) {
            if (options_->competitors == 0) floor = std::max(floor, split.gain);
        };
        std::size_t all_columns = features_.size();
        std::size_t columns_to_search =
            options_->features_per_node == 0
                ? all_columns
                : std::min<std::size_t>(options_->features_per_node, all_columns);
        if (columns_to_search == all_columns && team_ != nullptr &&
            view.rows.count * all_columns >= kWorkForThreads) {
            std::vector<CartSplit> splits(all_columns);
            std::vector<double> floors(searches_.size(), kNone);
            team_->run(all_columns, [&](std::size_t i, int worker) {
                bool constant;
                splits[i] =
                    searches_[worker].find_best_split(features_[i], view, floors[worker], constant);
                raise_floor(floors[worker], splits[i]);
            });
            for (CartSplit& split : splits) consider(std::move(split));
            return;
        }
        // Columns are drawn one by one. A column that is constant in this node does not count,
        // unless all are constant.
        bool draws_columns = columns_to_search < all_columns, any_varying = false;
        double floor = kNone;
        swaps_.clear();
        for (std::size_t i = 0; i < all_columns && (i < columns_to_search || !any_varying); ++i) {
            if (draws_columns) {
                std::size_t j = i + hash64(view.key, 0x66 /* "f" */, i) % (all_columns - i);
                std::swap(features_[i], features_[j]);
                swaps_.push_back(j);
            }
            bool constant;
            CartSplit split = searches_[0].find_best_split(features_[i], view, floor, constant);
            any_varying = any_varying || !constant;
            raise_floor(floor, split);
            consider(std::move(split));
        }
        for (std::size_t i = swaps_.size(); i-- > 0;) std::swap(features_[i], features_[swaps_[i]]);
    }

    void keep_competitors(OpenNode& node, std::vector<CartSplit>& all_splits) const {
        if (options_->competitors == 0) return;
        std::stable_sort(all_splits.begin(), all_splits.end(),
                         [](const CartSplit& a, const CartSplit& b) { return a.gain > b.gain; });
        if (!all_splits.empty())
            all_splits.erase(all_splits.begin());  // the best one, which is used
        if (all_splits.size() > options_->competitors) all_splits.resize(options_->competitors);
        node.competitors = std::move(all_splits);
    }

    // Converts a difference of proxy gains to the decrease of the impurity of the whole tree: the
    // decrease of the node times its share of the total weight.
    double gain_from(double difference) const {
        return values_.decrease_from(difference) / total_weight_;
    }

    // Stores the split and opens its children.
    void split(OpenNode& node) {
        check_interrupt(16 * node.rows.count);
        const CodedColumn& column = table_->columns[node.split.feature];
        std::vector<Surrogate> surrogates;
        rows_.mark_sides(node.rows, column, node.split);
        if (surrogates_ != nullptr) surrogates = route_missing(node, column);
        std::size_t n_left = rows_.partition(node.rows);
        auto left = static_cast<std::uint32_t>(out_.tree.nodes.size());
        OpenNode children[2];
        for (int side = 0; side < 2; ++side) {
            OpenNode& child = children[side];
            child.index = left + static_cast<std::uint32_t>(side);
            child.depth = node.depth + 1;
            child.rows = side == 0 ? RowRange{node.rows.begin, n_left}
                                   : RowRange{node.rows.begin + n_left, node.rows.count - n_left};
            child.key = hash64(node.key, static_cast<std::uint64_t>(side), 1);
            child.sums = rows_.sums_of(child.rows);
            child.bounds = node.bounds;
        }
        if (surrogates_ == nullptr && !node.split.saw_missing)
            node.split.missing_left = 2 * weight(children[0]) >= weight(node);
        add_nodes(2);
        write_split(node, column, left);
        set_child_bounds(node, children);
        if (details_) {
            CartNode& cart_node = describe(node);
            cart_node.competitors = std::move(node.competitors);
            cart_node.surrogates = std::move(surrogates);
        }
        // The left child is next if the frontier is a stack.
        open_node(std::move(children[1]));
        open_node(std::move(children[0]));
    }

    double weight(const OpenNode& node) const { return sums_.weight(node.sums.data()); }

    // Finds surrogates and uses them to mark the sides of rows whose value is missing.
    std::vector<Surrogate> route_missing(OpenNode& node, const CodedColumn& column) {
        bool heavier_left = rows_.left_is_heavier(node.rows);
        NodeRows<Item> view = rows_.rows_of_node(node.rows);
        std::vector<std::uint8_t>& sides = rows_.sides();
        std::vector<Surrogate> surrogates = surrogates_->find(
            node.split, view.rows, rows_.weights_of(node.rows), node.rows.count, sides);
        node.split.missing_left = heavier_left;
        for (std::size_t i = 0; i < view.count; ++i) {
            std::uint32_t row = view.rows[i];
            if (column.code(row) == 0)
                sides[i] = goes_left_by_surrogate(surrogates, heavier_left, [&](std::uint32_t f) {
                    return table_->columns[f].code(row);
                });
        }
        return surrogates;
    }

    void write_split(const OpenNode& node, const CodedColumn& column, std::uint32_t left) {
        Node& tree_node = out_.tree.nodes[node.index];
        tree_node.left = left;
        tree_node.tag =
            node.split.feature | (node.split.missing_left ? bosquet::Node::kMissingLeft : 0);
        if (column.categorical) {
            out_.tree.set_left_categories(tree_node, categories_of_bins(node.split.left_codes));
        } else {
            tree_node.set_threshold(node.split.threshold);
        }
        out_.tree.stats[node.index] = {NodeStats::finite(node.gain),
                                       static_cast<float>(weight(node))};
    }

    // The values of the children of a monotone split stay on their side of the midpoint between
    // them.
    void set_child_bounds(const OpenNode& node, OpenNode* children) const {
        if constexpr (Sums::kPair) {
            if (options_->monotone.empty() || options_->monotone[node.split.feature] == 0) return;
            bound_children(
                options_->monotone[node.split.feature], children[0].sums[1] / children[0].sums[0],
                children[1].sums[1] / children[1].sums[0], children[0].bounds, children[1].bounds);
        }
    }

    // Makes the node a leaf.
    void close_node(const OpenNode& node) {
        Node& leaf = out_.tree.nodes[node.index];
        out_.tree.stats[node.index].cover = static_cast<float>(weight(node));
        std::uint32_t outputs = values_.outputs();
        if (outputs == 1) {
            leaf.set_leaf_value(values_.value(node.rows, node.sums, node.bounds));
        } else {
            std::size_t begin = out_.tree.leaf_values.size();
            leaf.set_vector_index(begin / outputs);
            out_.tree.leaf_values.resize(begin + outputs);
            values_.put_values(node.sums, out_.tree.leaf_values.data() + begin);
        }
        if (details_) describe(node);
    }

    CartNode& describe(const OpenNode& node) {
        CartNode& cart_node = out_.nodes[node.index];
        cart_node.rows = static_cast<std::uint32_t>(node.rows.count);
        cart_node.weight = weight(node);
        cart_node.impurity = values_.impurity(node.rows, node.sums);
        double* values = out_.node_values.data() + std::size_t{node.index} * values_.outputs();
        if (values_.outputs() == 1)
            *values = values_.value(node.rows, node.sums, node.bounds);
        else
            values_.put_values(node.sums, values);
        return cart_node;
    }

    const CodedTable* table_;
    const CartOptions* options_;
    CartTarget target_;
    const Sums sums_;
    std::vector<CartSearch<Sums>> searches_;
    std::unique_ptr<SurrogateSearch> surrogates_;
    Team* team_ = nullptr;

    BagRows<Sums> rows_;
    NodeValues<Sums> values_;
    double total_weight_ = 0;
    std::vector<std::uint32_t> features_;
    std::vector<std::size_t> swaps_;

    CartTree out_;
    bool details_ = false;
    std::size_t leaves_ = 0;
    std::vector<OpenNode> frontier_;
};

template <class Sums>
std::unique_ptr<CartGrower> make(const CodedTable& table, const CartTarget& target,
                                 const CartOptions& options, const Sums& sums, int team_size) {
    return std::make_unique<TypedGrower<Sums>>(table, target, options, sums, team_size);
}

}  // namespace

std::unique_ptr<CartGrower> make_cart_grower(const CodedTable& table, const CartTarget& target,
                                             const CartOptions& options, int team_size) {
    auto with = [&](const auto& sums) { return make(table, target, options, sums, team_size); };
    if (target.is_classes()) {
        bool gini = options.criterion == Criterion::gini;
        if (!gini && options.criterion != Criterion::entropy)
            throw InputError("a target of classes needs criterion 'gini' or 'entropy'");
        if (!target.class_counts.empty()) {
            auto several = [&](auto sums) {
                sums = {target.outputs, target.class_counts, target.classes.data(), table.rows};
                return with(sums);
            };
            return gini ? several(SeveralClassSums<Criterion::gini>{})
                        : several(SeveralClassSums<Criterion::entropy>{});
        }
        if (target.outputs == 2)
            return gini ? with(PairSums<Criterion::gini>{}) : with(PairSums<Criterion::entropy>{});
        return gini ? with(ClassSums<Criterion::gini>{target.outputs})
                    : with(ClassSums<Criterion::entropy>{target.outputs});
    }
    if (target.outputs > 1) {
        if (options.criterion != Criterion::squared)
            throw InputError("a target with several outputs needs criterion 'squared_error'");
        return with(VectorSums{target.outputs, target.numbers.data(), table.rows});
    }
    switch (options.criterion) {
        case Criterion::squared:
            return with(PairSums<Criterion::squared>{});
        case Criterion::absolute:
            return with(PairSums<Criterion::absolute>{});
        case Criterion::poisson:
            return with(PairSums<Criterion::poisson>{});
        default:
            throw InputError(
                "criteria 'gini' and 'entropy' need a target of classes; pass 'squared_error', "
                "'absolute_error' or 'poisson'");
    }
}

}  // namespace bosquet
