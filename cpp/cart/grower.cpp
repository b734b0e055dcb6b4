#include "cart/grower.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>

#include "base/error.hpp"
#include "base/random.hpp"
#include "cart/search.hpp"
#include "cart/surrogates.hpp"

namespace bosquet {

namespace {

// Work in a node, in rows times columns, from which a team is worth waking.
constexpr std::size_t kSharedWork = 100'000;

template <class Sums>
class GrowerOf final : public CartGrower {
  public:
    using Item = typename Sums::Item;

    GrowerOf(const CodedTable& table, const CartTarget& target, const CartOptions& options,
             const Sums& sums, int team_size)
        : table_(&table), target_(target), options_(&options), sums_(sums) {
        for (int worker = 0; worker < team_size; ++worker)
            searches_.emplace_back(table, options, sums);
        features_.resize(table.columns.size());
        std::iota(features_.begin(), features_.end(), 0u);
        if (options.surrogates > 0)
            surrogates_ = std::make_unique<SurrogateSearch>(table, options.surrogates);
    }

    CartTree grow(const Bag& bag, std::uint64_t key, bool details, Team* team) override {
        out_ = {};
        details_ = details;
        team_ = team;
        take_bag(bag);
        Growing root;
        root.count = rows_.size();
        root.key = mix64(key);
        root.sums = sums_of(0, root.count);
        whole_weight_ = sums_.weight(root.sums.data());
        add_nodes(1);
        leaves_ = 1;
        open(std::move(root));
        while (!frontier_.empty()) {
            if (options_->max_leaf_nodes != 0 && leaves_ >= options_->max_leaf_nodes) break;
            Growing node = next();
            split(node);
            ++leaves_;
        }
        for (Growing& node : frontier_) close(node);
        frontier_.clear();
        return std::move(out_);
    }

  private:
    // A node that is not yet settled.
    struct Growing {
        std::uint32_t number = 0, depth = 0;
        std::size_t begin = 0, count = 0;
        std::uint64_t key = 0;
        std::vector<double> sums;
        NodeBounds bounds;
        Cut cut;
        double gain = 0;  // how much the split lowers the impurity of the whole
        std::vector<Cut> competitors;
    };

    void take_bag(const Bag& bag) {
        rows_ = bag.rows;
        items_.resize(rows_.size());
        offset_ = 0;
        bool centred =
            Sums::kPair && !target_.is_classes() && options_->criterion == Criterion::squared;
        if (centred) {
            // Sums of squares of centred numbers keep their digits.
            double weight = 0, sum = 0;
            for (std::size_t i = 0; i < rows_.size(); ++i) {
                weight += bag.weights[i];
                sum += bag.weights[i] * target_.numbers[rows_[i]];
            }
            offset_ = sum / weight;
        }
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            double weight = bag.weights[i];
            if constexpr (Sums::kPair) {
                double y = target_.is_classes() ? static_cast<double>(target_.classes[rows_[i]])
                                                : target_.numbers[rows_[i]] - offset_;
                items_[i] = {weight, weight * y};
            } else if constexpr (std::is_same_v<Sums, VectorSums>) {
                items_[i] = {weight};
            } else {
                items_[i] = {weight, target_.classes[rows_[i]]};
            }
        }
        spare_rows_.resize(rows_.size());
        spare_items_.resize(rows_.size());
    }

    std::vector<double> sums_of(std::size_t begin, std::size_t count) const {
        std::vector<double> sums(sums_.width());
        for (std::size_t i = begin; i < begin + count; ++i)
            sums_.add(sums.data(), items_[i], rows_[i]);
        return sums;
    }

    NodeRows<Item> rows_of(const Growing& node) const {
        return {rows_.data() + node.begin, items_.data() + node.begin, node.count};
    }

    void add_nodes(std::size_t count) {
        std::size_t size = out_.tree.nodes.size() + count;
        out_.tree.nodes.resize(size);
        out_.tree.stats.resize(size);
        if (!details_) return;
        out_.nodes.resize(size);
        out_.node_values.resize(size * outputs());
    }

