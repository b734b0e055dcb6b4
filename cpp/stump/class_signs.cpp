#include "stump/class_signs.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/error.hpp"
#include "stump/criteria.hpp"
#include "stump/integer_split.hpp"
#include "stump/units.hpp"

namespace bosquet {

namespace {

using Sums = std::vector<std::int64_t>;

std::int64_t sum_of_magnitudes(const Sums& sums) {
    std::int64_t size = 0;
    for (std::int64_t sum : sums) size += magnitude(sum);
    return size;
}

class SignSearch {
  public:
    // `response` holds the signed weights of all classes, row by row.
    SignSearch(const StumpTable& table, std::uint32_t classes, const Buffer<std::int64_t>& response,
               const Sums& total)
        : table_(table), classes_(classes), response_(response), total_(total), left_(classes) {}

    void search(std::uint32_t feature, std::int64_t gain_to_reach, IntegerSplit& best) {
        std::fill(left_.begin(), left_.end(), std::int64_t{0});
        std::uint32_t bins = table_.bins(feature).bins();
        const OrderedColumn* column = table_.ordered(feature);
        by_bin_.assign(std::size_t{bins} * classes_, 0);
        sizes_.assign(column != nullptr ? by_bin_.size() : 0, 0);
        for_each_row(table_, feature, [&](std::size_t bin, std::size_t row) {
            add(by_bin_.data() + bin * classes_, responses_of_row(row));
            if (column != nullptr) add_sizes(sizes_.data() + bin * classes_, responses_of_row(row));
        });
        if (table_.bins(feature).categorical) {
            search_levels(bins, best);
            return;
        }
        search_bins(bins, table_.has_missing(feature), best);
        if (column != nullptr) search_rows(*column, gain_to_reach, best);
    }

  private:
    const std::int64_t* responses_of_row(std::size_t row) const {
        return response_.data() + row * classes_;
    }
    const std::int64_t* sums_of_bin(std::size_t bin) const {
        return by_bin_.data() + bin * classes_;
    }
    void add(std::int64_t* sums, const std::int64_t* added) const {
        for (std::uint32_t k = 0; k < classes_; ++k) sums[k] += added[k];
    }

    void add_sizes(std::int64_t* sums, const std::int64_t* added) const {
        for (std::uint32_t k = 0; k < classes_; ++k) sums[k] += magnitude(added[k]);
    }

    // The gain of a split that sends left_ and `added` left; each side predicts each class by its
    // sign.
    std::int64_t gain(const std::int64_t* added) const {
        std::int64_t sum = 0;
        for (std::uint32_t k = 0; k < classes_; ++k) {
            std::int64_t left = left_[k] + (added != nullptr ? added[k] : 0);
            sum += magnitude(left) + magnitude(total_[k] - left);
        }
        return sum;
    }

    void search_bins(std::uint32_t bins, bool has_missing, IntegerSplit& best) {
        for (std::uint32_t bin = 1; bin < bins; ++bin) {
            add(left_.data(), sums_of_bin(bin));
            bool last = bin + 1 == bins;  // then only missing values can be on the right
            if (!last || has_missing) best.consider(gain(nullptr), bin, false);
            if (!last && has_missing) best.consider(gain(sums_of_bin(0)), bin, true);
        }
    }

    // The gain of a class is a convex function of its sum on the left, so that it is largest if all
    // rows of one sign are on the left and none of the other.
    std::int64_t gain_bound(std::uint32_t bin, const std::int64_t* missing) const {
        std::int64_t sum = 0;
        for (std::uint32_t k = 0; k < classes_; ++k) {
            std::int64_t low = left_[k] + (missing != nullptr ? missing[k] : 0);
            std::int64_t sum_of_class = sums_of_bin(bin)[k],
                         magnitude_of_class = sizes_[bin * classes_ + k];
            std::int64_t high = low + (magnitude_of_class + sum_of_class) / 2,
                         lowest = low - (magnitude_of_class - sum_of_class) / 2;
            sum += std::max(magnitude(high) + magnitude(total_[k] - high),
                            magnitude(lowest) + magnitude(total_[k] - lowest));
        }
        return sum;
    }

    void search_rows(const OrderedColumn& column, std::int64_t gain_to_reach, IntegerSplit& best) {
        bool has_missing = column.order.has_missing();
        std::fill(left_.begin(), left_.end(), std::int64_t{0});
        auto gain_bound_of = [&](std::uint32_t bin) {
            // Update left_ to the sums of all bins before this one.
            if (bin > 1) add(left_.data(), sums_of_bin(bin - 1));
            std::int64_t upper_bound = gain_bound(bin, nullptr);
            return has_missing ? std::max(upper_bound, gain_bound(bin, sums_of_bin(0)))
                               : upper_bound;
        };
        auto scan = [&](std::uint32_t bin) {
            Sums left_before = left_;
            for (std::uint32_t i = column.starts[bin - 1]; i + 1 < column.starts[bin]; ++i) {
                add(left_.data(), responses_of_row(column.order.rows[i] & RowOrder::kRow));
                if (!(column.order.rows[i] & RowOrder::kLast)) continue;
                best.consider(gain(nullptr), i + 1, false);
                if (has_missing) best.consider(gain(sums_of_bin(0)), i + 1, true);
            }
            left_ = left_before;
        };
        search_inside(column, gain_to_reach, best, gain_bound_of, scan);
    }

