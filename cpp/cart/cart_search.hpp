// Finds the best split of a node on one column.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "base/interrupt.hpp"
#include "base/random.hpp"
#include "cart/bucket_search.hpp"
#include "cart/cart_split.hpp"
#include "cart/code_sums.hpp"
#include "cart/component.hpp"
#include "cart/median.hpp"
#include "cart/node_values.hpp"
#include "cart/options.hpp"
#include "cart/sums.hpp"

namespace bosquet {

// For more than two classes, all groupings are tried for up to this many categories. With more
// categories, they are ordered by the first principal component of their class shares (Coppersmith,
// Hong and Hosking 1999), and the splits of that order are tried.
constexpr std::size_t kExhaustiveCategories = 12;

template <class Sums>
constexpr bool has_bucket_search() {
    if constexpr (Sums::kPair)
        return Sums::kConvex;
    else
        return false;
}

template <class Sums>
class CartSearch {
  public:
    using Item = typename Sums::Item;

    struct Node {
        NodeRows<Item> rows;
        std::span<const double> sums;
        std::uint64_t key;
        ValueBounds bounds;
        std::size_t known_rows;  // number of rows whose value is not excluded
    };

    CartSearch(const CodedTable& table, const CartOptions& options, const Sums& sums)
        : table_(&table), options_(&options), sums_(sums), code_sums_(sums) {
        counted_ = options.min_samples_leaf > 1;
        if constexpr (kHasBucketSearch) {
            bool plain = !counted_ && options.min_weight_leaf == 0 && options.monotone.empty() &&
                         options.surrogates == 0 && !options.random_thresholds;
            if (plain) bucket_search_.emplace_back(sums);
        }
    }

    // Sets `constant` to whether the column has a single value in this node. A split with a proxy
    // gain below `floor` may be skipped.
    CartSplit find_best_split(std::uint32_t feature, const Node& all, double floor,
                              bool& constant) {
        const CodedColumn& column = table_->columns[feature];
        feature_ = feature;
        check_interrupt(8 * all.rows.count);
        if constexpr (kHasBucketSearch) {
            if (!bucket_search_.empty() && !column.categorical && !column.is_narrow() &&
                all.rows.count >= kBucketSearchRows) {
                CartSplit split;
                split.feature = feature;
                constant = false;
                if (bucket_search_[0].find_best_split(column, all.rows, all.sums, floor, split))
                    return split;
            }
        }
        if (options_->random_thresholds && !column.categorical)
            return draw_threshold(column, all, constant);
        code_sums_.collect(column, all.rows, counted_ || options_->surrogates > 0);
        Node node = all;
        bool exclude_missing = options_->surrogates > 0 && code_sums_.has_missing();
        if (exclude_missing) exclude_missing_rows(node);
        constant = code_sums_.size() < 2;
        if (constant) return {};
        CartSplit split;
        if (options_->random_thresholds)
            draw_grouping(column, node, split);
        else if (options_->criterion == Criterion::absolute)
            find_absolute_split(column, node, split);
        else if (column.categorical)
            find_categorical_split(column, node, split);
        else
            find_ordered_split(column, node, split);
        if (split.found()) {
            split.feature = feature;
            split.categorical = column.categorical;
            split.saw_missing = code_sums_.has_missing() || exclude_missing;
            // Splits that were found on different rows are compared by their gain on these rows.
            if (options_->surrogates > 0) split.gain -= proxy_gain_of_node(node);
        }
        return split;
    }

  private:
    static constexpr bool kHasBucketSearch = has_bucket_search<Sums>();
    // With fewer rows than this, buckets hold too few rows to be skipped.
    static constexpr std::size_t kBucketSearchRows = 2048;
    // Number of entries between two checks for an interrupt.
    static constexpr std::size_t kEntriesPerCheck = 1024;

    // With surrogates, rows whose value is missing are excluded from the search.
    void exclude_missing_rows(Node& node) {
        known_sums_.assign(node.sums.begin(), node.sums.end());
        for (std::size_t k = 0; k < known_sums_.size(); ++k)
            known_sums_[k] -= code_sums_.sums_of_entry(0)[k];
        node.sums = known_sums_;
        node.known_rows -= code_sums_.count(0);
        code_sums_.drop_missing();
    }