    std::uint32_t outputs() const { return Sums::kPair ? 1 : target_.outputs; }

    // Looks for the node's split; with none it is a leaf.
    void open(Growing node) {
        if (may_split(node)) find_split(node);
        if (!node.cut.found()) {
            close(node);
            return;
        }
        frontier_.push_back(std::move(node));
        if (options_->max_leaf_nodes != 0)
            std::push_heap(frontier_.begin(), frontier_.end(), comes_later);
    }

    static bool comes_later(const Growing& a, const Growing& b) {
        return a.gain != b.gain ? a.gain < b.gain : a.number > b.number;
    }

    Growing next() {
        if (options_->max_leaf_nodes != 0)
            std::pop_heap(frontier_.begin(), frontier_.end(), comes_later);
        Growing node = std::move(frontier_.back());
        frontier_.pop_back();
        return node;
    }

    bool may_split(const Growing& node) const {
        if (node.count < options_->min_samples_split ||
            node.count < 2 * std::size_t{options_->min_samples_leaf})
            return false;
        if (options_->max_depth != 0 && node.depth >= options_->max_depth) return false;
        if (options_->min_weight_leaf > 0 &&
            sums_.weight(node.sums.data()) < 2 * options_->min_weight_leaf)
            return false;
        return !pure(node);
    }

    bool pure(const Growing& node) const {
        if constexpr (std::is_same_v<Sums, VectorSums>) {
            for (std::uint32_t k = 0; k < target_.outputs; ++k) {
                const double* y = target_.numbers.data() + k * table_->rows;
                for (std::size_t i = node.begin + 1; i < node.begin + node.count; ++i)
                    if (y[rows_[i]] != y[rows_[node.begin]]) return false;
            }
            return true;
        } else if constexpr (Sums::kPair) {
            if (target_.is_classes()) return node.sums[1] == 0 || node.sums[1] == node.sums[0];
            const double* y = target_.numbers.data();
            for (std::size_t i = node.begin + 1; i < node.begin + node.count; ++i)
                if (y[rows_[i]] != y[rows_[node.begin]]) return false;
            return true;
        } else {
            std::uint32_t classes = 0;
            for (double weight : node.sums) classes += weight > 0;
            return classes < 2;
        }
    }

    void find_split(Growing& node) {
        typename CartSearch<Sums>::Node view{rows_of(node), node.sums, node.key, node.bounds,
                                             node.count};
        std::size_t all = features_.size();
        std::size_t wanted = options_->features_per_node == 0
                                 ? all
                                 : std::min<std::size_t>(options_->features_per_node, all);
        std::vector<Cut> found;
        auto consider = [&](Cut&& cut) {
            if (!cut.found()) return;
            if (options_->competitors > 0) found.push_back(cut);
            if (cut.merit > node.cut.merit) node.cut = std::move(cut);
        };
        if (wanted == all && team_ != nullptr && node.count * all >= kSharedWork) {
            std::vector<Cut> cuts(all);
            team_->run(all, [&](std::size_t i, int worker) {
                bool constant;
                cuts[i] = searches_[worker].best(features_[i], view, constant);
            });
            for (Cut& cut : cuts) consider(std::move(cut));
        } else {
            // Columns are drawn one by one; one that is constant here does not count if no other
            // is found.
            bool draws = wanted < all, any = false;
            drawn_.clear();
            for (std::size_t i = 0; i < all && (i < wanted || !any); ++i) {
                if (draws) {
                    std::size_t j = i + hash64(node.key, 0x66 /* "f" */, i) % (all - i);
                    std::swap(features_[i], features_[j]);
                    drawn_.push_back(j);
                }
                bool constant;
                Cut cut = searches_[0].best(features_[i], view, constant);
                any = any || !constant;
                consider(std::move(cut));
            }
            for (std::size_t i = drawn_.size(); i-- > 0;)
                std::swap(features_[i], features_[drawn_[i]]);
        }
        if (!node.cut.found()) return;
        double unsplit = merit_unsplit(node);
        node.gain = gain_from(node.cut.merit - unsplit);
        if (node.gain + 1e-15 < options_->min_impurity_decrease) {
            node.cut = {};
            return;
        }
        for (Cut& cut : found) cut.merit = gain_from(cut.merit - unsplit);
        keep_competitors(node, found);
    }

