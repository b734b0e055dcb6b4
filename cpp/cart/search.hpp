// The best split of a node on one column.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "base/random.hpp"
#include "cart/cut.hpp"
#include "cart/entries.hpp"
#include "cart/median.hpp"
#include "cart/options.hpp"
#include "cart/sums.hpp"

namespace bosquet {

// Up to this many categories all groupings are tried for more than two classes; beyond, categories
// are put in the order of their class shares' first principal component (Coppersmith, Hong and
// Hosking 1999), and the cuts of that order are tried.
constexpr std::size_t kExhaustiveCategories = 12;

// What a node's value may be, by the monotone splits above it.
struct NodeBounds {
    double lower = -std::numeric_limits<double>::infinity();
    double upper = std::numeric_limits<double>::infinity();
};

template <class Sums>
class CartSearch {
  public:
    using Item = typename Sums::Item;

    struct Node {
        NodeRows<Item> rows;
        std::span<const double> sums;
        std::uint64_t key;
        NodeBounds bounds;
        std::size_t known_rows;  // whose value is not left out
    };

    CartSearch(const CodedTable& table, const CartOptions& options, const Sums& sums)
        : table_(&table), options_(&options), sums_(sums), entries_(sums) {
        counted_ = options.min_samples_leaf > 1;
    }

    // `constant` tells whether the column has one value only in this node.
    Cut best(std::uint32_t feature, const Node& all, bool& constant) {
        const CodedColumn& column = table_->columns[feature];
        feature_ = feature;
        if (options_->random_thresholds && !column.nominal)
            return random_threshold(column, all, constant);
        entries_.collect(column, all.rows, counted_ || options_->surrogates > 0);
        Node node = all;
        bool leave_out_missing = options_->surrogates > 0 && entries_.has_missing();
        if (leave_out_missing) leave_out(node);
        constant = entries_.size() < 2;
        if (constant) return {};
        Cut cut;
        if (options_->random_thresholds)
            random_grouping(node, cut);
        else if (options_->criterion == Criterion::absolute)
            absolute_cut(column, node, cut);
        else if (column.nominal)
            nominal_cut(node, cut);
        else
            ordered_cut(column, node, cut);
        if (cut.found()) {
            cut.feature = feature;
            cut.nominal = column.nominal;
            cut.saw_missing = entries_.has_missing() || leave_out_missing;
            // Splits that saw different rows compare by what they gained on them.
            if (options_->surrogates > 0) cut.merit -= merit_alone(node);
        }
        return cut;
    }

  private:
    // With surrogates, rows whose value is missing have no say in the split.
    void leave_out(Node& node) {
        known_.assign(node.sums.begin(), node.sums.end());
        for (std::size_t k = 0; k < known_.size(); ++k) known_[k] -= entries_.of(0)[k];
        node.sums = known_;
        node.known_rows -= entries_.count(0);
        entries_.drop_missing();
    }

    // The merit of the node before it is split.
    double merit_alone(const Node& node) {
        if (options_->criterion == Criterion::absolute) {
            medians_.clear_left();
            return -medians_.distances();
        }
        if constexpr (Sums::kPair) {
            return sums_.alone(node.sums[0], node.sums[1]);
        } else {
            return sums_.goodness(node.sums.data());
        }
    }

    // Calls visit(position, left sums, left rows, missing_left) for every place where the entries,
    // taken in `order`, may be parted: the first `position` of them go left. Missing values take
    // either side.
    template <class Visit>
    void for_each_parting(std::span<const std::uint32_t> order, const Node& node, Visit visit) {
        std::size_t missing = entries_.has_missing();
        std::size_t last = order.size();
        left_.resize(sums_.width());
        for (bool missing_left : {false, true}) {
            if (missing_left && !missing) break;
            std::fill(left_.begin(), left_.end(), 0.0);
            std::size_t left_rows = 0;
            auto add = [&](std::size_t entry) {
                const double* sums = entries_.of(entry);
                for (std::size_t k = 0; k < left_.size(); ++k) left_[k] += sums[k];
                if (counted_) left_rows += entries_.count(entry);
            };
            if (missing_left) add(0);
            for (std::size_t i = 0; i < last; ++i) {
                add(order[i]);
                // Behind the last entry there is nothing but missing values to send right.
                if (i + 1 == last && (!missing || missing_left)) break;
                if (!allowed(left_.data(), left_rows, node)) continue;
                visit(i + 1, missing_left);
            }
        }
    }