    // The proxy gain of the node before it is split.
    double proxy_gain_of_node(const Node& node) {
        if (options_->criterion == Criterion::absolute) {
            medians_.clear_left();
            return -medians_.distances();
        }
        if constexpr (Sums::kPair) {
            return sums_.node_proxy_gain(node.sums[0], node.sums[1]);
        } else {
            return sums_.proxy_gain(node.sums.data());
        }
    }

    // Moves all rows to the right.
    void clear_left() {
        left_.assign(sums_.width(), 0.0);
        left_rows_ = 0;
    }
    void move_left(std::size_t entry) {
        const double* sums = code_sums_.sums_of_entry(entry);
        for (std::size_t k = 0; k < left_.size(); ++k) left_[k] += sums[k];
        if (counted_) left_rows_ += code_sums_.count(entry);
    }

    // A split of the entries in the order of order_: the first `position` of them go left.
    struct SplitPoint {
        std::size_t position = 0;
        bool missing_left = false;
    };

    // Scores a split by the sums of its two sides.
    struct SumScorer {
        CartSearch* search;
        const Node* node;
        void clear() {}
        void move(std::size_t) {}
        double proxy_gain() { return search->proxy_gain_of_sides(*node); }
    };

    // Returns the best of all allowed splits, with missing values on either side; its proxy gain is
    // stored in the split. The scorer is called for every entry that moves to the left and computes
    // the proxy gain.
    template <class Scorer>
    SplitPoint find_best_split_point(const Node& node, Scorer scorer, CartSplit& split) {
        SplitPoint best;
        bool missing = code_sums_.has_missing();
        for (bool missing_left : {false, true}) {
            if (missing_left && !missing) break;
            clear_left();
            scorer.clear();
            auto move = [&](std::size_t entry) {
                move_left(entry);
                scorer.move(entry);
            };
            if (missing_left) move(0);
            for (std::size_t i = 0; i < order_.size(); ++i) {
                if (i % kEntriesPerCheck == 0) check_interrupt(kEntriesPerCheck * left_.size());
                move(order_[i]);
                // After the last entry only missing values can go right.
                if (i + 1 == order_.size() && (!missing || missing_left)) break;
                if (!is_allowed(node)) continue;
                double proxy_gain = scorer.proxy_gain();
                if (!(proxy_gain > split.gain)) continue;
                split.gain = proxy_gain;
                best = {i + 1, missing_left};
            }
        }
        return best;
    }

    // Stores a split of the entries as codes or as a threshold.
    void store_split(const CodedColumn& column, const SplitPoint& point, CartSplit& split) {
        if (!split.found()) return;
        split.missing_left = point.missing_left;
        if (column.categorical) {
            for (std::size_t i = 0; i < point.position; ++i)
                split.left_codes.push_back(code_sums_.code(order_[i]));
            std::sort(split.left_codes.begin(), split.left_codes.end());
            return;
        }
        split.last = code_sums_.code(order_[point.position - 1]);
        split.threshold =
            point.position == order_.size()
                ? std::numeric_limits<double>::infinity()
                : column.threshold(split.last, code_sums_.code(order_[point.position]));
    }

    // Whether the split into the rows on the left and the others is allowed.
    bool is_allowed(const Node& node) const {
        const double* left = left_.data();
        if (counted_ && (left_rows_ < options_->min_samples_leaf ||
                         node.known_rows - left_rows_ < options_->min_samples_leaf))
            return false;
        if (options_->min_weight_leaf > 0) {
            double weight = sums_.weight(left);
            if (weight < options_->min_weight_leaf ||
                sums_.weight(node.sums.data()) - weight < options_->min_weight_leaf)
                return false;
        }
        if constexpr (Sums::kPair) {
            if (!options_->monotone.empty()) {
                double below = left[1] / left[0];
                double above = (node.sums[1] - left[1]) / (node.sums[0] - left[0]);
                if ((above - below) * options_->monotone[feature_] < 0) return false;
                if (std::min(below, above) < node.bounds.lower ||
                    std::max(below, above) > node.bounds.upper)
                    return false;
            }
        }
        return true;
    }

    double proxy_gain_of_sides(const Node& node) {
        if constexpr (Sums::kPair) {
            return sums_.children_proxy_gain(left_[0], left_[1], node.sums[0], node.sums[1]);
        } else {
            right_.resize(left_.size());
            for (std::size_t k = 0; k < right_.size(); ++k) right_[k] = node.sums[k] - left_[k];
            return sums_.proxy_gain(left_.data()) + sums_.proxy_gain(right_.data());
        }
    }