    void keep_competitors(Growing& node, std::vector<Cut>& found) const {
        if (options_->competitors == 0) return;
        std::stable_sort(found.begin(), found.end(),
                         [](const Cut& a, const Cut& b) { return a.merit > b.merit; });
        if (!found.empty()) found.erase(found.begin());  // the winner
        if (found.size() > options_->competitors) found.resize(options_->competitors);
        node.competitors = std::move(found);
    }

    // The merit of the node before it is split; with surrogates it has been taken off already, for
    // each column on the rows whose value it knows.
    double merit_unsplit(const Growing& node) const {
        if (options_->surrogates > 0) return 0;
        if (options_->criterion == Criterion::absolute) {
            std::vector<WeightedNumber> numbers = numbers_of(node);
            return -distances(numbers);
        }
        if constexpr (Sums::kPair)
            return sums_.alone(node.sums[0], node.sums[1]);
        else
            return sums_.goodness(node.sums.data());
    }

    // From a difference of merits to the fall of impurity of the whole tree: weight of the node
    // over weight of all, times the fall of its own.
    double gain_from(double difference) const {
        // Of two classes the merit has the sums of one; Gini's index counts both.
        if (Sums::kPair && options_->criterion == Criterion::gini) difference *= 2;
        if (options_->criterion == Criterion::entropy) difference /= std::log(2.0);
        return difference / whole_weight_;
    }

    std::vector<WeightedNumber> numbers_of(const Growing& node) const {
        std::vector<WeightedNumber> numbers(node.count);
        for (std::size_t i = 0; i < node.count; ++i) numbers[i] = number_of(node.begin + i);
        return numbers;
    }

    WeightedNumber number_of(std::size_t i) const {
        if constexpr (Sums::kPair)
            return {items_[i].sum / items_[i].weight + offset_, items_[i].weight};
        else
            return {0, items_[i].weight};
    }

    static double distances(std::vector<WeightedNumber>& numbers) {
        if (numbers.empty()) return 0;
        double median = weighted_median(numbers), sum = 0;
        for (const WeightedNumber& number : numbers)
            sum += number.weight * std::abs(number.value - median);
        return sum;
    }

    // Writes the split down and opens its children.
    void split(Growing& node) {
        const CodedColumn& column = table_->columns[node.cut.feature];
        std::vector<Surrogate> surrogates;
        Growing children[2];
        mark_sides(node, column);
        bool heavier_left = heavier_side(node);
        if (!node.cut.saw_missing) node.cut.missing_left = heavier_left;
        if (surrogates_ != nullptr) {
            surrogates = surrogates_->find(node.cut, rows_.data() + node.begin, weights_of(node),
                                           node.count, sides_);
            route_missing(node, column, surrogates, heavier_left);
        }
        std::size_t lefts = partition(node);
        auto left = static_cast<std::uint32_t>(out_.tree.nodes.size());
        add_nodes(2);
        write_rule(node, column, left);
        for (int side = 0; side < 2; ++side) {
            Growing& child = children[side];
            child.number = left + static_cast<std::uint32_t>(side);
            child.depth = node.depth + 1;
            child.begin = side == 0 ? node.begin : node.begin + lefts;
            child.count = side == 0 ? lefts : node.count - lefts;
            child.key = hash64(node.key, static_cast<std::uint64_t>(side), 1);
            child.sums = sums_of(child.begin, child.count);
            child.bounds = node.bounds;
        }
        bound(node, children);
        if (details_) {
            CartNode& kept = describe(node);
            kept.competitors = std::move(node.competitors);
            kept.surrogates = std::move(surrogates);
        }
        // The left child comes next when the frontier is a stack.
        open(std::move(children[1]));
        open(std::move(children[0]));
    }

