#include "stump/classes.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "stump/candidate.hpp"
#include "stump/units.hpp"

namespace bosquet {

namespace {

using Sums = std::vector<std::int64_t>;

// Weights by class of rows that are added one by one, and the heaviest of them.
struct Tally {
    Sums sums;
    std::int64_t most = 0;

    void start(const Sums& from) {
        sums = from;
        most = *std::max_element(sums.begin(), sums.end());
    }
    void add(std::uint32_t which, std::int64_t weight) {
        sums[which] += weight;
        most = std::max(most, sums[which]);
    }
};

class ClassSearch {
  public:
    ClassSearch(const StumpTable& table, std::span<const std::uint32_t> target,
                std::uint32_t classes, const Buffer<std::int64_t>& weight, const Sums& total)
        : table_(table), target_(target), classes_(classes), weight_(weight), total_(total) {}

    void search(std::uint32_t feature, WholeCut& best) {
        if (const OrderedColumn* column = table_.ordered(feature)) {
            search_order(column->order, best);
            return;
        }
        std::uint32_t bins = table_.bins(feature).bins();
        by_bin_.assign(std::size_t{bins} * classes_, 0);
        for_each_bin(table_, feature, [&](std::size_t bin, std::size_t row) {
            by_bin_[bin * classes_ + target_[row]] += weight_[row];
        });
        if (table_.bins(feature).categorical)
            search_levels(bins, best);
        else
            search_bins(bins, table_.counts(feature)[0] > 0, best);
    }

  private:
    const std::int64_t* of_bin(std::size_t bin) const { return by_bin_.data() + bin * classes_; }

    // The heaviest class on the left and on the right, where `left` and `more` go left.
    std::int64_t gain(const Sums& left, const std::int64_t* more) const {
        std::int64_t most_left = 0, most_right = 0;
        for (std::uint32_t k = 0; k < classes_; ++k) {
            std::int64_t sum = left[k] + (more != nullptr ? more[k] : 0);
            most_left = std::max(most_left, sum);
            most_right = std::max(most_right, total_[k] - sum);
        }
        return most_left + most_right;
    }

    void search_bins(std::uint32_t bins, bool has_missing, WholeCut& best) const {
        Sums left(classes_);
        for (std::uint32_t bin = 1; bin < bins; ++bin) {
            for (std::uint32_t k = 0; k < classes_; ++k) left[k] += of_bin(bin)[k];
            bool last = bin + 1 == bins;  // then only missing values can be on the right
            if (!last || has_missing) best.consider(gain(left, nullptr), bin, false);
            if (!last && has_missing) best.consider(gain(left, of_bin(0)), bin, true);
        }
    }

    // If one side says a and the other b, each level goes to the side it likes better.
    void search_levels(std::uint32_t bins, WholeCut& best) const {
        std::uint32_t best_a = 0, best_b = 0;
        for (std::uint32_t a = 0; a < classes_; ++a)
            for (std::uint32_t b = a + 1; b < classes_; ++b) {
                std::int64_t reached = 0;
                for (std::uint32_t bin = 0; bin < bins; ++bin)
                    reached += std::max(of_bin(bin)[a], of_bin(bin)[b]);
                if (reached <= best.gain) continue;
                best.consider(reached, 0, of_bin(0)[a] > of_bin(0)[b]);
                best_a = a;
                best_b = b;
            }
        for (std::uint32_t bin = 1; best.found && bin < bins; ++bin)
            if (of_bin(bin)[best_a] > of_bin(bin)[best_b]) best.place.left_bins.push_back(bin);
    }

    // The heaviest class on the left of each place by one pass up, on the right by one pass down.
    void search_order(const RowOrder& order, WholeCut& best) {
        const Sums nothing(classes_);
        Sums missing(classes_);
        auto row_at = [&](std::size_t i) { return order.rows[i] & RowOrder::kRow; };
        for (std::size_t i = order.present; i < order.rows.size(); ++i)
            missing[target_[row_at(i)]] += weight_[row_at(i)];
        gains_.resize(order.present + 1);
        for (bool missing_left : {false, true}) {
            if (missing_left && !order.has_missing()) break;
            tally_.start(missing_left ? missing : nothing);
            for (std::size_t i = 0; i < order.present; ++i) {
                tally_.add(target_[row_at(i)], weight_[row_at(i)]);
                gains_[i + 1] = tally_.most;
            }
            tally_.start(missing_left ? nothing : missing);
            gains_[order.present] += tally_.most;
            for (std::size_t i = order.present; --i > 0;) {
                tally_.add(target_[row_at(i)], weight_[row_at(i)]);
                gains_[i] += tally_.most;
            }
            bool behind_last = order.has_missing() && !missing_left;
            for (std::size_t at = 1; at < order.present + behind_last; ++at)
                if (order.rows[at - 1] & RowOrder::kLast)
                    best.consider(gains_[at], at, missing_left);
        }
    }

    const StumpTable& table_;
    std::span<const std::uint32_t> target_;
    std::uint32_t classes_;
    const Buffer<std::int64_t>& weight_;
    const Sums& total_;
    Sums by_bin_, gains_;
    Tally tally_;
};

double heaviest(const Sums& sums) {
    return static_cast<double>(std::max_element(sums.begin(), sums.end()) - sums.begin());
}

}  // namespace

Stump best_of_classes(const StumpTable& table, Team& team, std::span<const std::uint32_t> target,
                      std::uint32_t classes, std::span<const double> weight) {
    if (classes == 0) throw InputError("there must be at least one class");
    for (std::uint32_t which : target)
        if (which >= classes)
            throw InputError("class number " + std::to_string(which) + " is out of range");
    double per_one = units_per_one(checked_sum(weight, team), table.rows());
    Buffer<std::int64_t> units(table.rows());
    Sums total(classes), left(classes), right(classes);
    std::int64_t all = 0;
    for (std::size_t row = 0; row < table.rows(); ++row) {
        units[row] = in_units(weight[row], per_one);
        total[target[row]] += units[row];
        all += units[row];
    }
    std::int64_t alone = *std::max_element(total.begin(), total.end());
    std::vector<ClassSearch> searches(team.size(),
                                      ClassSearch(table, target, classes, units, total));
    WholeCut best = best_cut(table, team, alone, [&](std::uint32_t f, WholeCut& cut, int worker) {
        searches[worker].search(f, cut);
    });
    Stump stump;
    stump.rows = stump.left_rows = static_cast<double>(table.rows());
    stump.merit = static_cast<double>(all - best.gain) / per_one;
    stump.gain = static_cast<double>(best.gain - alone) / per_one;
    stump.values = {heaviest(total), heaviest(total)};
    if (!best.found) return stump;
    table.describe(best.place, stump);
    std::vector<std::uint8_t> side(table.rows());
    StumpSides(table, stump, best_isa()).fill({0, table.rows()}, side.data());
    for (std::size_t row = 0; row < table.rows(); ++row)
        (side[row] ? right : left)[target[row]] += units[row];
    stump.values = {heaviest(left), heaviest(right)};
    return stump;
}

}  // namespace bosquet
