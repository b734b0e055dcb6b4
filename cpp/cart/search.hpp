// The best split of a node on one column.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "base/interrupt.hpp"
#include "base/random.hpp"
#include "cart/coarse.hpp"
#include "cart/component.hpp"
#include "cart/cut.hpp"
#include "cart/entries.hpp"
#include "cart/median.hpp"
#include "cart/node_values.hpp"
#include "cart/options.hpp"
#include "cart/sums.hpp"

namespace bosquet {

// Up to this many categories all groupings are tried for more than two classes; beyond, categories
// are put in the order of their class shares' first principal component (Coppersmith, Hong and
// Hosking 1999), and the cuts of that order are tried.
constexpr std::size_t kExhaustiveCategories = 12;

template <class Sums>
constexpr bool has_coarse_search() {
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
        NodeBounds bounds;
        std::size_t known_rows;  // whose value is not left out
    };

    CartSearch(const CodedTable& table, const CartOptions& options, const Sums& sums)
        : table_(&table), options_(&options), sums_(sums), entries_(sums) {
        counted_ = options.min_samples_leaf > 1;
        if constexpr (kHasCoarse) {
            bool plain = !counted_ && options.min_weight_leaf == 0 && options.monotone.empty() &&
                         options.surrogates == 0 && !options.random_thresholds;
            if (plain) coarse_.emplace_back(sums);
        }
    }