    std::vector<double> weights_of(const Growing& node) const {
        std::vector<double> weights(node.count);
        for (std::size_t i = 0; i < node.count; ++i) weights[i] = items_[node.begin + i].weight;
        return weights;
    }

    // sides_[i]: 1 if row i of the node goes left.
    void mark_sides(const Growing& node, const CodedColumn& column) {
        sides_.resize(node.count);
        const std::uint32_t* rows = rows_.data() + node.begin;
        const Cut& cut = node.cut;
        if (!cut.nominal && column.is_narrow()) {
            // A missing value is code 0: with 1 taken off it comes last.
            const std::uint8_t* codes = column.narrow.data();
            std::uint8_t shift = cut.missing_left ? 0 : 1;
            auto bound = static_cast<std::uint8_t>(cut.last - shift);
            for (std::size_t i = 0; i < node.count; ++i)
                sides_[i] = static_cast<std::uint8_t>(codes[rows[i]] - shift) <= bound;
        } else if (!cut.nominal) {
            const std::uint32_t* codes = column.wide.data();
            std::uint32_t shift = cut.missing_left ? 0 : 1, bound = cut.last - shift;
            for (std::size_t i = 0; i < node.count; ++i)
                sides_[i] = codes[rows[i]] - shift <= bound;
        } else {
            table_of_codes_.assign(column.codes, 0);
            for (std::uint32_t code : cut.left_codes) table_of_codes_[code] = 1;
            table_of_codes_[0] = cut.missing_left;
            for (std::size_t i = 0; i < node.count; ++i)
                sides_[i] = table_of_codes_[column.code(rows[i])];
        }
    }

    bool heavier_side(const Growing& node) const {
        double left = 0, all = 0;
        for (std::size_t i = 0; i < node.count; ++i) {
            double weight = items_[node.begin + i].weight;
            all += weight;
            left += sides_[i] ? weight : 0.0;
        }
        return 2 * left >= all;
    }

    void route_missing(Growing& node, const CodedColumn& column,
                       const std::vector<Surrogate>& surrogates, bool heavier_left) {
        node.cut.missing_left = heavier_left;
        for (std::size_t i = 0; i < node.count; ++i) {
            std::uint32_t row = rows_[node.begin + i];
            if (column.code(row) == 0)
                sides_[i] = goes_left_by_surrogate(surrogates, heavier_left, [&](std::uint32_t f) {
                    return table_->columns[f].code(row);
                });
        }
    }

    std::size_t partition(const Growing& node) {
        std::uint32_t* rows = rows_.data() + node.begin;
        Item* items = items_.data() + node.begin;
        std::size_t left = 0, right = 0;
        for (std::size_t i = 0; i < node.count; ++i) {
            std::uint32_t row = rows[i];
            Item item = items[i];
            bool goes_left = sides_[i] != 0;
            rows[left] = row;
            items[left] = item;
            spare_rows_[right] = row;
            spare_items_[right] = item;
            left += goes_left;
            right += !goes_left;
        }
        std::copy_n(spare_rows_.data(), right, rows + left);
        std::copy_n(spare_items_.data(), right, items + left);
        return left;
    }

    void write_rule(const Growing& node, const CodedColumn& column, std::uint32_t left) {
        Node& rule = out_.tree.nodes[node.number];
        rule.left = left;
        rule.tag = node.cut.feature | (node.cut.missing_left ? bosquet::Node::kMissingLeft : 0);
        if (column.nominal) {
            rule.tag |= bosquet::Node::kCategorical;
            std::vector<std::uint32_t>& words = out_.tree.category_words;
            auto begin = static_cast<std::uint32_t>(words.size());
            std::uint32_t count =
                node.cut.left_codes.empty() ? 0 : (node.cut.left_codes.back() - 1) / 32 + 1;
            words.resize(begin + count);
            for (std::uint32_t code : node.cut.left_codes)
                words[begin + (code - 1) / 32] |= 1u << ((code - 1) % 32);
            rule.put_set(begin, count);
        } else {
            rule.number = node.cut.threshold;
        }
        out_.tree.stats[node.number] = {static_cast<float>(node.gain),
                                        static_cast<float>(sums_.weight(node.sums.data()))};
    }

