#include "stump/classes.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "stump/integer_split.hpp"
#include "stump/units.hpp"

namespace bosquet {

namespace {

using Sums = std::vector<std::int64_t>;

class ClassSearch {
  public:
    ClassSearch(const StumpTable& table, std::span<const std::uint32_t> target,
                std::uint32_t classes, const Buffer<std::int64_t>& weight, const Sums& total)
        : table_(table), target_(target), classes_(classes), weight_(weight), total_(total) {}

    void search(std::uint32_t feature, std::int64_t gain_to_reach, IntegerSplit& best) {
        std::uint32_t bins = table_.bins(feature).bins();
        by_bin_.assign(std::size_t{bins} * classes_, 0);
        for_each_row(table_, feature, [&](std::size_t bin, std::size_t row) {
            by_bin_[bin * classes_ + target_[row]] += weight_[row];
        });
        if (table_.bins(feature).categorical) {
            search_levels(bins, best);
            return;
        }
        search_bins(bins, table_.has_missing(feature), best);
        if (const OrderedColumn* column = table_.ordered(feature))
            search_rows(*column, gain_to_reach, best);
    }

  private:
    const std::int64_t* sums_of_bin(std::size_t bin) const {
        return by_bin_.data() + bin * classes_;
    }

    // The sum of the largest class weights on the two sides, if `left` and `added` go left.
    std::int64_t gain(const Sums& left, const std::int64_t* added) const {
        std::int64_t max_left = 0, max_right = 0;
        for (std::uint32_t k = 0; k < classes_; ++k) {
            std::int64_t sum = left[k] + (added != nullptr ? added[k] : 0);
            max_left = std::max(max_left, sum);
            max_right = std::max(max_right, total_[k] - sum);
        }
        return max_left + max_right;
    }

    void search_bins(std::uint32_t bins, bool has_missing, IntegerSplit& best) const {
        Sums left(classes_);
        for (std::uint32_t bin = 1; bin < bins; ++bin) {
            for (std::uint32_t k = 0; k < classes_; ++k) left[k] += sums_of_bin(bin)[k];
            bool last = bin + 1 == bins;  // then only missing values can be on the right
            if (!last || has_missing) best.consider(gain(left, nullptr), bin, false);
            if (!last && has_missing) best.consider(gain(left, sums_of_bin(0)), bin, true);
        }
    }

    // For class a on the left and b on the right, each level goes to the side with its heavier
    // class. A class without weight gains no more than a constant.
    void search_levels(std::uint32_t bins, IntegerSplit& best) const {
        std::uint32_t best_a = 0, best_b = 0;
        std::vector<std::uint32_t> present;
        for (std::uint32_t k = 0; k < classes_; ++k)
            if (total_[k] > 0) present.push_back(k);
        for (std::size_t i = 0; i < present.size(); ++i)
            for (std::size_t j = i + 1; j < present.size(); ++j) {
                std::uint32_t a = present[i], b = present[j];
                std::int64_t pair_gain = 0;
                for (std::uint32_t bin = 0; bin < bins; ++bin)
                    pair_gain += std::max(sums_of_bin(bin)[a], sums_of_bin(bin)[b]);
                if (pair_gain <= best.gain) continue;
                best.consider(pair_gain, 0, sums_of_bin(0)[a] > sums_of_bin(0)[b]);
                best_a = a;
                best_b = b;
            }
        for (std::uint32_t bin = 1; best.found && bin < bins; ++bin)
            if (sums_of_bin(bin)[best_a] > sums_of_bin(bin)[best_b])
                best.split.left_bins.push_back(bin);
    }