    // `constant` tells whether the column has one value only in this node. A split whose merit is
    // below `floor` may be passed over.
    Cut best(std::uint32_t feature, const Node& all, double floor, bool& constant) {
        const CodedColumn& column = table_->columns[feature];
        feature_ = feature;
        check_interrupt(8 * all.rows.count);
        if constexpr (kHasCoarse) {
            if (!coarse_.empty() && !column.nominal && !column.is_narrow() &&
                all.rows.count >= kCoarseRows) {
                Cut cut;
                cut.feature = feature;
                constant = false;
                if (coarse_[0].best(column, all.rows, all.sums, floor, cut)) return cut;
            }
        }
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
            random_grouping(column, node, cut);
        else if (options_->criterion == Criterion::absolute)
            absolute_cut(column, node, cut);
        else if (column.nominal)
            nominal_cut(column, node, cut);
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
    static constexpr bool kHasCoarse = has_coarse_search<Sums>();
    // With fewer rows than this, buckets hold too few of them to be passed over.
    static constexpr std::size_t kCoarseRows = 2048;
    // Entries after which an interrupt is looked for.
    static constexpr std::size_t kEntriesToLook = 1024;

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

    // Nothing on the left yet.
    void clear_left() {
        left_.assign(sums_.width(), 0.0);
        left_rows_ = 0;
    }
    void move_left(std::size_t entry) {
        const double* sums = entries_.of(entry);
        for (std::size_t k = 0; k < left_.size(); ++k) left_[k] += sums[k];
        if (counted_) left_rows_ += entries_.count(entry);
    }

    // The entries, taken in order_, parted in two: the first `position` of them go left.
    struct Parting {
        std::size_t position = 0;
        bool missing_left = false;
    };

    // How good a parting is by the sums of its two sides.
    struct BySums {
        CartSearch* search;
        const Node* node;
        void clear() {}
        void move(std::size_t) {}
        double goodness() { return search->goodness_of_sides(*node); }
    };

    // The best of all partings that are allowed, missing values on either side; its merit goes to
    // the cut. The judge hears of every entry that moves to the left, and says how good that is.
    template <class Judge>
    Parting best_parting(const Node& node, Judge judge, Cut& cut) {
        Parting best;
        bool missing = entries_.has_missing();
        for (bool missing_left : {false, true}) {
            if (missing_left && !missing) break;
            clear_left();
            judge.clear();
            auto move = [&](std::size_t entry) {
                move_left(entry);
                judge.move(entry);
            };
            if (missing_left) move(0);
            for (std::size_t i = 0; i < order_.size(); ++i) {
                if (i % kEntriesToLook == 0) check_interrupt(kEntriesToLook * left_.size());
                move(order_[i]);
                // Behind the last entry there is nothing but missing values to send right.
                if (i + 1 == order_.size() && (!missing || missing_left)) break;
                if (!allowed(node)) continue;
                double goodness = judge.goodness();
                if (!(goodness > cut.merit)) continue;
                cut.merit = goodness;
                best = {i + 1, missing_left};
            }
        }
        return best;
    }

    // Writes a parting down as codes or as a threshold.
    void take(const CodedColumn& column, const Parting& parting, Cut& cut) {
        if (!cut.found()) return;
        cut.missing_left = parting.missing_left;
        if (column.nominal) {
            for (std::size_t i = 0; i < parting.position; ++i)
                cut.left_codes.push_back(entries_.code(order_[i]));
            std::sort(cut.left_codes.begin(), cut.left_codes.end());
            return;
        }
        cut.last = entries_.code(order_[parting.position - 1]);
        cut.threshold = parting.position == order_.size()
                            ? std::numeric_limits<double>::infinity()
                            : column.threshold(cut.last, entries_.code(order_[parting.position]));
    }

    // Whether the rows may be parted into those on the left and the others.
    bool allowed(const Node& node) const {
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

    double goodness_of_sides(const Node& node) {
        if constexpr (Sums::kPair) {
            return sums_.both(left_[0], left_[1], node.sums[0], node.sums[1]);
        } else {
            right_.resize(left_.size());
            for (std::size_t k = 0; k < right_.size(); ++k) right_[k] = node.sums[k] - left_[k];
            return sums_.goodness(left_.data()) + sums_.goodness(right_.data());
        }
    }

    // Puts the entries into order_ as they are, but for that of missing values.
    void take_present() {
        order_.resize(entries_.size() - entries_.has_missing());
        std::iota(order_.begin(), order_.end(), entries_.has_missing() ? 1u : 0u);
    }

    template <class Key>
    void sort_by(Key key) {
        std::stable_sort(order_.begin(), order_.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    }

    void sort_by_mean() {
        sort_by([&](std::uint32_t entry) { return entries_.of(entry)[1] / entries_.of(entry)[0]; });
    }

    void ordered_cut(const CodedColumn& column, const Node& node, Cut& cut) {
        if constexpr (Sums::kPair) {
            if (!entries_.has_missing() && !counted_ && options_->min_weight_leaf == 0 &&
                options_->monotone.empty()) {
                plain_cut(column, node, cut);
                return;
            }
        }
        take_present();
        take(column, best_parting(node, BySums{this, &node}, cut), cut);
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

    void nominal_cut(const CodedColumn& column, const Node& node, Cut& cut) {
        take_present();
        if constexpr (Sums::kPair) {
            // The best grouping is a cut of the order by mean (Fisher 1958; Breiman et al. 1984).
            sort_by_mean();
        } else {
            if (order_.size() <= kExhaustiveCategories && order_.size() > 1) {
                every_grouping(node, cut);
                return;
            }
            std::vector<double> score = first_component(sums_, entries_, order_);
            sort_by([&](std::uint32_t entry) { return score[entry]; });
        }
        take(column, best_parting(node, BySums{this, &node}, cut), cut);
    }

    // All groupings in two, the last category always on the right.
    void every_grouping(const Node& node, Cut& cut) {
        std::size_t present = order_.size(), best = 0;
        for (bool missing_left : {false, true}) {
            if (missing_left && !entries_.has_missing()) break;
            // With missing values on the right, all categories may stand together on the left.
            std::size_t end = std::size_t{1} << (present - 1);
            for (std::size_t group = missing_left ? 0 : 1; group <= end; ++group) {
                bool everything = group == end;
                if (everything && (missing_left || !entries_.has_missing())) break;
                clear_left();
                if (missing_left) move_left(0);
                for (std::size_t i = 0; i < present; ++i)
                    if (everything || (group >> i & 1)) move_left(order_[i]);
                if (!allowed(node)) continue;
                double goodness = goodness_of_sides(node);
                if (!(goodness > cut.merit)) continue;
                cut.merit = goodness;
                best = everything ? 2 * end - 1 : group;
                cut.missing_left = missing_left;
            }
        }
        if (!cut.found()) return;
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
        clear_left();
        for (std::size_t i = 0; i < node.rows.count; ++i) {
            std::uint32_t row = node.rows.rows[i];
            if (!cut.goes_left(column.code(row))) continue;
            sums_.add(left_.data(), node.rows.items[i], row);
            ++left_rows_;
        }
        if (allowed(node)) cut.merit = goodness_of_sides(node);
        return cut;
    }

    // The categories in a random order, cut at a place that is drawn too. Missing values go to a
    // side drawn as well, or apart from all others where those are alike.
    void random_grouping(const CodedColumn& column, const Node& node, Cut& cut) {
        take_present();
        std::uint64_t key = hash64(node.key, 0x637574 /* "cut" */, feature_);
        sort_by([&](std::uint32_t entry) { return hash64(key, 1, entries_.code(entry)); });
        Parting parting{order_.size(), false};
        if (order_.size() > 1) {
            double draw = static_cast<double>(mix64(key) >> 11) * 0x1p-53;
            double places = static_cast<double>(order_.size()) - 1;
            parting.position = 1 + static_cast<std::size_t>(draw * places);
            parting.missing_left = entries_.has_missing() && (key & 1) != 0;
        }
        clear_left();
        if (parting.missing_left) move_left(0);
        for (std::size_t i = 0; i < parting.position; ++i) move_left(order_[i]);
        if (!allowed(node)) return;
        cut.merit = goodness_of_sides(node);
        take(column, parting, cut);
    }

    // How good a parting is by the distances of its rows to the medians of the two sides.
    struct ByMedians {
        CartSearch* search;
        void clear() { search->medians_.clear_left(); }
        void move(std::size_t entry) {
            for (std::uint32_t i : search->members_[entry]) search->medians_.move_left(i);
            check_interrupt(64 * search->members_[entry].size());
        }
        double goodness() { return -search->medians_.distances(); }
    };

    void absolute_cut(const CodedColumn& column, const Node& node, Cut& cut) {
        if constexpr (Sums::kPair) {
            take_present();
            if (column.nominal) sort_by_mean();
            constexpr std::uint32_t kLeftOut = 0xffffffffu;
            entry_of_code_.assign(column.codes, kLeftOut);
            for (std::size_t entry = 0; entry < entries_.size(); ++entry)
                entry_of_code_[entries_.code(entry)] = static_cast<std::uint32_t>(entry);
            members_.assign(entries_.size(), {});
            values_.clear();
            for (std::size_t i = 0; i < node.rows.count; ++i) {
                const Item& item = node.rows.items[i];
                std::uint32_t entry = entry_of_code_[column.code(node.rows.rows[i])];
                if (entry == kLeftOut) continue;
                members_[entry].push_back(static_cast<std::uint32_t>(values_.size()));
                values_.push_back({item.sum / item.weight, item.weight});
            }
            medians_.reset(values_);
            take(column, best_parting(node, ByMedians{this}, cut), cut);
        }
    }

    const CodedTable* table_;
    const CartOptions* options_;
    const Sums sums_;
    Entries<Sums> entries_;
    std::vector<CoarseSearch<Sums>> coarse_;  // one, or none
    bool counted_ = false;
    std::uint32_t feature_ = 0;
    std::vector<std::uint32_t> order_;
    std::vector<double> left_, right_, known_;
    std::size_t left_rows_ = 0;
    MedianSplit medians_;
    std::vector<WeightedNumber> values_;
    std::vector<std::vector<std::uint32_t>> members_;  // places in values_, by entry
    std::vector<std::uint32_t> entry_of_code_;
};

}  // namespace bosquet