    // The children of a monotone split stay on their side of the middle between their values.
    void bound(const Growing& node, Growing* children) const {
        if constexpr (Sums::kPair) {
            if (options_->monotone.empty() || options_->monotone[node.cut.feature] == 0) return;
            double left = children[0].sums[1] / children[0].sums[0];
            double right = children[1].sums[1] / children[1].sums[0];
            double middle = (left + right) / 2;
            bool rises = options_->monotone[node.cut.feature] > 0;
            children[rises ? 0 : 1].bounds.upper = middle;
            children[rises ? 1 : 0].bounds.lower = middle;
        }
    }

    // Makes the node a leaf.
    void close(const Growing& node) {
        Node& leaf = out_.tree.nodes[node.number];
        out_.tree.stats[node.number].cover = static_cast<float>(sums_.weight(node.sums.data()));
        if (outputs() == 1) {
            leaf.number = first_value(node);
        } else {
            leaf.number = static_cast<double>(out_.tree.leaf_values.size() / outputs());
            std::size_t begin = out_.tree.leaf_values.size();
            out_.tree.leaf_values.resize(begin + outputs());
            put_values(node, out_.tree.leaf_values.data() + begin);
        }
        if (details_) describe(node);
    }

    double first_value(const Growing& node) const {
        double value = 0;
        if (options_->criterion == Criterion::absolute) {
            std::vector<WeightedNumber> numbers = numbers_of(node);
            return weighted_median(numbers);
        }
        put_values(node, &value);
        if (options_->monotone.empty()) return value;
        // Bounds are those of centred numbers.
        return std::clamp(value - offset_, node.bounds.lower, node.bounds.upper) + offset_;
    }

    void put_values(const Growing& node, double* out) const {
        double weight = sums_.weight(node.sums.data());
        if constexpr (Sums::kPair) {
            out[0] = node.sums[1] / weight + offset_;
        } else if constexpr (std::is_same_v<Sums, VectorSums>) {
            for (std::uint32_t k = 0; k < target_.outputs; ++k) out[k] = node.sums[k + 1] / weight;
        } else {
            for (std::uint32_t k = 0; k < target_.outputs; ++k) out[k] = node.sums[k] / weight;
        }
    }

    CartNode& describe(const Growing& node) {
        CartNode& kept = out_.nodes[node.number];
        kept.rows = static_cast<std::uint32_t>(node.count);
        kept.weight = sums_.weight(node.sums.data());
        kept.impurity = impurity(node);
        if (outputs() == 1)
            out_.node_values[node.number] = first_value(node);
        else
            put_values(node, out_.node_values.data() + std::size_t{node.number} * outputs());
        return kept;
    }

    double impurity(const Growing& node) const {
        double weight = sums_.weight(node.sums.data());
        double goodness = sums_.goodness(node.sums.data());
        switch (options_->criterion) {
            case Criterion::gini:
                return 1 - goodness / weight;
            case Criterion::entropy:
                return -goodness / weight / std::log(2.0);
            default:
                break;
        }
        double own = 0;
        if (options_->criterion == Criterion::absolute) {
            std::vector<WeightedNumber> numbers = numbers_of(node);
            own = distances(numbers);
        } else if (options_->criterion == Criterion::poisson) {
            for (std::size_t i = node.begin; i < node.begin + node.count; ++i) {
                WeightedNumber one = number_of(i);
                own += one.weight * x_log_x(one.value);
            }
            own = goodness > -1e300 ? own - goodness : 0.0;
        } else {
            own = squares(node) - goodness;
            if constexpr (std::is_same_v<Sums, VectorSums>) own /= target_.outputs;
        }
        return std::max(own, 0.0) / weight;
    }