    // If some of a bin's rows go left, no class has more weight on the left than with all of them,
    // and none has more on the right than with none of them.
    void search_rows(const OrderedColumn& column, std::int64_t gain_to_reach,
                     IntegerSplit& best) const {
        bool has_missing = column.order.has_missing();
        Sums left(classes_);
        auto upper_bound = [&](std::uint32_t bin, const std::int64_t* missing) {
            std::int64_t max_left = 0, max_right = 0;
            for (std::uint32_t k = 0; k < classes_; ++k) {
                std::int64_t sum = left[k] + (missing != nullptr ? missing[k] : 0);
                max_left = std::max(max_left, sum + sums_of_bin(bin)[k]);
                max_right = std::max(max_right, total_[k] - sum);
            }
            return max_left + max_right;
        };
        auto gain_bound = [&](std::uint32_t bin) {
            // Update `left` to the sums of all bins before this one.
            for (std::uint32_t k = 0; bin > 1 && k < classes_; ++k)
                left[k] += sums_of_bin(bin - 1)[k];
            std::int64_t bound = upper_bound(bin, nullptr);
            return has_missing ? std::max(bound, upper_bound(bin, sums_of_bin(0))) : bound;
        };
        auto scan = [&](std::uint32_t bin) {
            Sums running = left;
            for (std::uint32_t i = column.starts[bin - 1]; i + 1 < column.starts[bin]; ++i) {
                std::uint32_t row = column.order.rows[i] & RowOrder::kRow;
                running[target_[row]] += weight_[row];
                if (!(column.order.rows[i] & RowOrder::kLast)) continue;
                best.consider(gain(running, nullptr), i + 1, false);
                if (has_missing) best.consider(gain(running, sums_of_bin(0)), i + 1, true);
            }
        };
        search_inside(column, gain_to_reach, best, gain_bound, scan);
    }

    const StumpTable& table_;
    std::span<const std::uint32_t> target_;
    std::uint32_t classes_;
    const Buffer<std::int64_t>& weight_;
    const Sums& total_;
    Sums by_bin_;
};

double heaviest_class(const Sums& sums) {
    return static_cast<double>(std::max_element(sums.begin(), sums.end()) - sums.begin());
}

}  // namespace

Stump find_best_by_class(const StumpTable& table, Team& team,
                         std::span<const std::uint32_t> classes_of_rows, std::uint32_t classes,
                         std::span<const double> weight) {
    if (classes == 0)
        throw InputError("n_classes=0 is too small; there must be at least one class");
    // A copy, which cannot change after the check.
    const std::vector<std::uint32_t> target(classes_of_rows.begin(), classes_of_rows.end());
    for (std::uint32_t which : target)
        if (which >= classes)
            throw InputError("class number " + std::to_string(which) +
                             " is out of range; it must be below the number of classes (" +
                             std::to_string(classes) + ")");
    double per_one = units_per_one(checked_sum(weight, team), table.rows());
    Buffer<std::int64_t> units(table.rows());
    Sums total(classes), left(classes), right(classes);
    std::int64_t total_weight = 0;
    for (std::size_t row = 0; row < table.rows(); ++row) {
        units[row] = in_units(weight[row], per_one);
        total[target[row]] += units[row];
        total_weight += units[row];
    }
    std::int64_t constant_gain = *std::max_element(total.begin(), total.end());
    std::vector<ClassSearch> searches(team.size(),
                                      ClassSearch(table, target, classes, units, total));
    IntegerSplit best =
        find_best_split(table, team, constant_gain,
                        [&](std::uint32_t f, std::int64_t gain_to_reach, IntegerSplit& split,
                            int worker) { searches[worker].search(f, gain_to_reach, split); });
    Stump stump;
    stump.rows = stump.left_rows = static_cast<double>(table.rows());
    stump.criterion_value = static_cast<double>(total_weight - best.gain) / per_one;
    stump.gain = static_cast<double>(best.gain - constant_gain) / per_one;
    stump.values = {heaviest_class(total), heaviest_class(total)};
    if (!best.found) return stump;
    table.describe(best.split, stump);
    std::vector<std::uint8_t> side(table.rows());
    StumpSides(table, stump, best_isa()).fill({0, table.rows()}, side.data());
    for (std::size_t row = 0; row < table.rows(); ++row)
        (side[row] ? right : left)[target[row]] += units[row];
    stump.values = {heaviest_class(left), heaviest_class(right)};
    return stump;
}

}  // namespace bosquet