    // `goes_left` has one entry per bin; bin 0 holds missing values.
    std::int64_t gain_of(const std::vector<std::uint8_t>& goes_left) {
        std::fill(left_.begin(), left_.end(), std::int64_t{0});
        for (std::size_t bin = 0; bin < goes_left.size(); ++bin)
            if (goes_left[bin]) add(left_.data(), sums_of_bin(bin));
        return gain(nullptr);
    }

    void keep_if_better(const std::vector<std::uint8_t>& goes_left, IntegerSplit& best) {
        std::int64_t grouping_gain = gain_of(goes_left);
        if (grouping_gain <= best.gain) return;
        best.consider(grouping_gain, 0, goes_left[0] != 0);
        best.split.left_bins.clear();
        for (std::uint32_t bin = 1; bin < goes_left.size(); ++bin)
            if (goes_left[bin]) best.split.left_bins.push_back(bin);
    }

    void search_levels(std::uint32_t bins, IntegerSplit& best) {
        std::vector<std::uint32_t> levels;  // with a non-zero sum
        for (std::uint32_t bin = 0; bin < bins; ++bin)
            if (std::any_of(sums_of_bin(bin), sums_of_bin(bin) + classes_,
                            [](auto x) { return x != 0; }))
                levels.push_back(bin);
        if (levels.size() < 2) return;
        std::vector<std::uint8_t> goes_left(bins);
        if (levels.size() <= kExhaustiveLevels) {
            // The last level is always on the right.
            for (std::size_t group = 1; group < std::size_t{1} << (levels.size() - 1); ++group) {
                for (std::size_t i = 0; i < levels.size(); ++i)
                    goes_left[levels[i]] = group >> i & 1;
                keep_if_better(goes_left, best);
            }
            return;
        }
        for (std::uint32_t k = 0; k < classes_; ++k) {
            for (std::uint32_t bin : levels) goes_left[bin] = sums_of_bin(bin)[k] < 0;
            keep_if_better(goes_left, best);
            while (improve_grouping(levels, goes_left)) keep_if_better(goes_left, best);
        }
    }

    // Sends every level to the side whose signs fit it better; returns whether the gain increased.
    bool improve_grouping(const std::vector<std::uint32_t>& levels,
                          std::vector<std::uint8_t>& goes_left) {
        std::int64_t gain_before = gain_of(goes_left);
        std::vector<std::int64_t> left_sign(classes_), right_sign(classes_);
        for (std::uint32_t k = 0; k < classes_; ++k) {
            left_sign[k] = left_[k] > 0 ? 1 : -1;
            right_sign[k] = total_[k] - left_[k] > 0 ? 1 : -1;
        }
        for (std::uint32_t bin : levels) {
            std::int64_t prefers_left = 0;
            for (std::uint32_t k = 0; k < classes_; ++k)
                prefers_left += (left_sign[k] - right_sign[k]) / 2 * sums_of_bin(bin)[k];
            goes_left[bin] = prefers_left > 0;
        }
        return gain_of(goes_left) > gain_before;
    }

    const StumpTable& table_;
    std::uint32_t classes_;
    const Buffer<std::int64_t>& response_;
    const Sums& total_;
    Sums left_, by_bin_;
    Sums sizes_;  // by bin, sums of absolute values
};

// Appends the signs of the sums; 0 counts as negative.
void put_signs(const Sums& sums, std::vector<double>& values) {
    for (std::int64_t sum : sums) values.push_back(sum > 0 ? 1 : -1);
}

}  // namespace

Stump find_best_by_signs(const StumpTable& table, Team& team, std::span<const double> target,
                         std::uint32_t classes, std::span<const double> weight) {
    if (classes == 0) throw InputError("target has no rows; there must be at least one class");
    check_signs(target);
    std::size_t rows = table.rows();
    double per_one = units_per_one(checked_sum(weight, team), weight.size());
    Buffer<std::int64_t> response(rows * classes);
    Sums total(classes), left(classes), right(classes);
    std::int64_t total_weight = 0;
    for (std::uint32_t k = 0; k < classes; ++k)
        for (std::size_t row = 0; row < rows; ++row) {
            std::int64_t units = in_units(weight[k * rows + row], per_one);
            std::int64_t signed_units = target[k * rows + row] > 0 ? units : -units;
            response[row * classes + k] = signed_units;
            total[k] += signed_units;
            total_weight += units;
        }
    std::int64_t constant_gain = sum_of_magnitudes(total);
    std::vector<SignSearch> searches(team.size(), SignSearch(table, classes, response, total));
    IntegerSplit best =
        find_best_split(table, team, constant_gain,
                        [&](std::uint32_t f, std::int64_t gain_to_reach, IntegerSplit& split,
                            int worker) { searches[worker].search(f, gain_to_reach, split); });
    Stump stump;
    stump.rows = stump.left_rows = static_cast<double>(rows);
    stump.criterion_value = static_cast<double>(total_weight - best.gain) / 2 / per_one;
    stump.gain = static_cast<double>(best.gain - constant_gain) / 2 / per_one;
    if (best.found) {
        table.describe(best.split, stump);
        std::vector<std::uint8_t> side(rows);
        StumpSides(table, stump, best_isa()).fill({0, rows}, side.data());
        for (std::size_t row = 0; row < rows; ++row)
            for (std::uint32_t k = 0; k < classes; ++k)
                (side[row] ? right : left)[k] += response[row * classes + k];
    }
    put_signs(best.found ? left : total, stump.values);
    put_signs(best.found ? right : total, stump.values);
    return stump;
}

}  // namespace bosquet