    bool allowed(const double* left, std::size_t left_rows, const Node& node) const {
        if (counted_ && (left_rows < options_->min_samples_leaf ||
                         node.known_rows - left_rows < options_->min_samples_leaf))
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

    double goodness_of(const double* left, const Node& node) {
        if constexpr (Sums::kPair) {
            return sums_.both(left[0], left[1], node.sums[0], node.sums[1]);
        } else {
            right_.resize(left_.size());
            for (std::size_t k = 0; k < right_.size(); ++k) right_[k] = node.sums[k] - left[k];
            return sums_.goodness(left) + sums_.goodness(right_.data());
        }
    }

    std::span<const std::uint32_t> present() {
        order_.resize(entries_.size() - entries_.has_missing());
        std::iota(order_.begin(), order_.end(), entries_.has_missing() ? 1u : 0u);
        return order_;
    }

    void take_ordered(const CodedColumn& column, std::span<const std::uint32_t> order,
                      std::size_t position, bool missing_left, Cut& cut) {
        std::uint32_t below = entries_.code(order[position - 1]);
        cut.last = below;
        cut.missing_left = missing_left;
        cut.threshold = position == order.size()
                            ? std::numeric_limits<double>::infinity()
                            : column.threshold(below, entries_.code(order[position]));
    }

    void ordered_cut(const CodedColumn& column, const Node& node, Cut& cut) {
        if constexpr (Sums::kPair) {
            if (!entries_.has_missing() && !counted_ && options_->min_weight_leaf == 0 &&
                options_->monotone.empty()) {
                plain_cut(column, node, cut);
                return;
            }
        }
        std::size_t best = 0;
        bool best_missing_left = false;
        auto order = present();
        for_each_parting(order, node, [&](std::size_t position, bool missing_left) {
            double goodness = goodness_of(left_.data(), node);
            if (!(goodness > cut.merit)) return;
            cut.merit = goodness;
            best = position;
            best_missing_left = missing_left;
        });
        if (cut.found()) take_ordered(column, order, best, best_missing_left, cut);
    }

    // The common case: nothing missing, nothing forbidden.
    void plain_cut(const CodedColumn& column, const Node& node, Cut& cut) {
        double w = 0, s = 0, all_w = node.sums[0], all_s = node.sums[1];
        const double* entry = entries_.of(0);
        std::size_t best = 0;
        for (std::size_t i = 0; i + 1 < entries_.size(); ++i, entry += 2) {
            w += entry[0];
            s += entry[1];
            double goodness = sums_.both(w, s, all_w, all_s);
            if (goodness > cut.merit) {
                cut.merit = goodness;
                best = i + 1;
            }
        }
        if (!cut.found()) return;
        cut.last = entries_.code(best - 1);
        cut.threshold = column.threshold(cut.last, entries_.code(best));
    }

    void nominal_cut(const Node& node, Cut& cut) {
        auto order = present();
        if constexpr (Sums::kPair) {
            // The best grouping is a cut of the order by mean (Fisher 1958; Breiman et al. 1984).
            sort_by(
                [&](std::uint32_t entry) { return entries_.of(entry)[1] / entries_.of(entry)[0]; });
        } else {
            if (order.size() <= kExhaustiveCategories && order.size() > 1) {
                every_grouping(node, cut);
                return;
            }
            sort_by_component();
        }
        std::size_t best = 0;
        bool best_missing_left = false;
        for_each_parting(order_, node, [&](std::size_t position, bool missing_left) {
            double goodness = goodness_of(left_.data(), node);
            if (!(goodness > cut.merit)) return;
            cut.merit = goodness;
            best = position;
            best_missing_left = missing_left;
        });
        if (!cut.found()) return;
        cut.missing_left = best_missing_left;
        for (std::size_t i = 0; i < best; ++i) cut.left_codes.push_back(entries_.code(order_[i]));
        std::sort(cut.left_codes.begin(), cut.left_codes.end());
    }

    template <class Key>
    void sort_by(Key key) {
        std::stable_sort(order_.begin(), order_.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    }

    // The first principal component of the class shares, each category counted by its weight.
    void sort_by_component() {
        std::size_t width = sums_.width();
        std::vector<double> mean(width), shares(entries_.size() * width);
        double total = 0;
        for (std::uint32_t entry : order_) {
            double weight = sums_.weight(entries_.of(entry));
            total += weight;
            for (std::size_t k = 0; k < width; ++k) {
                shares[entry * width + k] = entries_.of(entry)[k] / weight;
                mean[k] += entries_.of(entry)[k];
            }
        }
        for (double& m : mean) m /= total;
        // Power iteration; fixed in number, so that its bits are too.
        std::vector<double> axis(width), next(width), score(entries_.size());
        for (std::size_t k = 0; k < width; ++k) axis[k] = 1.0 / (1.0 + static_cast<double>(k));
        for (int round = 0; round < 50; ++round) {
            std::fill(next.begin(), next.end(), 0.0);
            for (std::uint32_t entry : order_) {
                double along = 0, weight = sums_.weight(entries_.of(entry));
                for (std::size_t k = 0; k < width; ++k)
                    along += (shares[entry * width + k] - mean[k]) * axis[k];
                score[entry] = along;
                for (std::size_t k = 0; k < width; ++k)
                    next[k] += weight * along * (shares[entry * width + k] - mean[k]);
            }
            double size = 0;
            for (double x : next) size += x * x;
            if (!(size > 0)) break;
            for (std::size_t k = 0; k < width; ++k) axis[k] = next[k] / std::sqrt(size);
        }
        sort_by([&](std::uint32_t entry) { return score[entry]; });
    }

    // All groupings in two, the last category always on the right.
    void every_grouping(const Node& node, Cut& cut) {
        std::size_t present = order_.size(), width = sums_.width();
        std::size_t best = 0;
        bool best_missing_left = false;
        for (bool missing_left : {false, true}) {
            if (missing_left && !entries_.has_missing()) break;
            // With missing values on the right, all categories may stand together on the left.
            std::size_t end = std::size_t{1} << (present - 1);
            for (std::size_t group = missing_left ? 0 : 1; group <= end; ++group) {
                bool everything = group == end;
                if (everything && (missing_left || !entries_.has_missing())) break;
                left_.assign(width, 0.0);
                std::size_t left_rows = 0;
                auto add = [&](std::size_t entry) {
                    for (std::size_t k = 0; k < width; ++k) left_[k] += entries_.of(entry)[k];
                    if (counted_) left_rows += entries_.count(entry);
                };
                if (missing_left) add(0);
                for (std::size_t i = 0; i < present; ++i)
                    if (everything || (group >> i & 1)) add(order_[i]);
                if (!allowed(left_.data(), left_rows, node)) continue;
                double goodness = goodness_of(left_.data(), node);
                if (!(goodness > cut.merit)) continue;
                cut.merit = goodness;
                best = everything ? 2 * end - 1 : group;
                best_missing_left = missing_left;
            }
        }
        if (!cut.found()) return;
        cut.missing_left = best_missing_left;
        for (std::size_t i = 0; i < present; ++i)
            if (best >> i & 1) cut.left_codes.push_back(entries_.code(order_[i]));
    }

    // A threshold drawn evenly between the least and the greatest value in the node. Missing values
    // go to a side drawn as well, or apart from all others where those are alike.
    Cut random_threshold(const CodedColumn& column, const Node& node, bool& constant) {
        std::uint32_t least = column.codes, greatest = 0;
        bool missing = false;
        for (std::size_t i = 0; i < node.rows.count; ++i) {
            std::uint32_t code = column.code(node.rows.rows[i]);
            missing = missing || code == 0;
            if (code != 0 && code < least) least = code;
            greatest = std::max(greatest, code);
        }
        bool alike = least >= greatest;
        constant = alike && !(missing && greatest > 0);
        Cut cut;
        if (constant) return cut;
        std::uint64_t key = hash64(node.key, 0x637574 /* "cut" */, feature_);
        cut.feature = feature_;
        cut.saw_missing = missing;
        if (alike) {
            cut.last = greatest;
            cut.threshold = std::numeric_limits<double>::infinity();
        } else {
            cut.missing_left = missing && (key & 1) != 0;
            double low = column.lowest(least), high = column.highest(greatest);
            double draw = static_cast<double>(mix64(key) >> 11) * 0x1p-53;
            cut.threshold = low + draw * (high - low);
            if (!(cut.threshold < high)) cut.threshold = low;
            // An edge below the node's first bin would send nothing left.
            cut.last = std::clamp(column.last_below(cut.threshold), least, greatest - 1);
            if (!column.edges.empty()) cut.threshold = column.edges[cut.last - 1];
        }
        left_.assign(sums_.width(), 0.0);
        std::size_t left_rows = 0;
        for (std::size_t i = 0; i < node.rows.count; ++i) {
            std::uint32_t row = node.rows.rows[i];
            if (!cut.goes_left(column.code(row))) continue;
            sums_.add(left_.data(), node.rows.items[i], row);
            ++left_rows;
        }
        if (allowed(left_.data(), left_rows, node)) cut.merit = goodness_of(left_.data(), node);
        return cut;
    }

    // A random half of the categories, each as likely to be cut off at any place of a random order.
    void random_grouping(const Node& node, Cut& cut) {
        auto order = present();
        std::uint64_t key = hash64(node.key, 0x637574 /* "cut" */, feature_);
        sort_by([&](std::uint32_t entry) { return hash64(key, 1, entries_.code(entry)); });
        bool missing_left = entries_.has_missing() && (key & 1) != 0;
        double draw = static_cast<double>(mix64(key) >> 11) * 0x1p-53;
        std::size_t position = order.size();
        if (order.size() > 1)
            position = 1 + static_cast<std::size_t>(draw * (static_cast<double>(order.size()) - 1));
        else
            missing_left = false;
        left_.assign(sums_.width(), 0.0);
        std::size_t left_rows = 0;
        auto add = [&](std::size_t entry) {
            for (std::size_t k = 0; k < left_.size(); ++k) left_[k] += entries_.of(entry)[k];
            if (counted_) left_rows += entries_.count(entry);
        };
        if (missing_left) add(0);
        for (std::size_t i = 0; i < position; ++i) add(order_[i]);
        if (!allowed(left_.data(), left_rows, node)) return;
        cut.merit = goodness_of(left_.data(), node);
        cut.missing_left = missing_left;
        for (std::size_t i = 0; i < position; ++i)
            cut.left_codes.push_back(entries_.code(order_[i]));
        std::sort(cut.left_codes.begin(), cut.left_codes.end());
    }

    // Absolute error: goodness is minus the sum of distances to the medians of the two sides.
    void absolute_cut(const CodedColumn& column, const Node& node, Cut& cut) {
        if constexpr (Sums::kPair) {
            auto order = present();
            if (column.nominal)
                sort_by([&](std::uint32_t entry) {
                    return entries_.of(entry)[1] / entries_.of(entry)[0];
                });
            // Rows of each entry, in the order of entries.
            rank_of_code_.assign(column.codes, 0);
            for (std::size_t i = 0; i < order_.size(); ++i)
                rank_of_code_[entries_.code(order_[i])] = static_cast<std::uint32_t>(i) + 1;
            members_.assign(order_.size() + 1, {});
            values_.clear();
            for (std::size_t i = 0; i < node.rows.count; ++i) {
                const Item& item = node.rows.items[i];
                std::uint32_t rank = rank_of_code_[column.code(node.rows.rows[i])];
                if (rank == 0 && options_->surrogates > 0) continue;
                members_[rank].push_back(static_cast<std::uint32_t>(values_.size()));
                values_.push_back({item.sum / item.weight, item.weight});
            }
            medians_.reset(values_);
            std::size_t best = 0;
            bool best_missing_left = false;
            for (bool missing_left : {false, true}) {
                if (missing_left && !entries_.has_missing()) break;
                medians_.clear_left();
                left_.assign(2, 0.0);
                std::size_t left_rows = 0;
                auto add = [&](std::size_t rank) {
                    for (std::uint32_t i : members_[rank]) {
                        medians_.move_left(i);
                        left_[0] += values_[i].weight;
                        left_[1] += values_[i].weight * values_[i].value;
                        ++left_rows;
                    }
                };
                if (missing_left) add(0);
                for (std::size_t i = 0; i < order_.size(); ++i) {
                    add(i + 1);
                    if (i + 1 == order_.size() && (!entries_.has_missing() || missing_left)) break;
                    if (!allowed(left_.data(), left_rows, node)) continue;
                    double goodness = -medians_.distances();
                    if (!(goodness > cut.merit)) continue;
                    cut.merit = goodness;
                    best = i + 1;
                    best_missing_left = missing_left;
                }
            }
            if (!cut.found()) return;
            if (column.nominal) {
                cut.missing_left = best_missing_left;
                for (std::size_t i = 0; i < best; ++i)
                    cut.left_codes.push_back(entries_.code(order_[i]));
                std::sort(cut.left_codes.begin(), cut.left_codes.end());
            } else {
                take_ordered(column, order_, best, best_missing_left, cut);
            }
        }
    }

    const CodedTable* table_;
    const CartOptions* options_;
    const Sums sums_;
    Entries<Sums> entries_;
    bool counted_ = false;
    std::uint32_t feature_ = 0;
    std::vector<std::uint32_t> order_;
    std::vector<double> left_, right_, known_;
    MedianSplit medians_;
    std::vector<WeightedNumber> values_;
    std::vector<std::vector<std::uint32_t>> members_;
    std::vector<std::uint32_t> rank_of_code_;
};

}  // namespace bosquet