    // Sets order_ to all entries except that of missing values.
    void list_present_entries() {
        order_.resize(code_sums_.size() - code_sums_.has_missing());
        std::iota(order_.begin(), order_.end(), code_sums_.has_missing() ? 1u : 0u);
    }

    template <class Key>
    void sort_by(Key key) {
        std::stable_sort(order_.begin(), order_.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    }

    void sort_by_mean() {
        sort_by([&](std::uint32_t entry) {
            return code_sums_.sums_of_entry(entry)[1] / code_sums_.sums_of_entry(entry)[0];
        });
    }

    void find_ordered_split(const CodedColumn& column, const Node& node, CartSplit& split) {
        if constexpr (Sums::kPair) {
            if (!code_sums_.has_missing() && !counted_ && options_->min_weight_leaf == 0 &&
                options_->monotone.empty()) {
                find_unconstrained_split(column, node, split);
                return;
            }
        }
        list_present_entries();
        store_split(column, find_best_split_point(node, SumScorer{this, &node}, split), split);
    }

    // The common case: no missing values and no constraints.
    void find_unconstrained_split(const CodedColumn& column, const Node& node, CartSplit& split) {
        double w = 0, s = 0, all_w = node.sums[0], all_s = node.sums[1];
        const double* entry = code_sums_.sums_of_entry(0);
        std::size_t best = 0;
        for (std::size_t i = 0; i + 1 < code_sums_.size(); ++i, entry += 2) {
            w += entry[0];
            s += entry[1];
            double proxy_gain = sums_.children_proxy_gain(w, s, all_w, all_s);
            if (proxy_gain > split.gain) {
                split.gain = proxy_gain;
                best = i + 1;
            }
        }
        if (!split.found()) return;
        split.last = code_sums_.code(best - 1);
        split.threshold = column.threshold(split.last, code_sums_.code(best));
    }

    void find_categorical_split(const CodedColumn& column, const Node& node, CartSplit& split) {
        list_present_entries();
        if constexpr (Sums::kPair) {
            // The best grouping is contiguous in the order by mean (Fisher 1958; Breiman et al.
            // 1984).
            sort_by_mean();
        } else {
            if (order_.size() <= kExhaustiveCategories && order_.size() > 1) {
                try_all_groupings(node, split);
                return;
            }
            std::vector<double> score = first_component(sums_, code_sums_, order_);
            sort_by([&](std::uint32_t entry) { return score[entry]; });
        }
        store_split(column, find_best_split_point(node, SumScorer{this, &node}, split), split);
    }

    // Tries all groupings into two, with the last category always on the right.
    void try_all_groupings(const Node& node, CartSplit& split) {
        std::size_t present = order_.size(), best = 0;
        for (bool missing_left : {false, true}) {
            if (missing_left && !code_sums_.has_missing()) break;
            // With missing values on the right, all categories may be on the left.
            std::size_t end = std::size_t{1} << (present - 1);
            for (std::size_t group = missing_left ? 0 : 1; group <= end; ++group) {
                bool all_left = group == end;
                if (all_left && (missing_left || !code_sums_.has_missing())) break;
                clear_left();
                if (missing_left) move_left(0);
                for (std::size_t i = 0; i < present; ++i)
                    if (all_left || (group >> i & 1)) move_left(order_[i]);
                if (!is_allowed(node)) continue;
                double proxy_gain = proxy_gain_of_sides(node);
                if (!(proxy_gain > split.gain)) continue;
                split.gain = proxy_gain;
                best = all_left ? 2 * end - 1 : group;
                split.missing_left = missing_left;
            }
        }
        if (!split.found()) return;
        for (std::size_t i = 0; i < present; ++i)
            if (best >> i & 1) split.left_codes.push_back(code_sums_.code(order_[i]));
    }

    // Draws a threshold uniformly between the smallest and the largest value in the node. Missing
    // values go to a random side, or are separated from the others if these have a single value.
    CartSplit draw_threshold(const CodedColumn& column, const Node& node, bool& constant) {
        std::uint32_t smallest = column.codes, largest = 0;
        bool missing = false;
        for (std::size_t i = 0; i < node.rows.count; ++i) {
            std::uint32_t code = column.code(node.rows.rows[i]);
            missing = missing || code == 0;
            if (code != 0 && code < smallest) smallest = code;
            largest = std::max(largest, code);
        }
        bool single_value = smallest >= largest;
        constant = single_value && !(missing && largest > 0);
        CartSplit split;
        if (constant) return split;
        std::uint64_t key = hash64(node.key, 0x637574 /* "cut" */, feature_);
        split.feature = feature_;
        split.saw_missing = missing;
        if (single_value) {
            split.last = largest;
            split.threshold = std::numeric_limits<double>::infinity();
        } else {
            split.missing_left = missing && (key & 1) != 0;
            double low = column.lowest(smallest), high = column.highest(largest);
            double draw = static_cast<double>(mix64(key) >> 11) * 0x1p-53;
            split.threshold = low + draw * (high - low);
            if (!(split.threshold < high)) split.threshold = low;
            // An edge below the first bin of the node would send nothing left.
            split.last = std::clamp(column.last_below(split.threshold), smallest, largest - 1);
            if (!column.edges.empty()) split.threshold = column.edges[split.last - 1];
        }
        clear_left();
        for (std::size_t i = 0; i < node.rows.count; ++i) {
            std::uint32_t row = node.rows.rows[i];
            if (!split.goes_left(column.code(row))) continue;
            sums_.add(left_.data(), node.rows.items[i], row);
            ++left_rows_;
        }
        if (is_allowed(node)) split.gain = proxy_gain_of_sides(node);
        return split;
    }

    // Splits the categories, in a random order, at a random position. Missing values go to a random
    // side, or are separated from the others if there is a single category.
    void draw_grouping(const CodedColumn& column, const Node& node, CartSplit& split) {
        list_present_entries();
        std::uint64_t key = hash64(node.key, 0x637574 /* "cut" */, feature_);
        sort_by([&](std::uint32_t entry) { return hash64(key, 1, code_sums_.code(entry)); });
        SplitPoint point{order_.size(), false};
        if (order_.size() > 1) {
            double draw = static_cast<double>(mix64(key) >> 11) * 0x1p-53;
            double positions = static_cast<double>(order_.size()) - 1;
            point.position = 1 + static_cast<std::size_t>(draw * positions);
            point.missing_left = code_sums_.has_missing() && (key & 1) != 0;
        }
        clear_left();
        if (point.missing_left) move_left(0);
        for (std::size_t i = 0; i < point.position; ++i) move_left(order_[i]);
        if (!is_allowed(node)) return;
        split.gain = proxy_gain_of_sides(node);
        store_split(column, point, split);
    }

    // Scores a split by the distances of its rows to the medians of the two sides.
    struct MedianScorer {
        CartSearch* search;
        void clear() { search->medians_.clear_left(); }
        void move(std::size_t entry) {
            for (std::uint32_t i : search->members_[entry]) search->medians_.move_left(i);
            check_interrupt(64 * search->members_[entry].size());
        }
        double proxy_gain() { return -search->medians_.distances(); }
    };

    void find_absolute_split(const CodedColumn& column, const Node& node, CartSplit& split) {
        if constexpr (Sums::kPair) {
            list_present_entries();
            if (column.categorical) sort_by_mean();
            constexpr std::uint32_t kExcluded = 0xffffffffu;
            entry_of_code_.assign(column.codes, kExcluded);
            for (std::size_t entry = 0; entry < code_sums_.size(); ++entry)
                entry_of_code_[code_sums_.code(entry)] = static_cast<std::uint32_t>(entry);
            members_.assign(code_sums_.size(), {});
            values_.clear();
            for (std::size_t i = 0; i < node.rows.count; ++i) {
                const Item& item = node.rows.items[i];
                std::uint32_t entry = entry_of_code_[column.code(node.rows.rows[i])];
                if (entry == kExcluded) continue;
                members_[entry].push_back(static_cast<std::uint32_t>(values_.size()));
                values_.push_back({item.sum / item.weight, item.weight});
            }
            medians_.reset(values_);
            store_split(column, find_best_split_point(node, MedianScorer{this}, split), split);
        }
    }

    const CodedTable* table_;
    const CartOptions* options_;
    const Sums sums_;
    CodeSums<Sums> code_sums_;
    std::vector<BucketSearch<Sums>> bucket_search_;  // at most one
    bool counted_ = false;
    std::uint32_t feature_ = 0;
    std::vector<std::uint32_t> order_;
    std::vector<double> left_, right_, known_sums_;
    std::size_t left_rows_ = 0;
    MedianSplit medians_;
    std::vector<WeightedValue> values_;
    std::vector<std::vector<std::uint32_t>> members_;  // indices in values_, by entry
    std::vector<std::uint32_t> entry_of_code_;
};

}  // namespace bosquet