    // The weighted sum of squares of the (centred) numbers.
    double squares(const Growing& node) const {
        double sum = 0;
        for (std::size_t i = node.begin; i < node.begin + node.count; ++i) {
            if constexpr (Sums::kPair) {
                sum += items_[i].sum * items_[i].sum / items_[i].weight;
            } else if constexpr (std::is_same_v<Sums, VectorSums>) {
                for (std::uint32_t k = 0; k < target_.outputs; ++k) {
                    double y = target_.numbers[k * table_->rows + rows_[i]];
                    sum += items_[i].weight * y * y;
                }
            }
        }
        return sum;
    }

    const CodedTable* table_;
    CartTarget target_;
    const CartOptions* options_;
    const Sums sums_;
    std::vector<CartSearch<Sums>> searches_;
    std::unique_ptr<SurrogateSearch> surrogates_;
    Team* team_ = nullptr;

    std::vector<std::uint32_t> features_;
    std::vector<std::size_t> drawn_;
    std::vector<std::uint32_t> rows_, spare_rows_;
    std::vector<Item> items_, spare_items_;
    std::vector<std::uint8_t> sides_, table_of_codes_;
    double offset_ = 0, whole_weight_ = 0;

    CartTree out_;
    bool details_ = false;
    std::size_t leaves_ = 0;
    std::vector<Growing> frontier_;
};

template <class Sums>
std::unique_ptr<CartGrower> make(const CodedTable& table, const CartTarget& target,
                                 const CartOptions& options, const Sums& sums, int team_size) {
    return std::make_unique<GrowerOf<Sums>>(table, target, options, sums, team_size);
}

}  // namespace

std::unique_ptr<CartGrower> make_cart_grower(const CodedTable& table, const CartTarget& target,
                                             const CartOptions& options, int team_size) {
    auto with = [&](const auto& sums) { return make(table, target, options, sums, team_size); };
    if (target.is_classes()) {
        bool gini = options.criterion == Criterion::gini;
        if (!gini && options.criterion != Criterion::entropy)
            throw InputError("classes are split by gini or entropy");
        if (target.outputs == 2)
            return gini ? with(PairSums<Criterion::gini>{}) : with(PairSums<Criterion::entropy>{});
        return gini ? with(ClassSums<Criterion::gini>{target.outputs})
                    : with(ClassSums<Criterion::entropy>{target.outputs});
    }
    if (target.outputs > 1) {
        if (options.criterion != Criterion::squared)
            throw InputError("several numbers a row are split by squared error");
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
            throw InputError("numbers are not split by gini or entropy");
    }
}

Bag draw_bag(std::size_t rows, std::size_t draws, bool replace, std::span<const double> weights,
             std::uint64_t key) {
    std::vector<std::uint32_t> times(rows);
    if (replace) {
        for (std::size_t i = 0; i < draws; ++i) {
            // The upper half of a product: evenly over the rows, without a division.
            auto wide = static_cast<unsigned __int128>(hash64(key, 0x626167 /* "bag" */, i)) * rows;
            ++times[static_cast<std::size_t>(wide >> 64)];
        }
    } else if (draws >= rows) {
        std::fill(times.begin(), times.end(), 1u);
    } else {
        // The rows whose hashes are smallest.
        std::vector<std::pair<std::uint64_t, std::uint32_t>> ranked(rows);
        for (std::size_t row = 0; row < rows; ++row)
            ranked[row] = {hash64(key, 0x626167, row), static_cast<std::uint32_t>(row)};
        std::nth_element(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(draws),
                         ranked.end());
        for (std::size_t i = 0; i < draws; ++i) times[ranked[i].second] = 1;
    }
    Bag bag;
    bag.rows.reserve(rows);
    bag.weights.reserve(rows);
    for (std::size_t row = 0; row < rows; ++row) {
        double weight = times[row] * (weights.empty() ? 1.0 : weights[row]);
        if (!(weight > 0)) continue;
        bag.rows.push_back(static_cast<std::uint32_t>(row));
        bag.weights.push_back(weight);
    }
    return bag;
}

}  // namespace bosquet
