// The best split of one feature under a rule, from sums by bin or from rows in order.
//
// Splits are looked at from the lowest threshold up, at each first with missing values on the right
// and then, if there are any, on the left; a later one has to gain more. Behind the last value a
// split has missing values alone on its right.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "stump/kernels.hpp"
#include "stump/order.hpp"
#include "stump/rules.hpp"

namespace bosquet {

// Sums by bin; the weights are there only for rules that need them.
struct BinSums {
    const std::int64_t* response = nullptr;
    const std::int64_t* weight = nullptr;

    StumpSums of(std::size_t bin) const {
        return {response[bin], weight != nullptr ? weight[bin] : 0};
    }
};

// What each row counts for; without weights, a row's weight is the magnitude of its response.
struct RowSums {
    const std::int64_t* response = nullptr;
    const std::int64_t* weight = nullptr;

    StumpSums of(std::size_t row) const {
        std::int64_t r = response[row];
        return {r, weight != nullptr ? weight[row] : magnitude(r)};
    }
};

template <class Rule>
void scan_bins(BinSums sums, std::uint32_t bins, bool has_missing, const Rule& rule,
               FoundCut<Rule>& best) {
    StumpSums missing = sums.of(0), left;
    for (std::uint32_t bin = 1; bin + 1 < bins; ++bin) {
        left = left + sums.of(bin);
        best.consider(rule, left, bin, false);
        if (has_missing) best.consider(rule, left + missing, bin, true);
    }
    if (has_missing) best.consider(rule, rule.total - missing, bins - 1, false);
}

// The levels of a nominal feature, missing values among them as bin 0, in the order of their mean
// response. The best grouping in two is a cut of this order (Fisher 1958; Breiman et al. 1984).
// Levels without weight are left out: they go right.
inline std::vector<std::uint32_t> levels_by_mean(BinSums sums, std::uint32_t bins) {
    std::vector<double> mean(bins);
    std::vector<std::uint32_t> levels;
    for (std::uint32_t bin = 0; bin < bins; ++bin) {
        if (sums.weight[bin] <= 0) continue;
        mean[bin] = static_cast<double>(sums.response[bin]) / static_cast<double>(sums.weight[bin]);
        levels.push_back(bin);
    }
    std::stable_sort(levels.begin(), levels.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return mean[a] < mean[b]; });
    return levels;
}

// For the 0-1 error each level goes by its own sign: those of negative response left.
template <class Rule>
void scan_levels(BinSums sums, std::uint32_t bins, const Rule& rule, FoundCut<Rule>& best) {
    StumpSums left;
    if constexpr (!Rule::kNeedsWeight) {
        for (std::uint32_t bin = 0; bin < bins; ++bin)
            if (sums.response[bin] < 0) left = left + sums.of(bin);
        best.consider(rule, left, 0, sums.response[0] < 0);
    } else {
        std::vector<std::uint32_t> levels = levels_by_mean(sums, bins);
        bool missing_left = false;
        for (std::uint32_t i = 0; i + 1 < levels.size(); ++i) {
            left = left + sums.of(levels[i]);
            missing_left = missing_left || levels[i] == 0;
            best.consider(rule, left, i + 1, missing_left);
        }
    }
}

// The bins that go left by a cut that scan_levels found, missing values left aside.
template <class Rule>
std::vector<std::uint32_t> left_levels(BinSums sums, std::uint32_t bins,
                                       const FoundCut<Rule>& cut) {
    std::vector<std::uint32_t> chosen;
    if constexpr (!Rule::kNeedsWeight) {
        for (std::uint32_t bin = 1; bin < bins; ++bin)
            if (sums.response[bin] < 0) chosen.push_back(bin);
    } else {
        std::vector<std::uint32_t> levels = levels_by_mean(sums, bins);
        for (std::uint32_t i = 0; i < cut.position; ++i)
            if (levels[i] != 0) chosen.push_back(levels[i]);
        std::sort(chosen.begin(), chosen.end());
    }
    return chosen;
}

inline StumpSums sum_of_rows(const RowOrder& order, std::size_t begin, std::size_t end,
                             RowSums rows) {
    StumpSums sum;
    for (std::size_t i = begin; i < end; ++i) sum = sum + rows.of(order.rows[i] & RowOrder::kRow);
    return sum;
}

// The gain |S_L| + |S - S_L| grows with the distance of S_L from the stretch between 0 and S, on
// which it is the constant's. So only the greatest and the least running sum can be best.
inline void scan_order(const RowOrder& order, RowSums rows, const StumpKernels& kernels,
                       const ErrorRule& rule, FoundCut<ErrorRule>& best) {
    std::size_t present = order.present;
    SumExtremes found =
        kernels.extremes(order.rows.data(), present, order.all_distinct(), rows.response);
    bool has_missing = order.has_missing();
    StumpSums missing = sum_of_rows(order, present, order.rows.size(), rows);
    bool most_first = found.most_at < found.least_at;
    for (bool most : {most_first, !most_first}) {
        if (found.most_at == 0) break;  // there is one value only
        StumpSums left{most ? found.most : found.least, 0};
        std::uint32_t at = most ? found.most_at : found.least_at;
        best.consider(rule, left, at, false);
        if (has_missing) best.consider(rule, left + missing, at, true);
    }
    if (has_missing)
        best.consider(rule, rule.total - missing, static_cast<std::uint32_t>(present), false);
}

// Rows [begin, begin + count) of an order, gathered.
struct RowStretch {
    static constexpr std::size_t kRows = 128;

    StumpSums sums[kRows];
    SumBox box;

    void gather(const RowOrder& order, std::size_t begin, std::size_t count, RowSums rows,
                StumpSums low) {
        box = {low, 0, 0, 0};
        for (std::size_t i = 0; i < count; ++i) {
            StumpSums of_row = rows.of(order.rows[begin + i] & RowOrder::kRow);
            sums[i] = of_row;
            box.up += of_row.response > 0 ? of_row.response : 0;
            box.down -= of_row.response < 0 ? of_row.response : 0;
            box.weight += of_row.weight;
        }
    }
};

// A stretch in which no split can beat the best so far is passed over.
template <class Rule>
void scan_order(const RowOrder& order, RowSums rows, const StumpKernels&, const Rule& rule,
                FoundCut<Rule>& best) {
    std::size_t present = order.present;
    bool has_missing = order.has_missing();
    StumpSums missing = sum_of_rows(order, present, order.rows.size(), rows), left;
    RowStretch stretch;
    for (std::size_t begin = 0; begin + 1 < present; begin += RowStretch::kRows) {
        std::size_t count = std::min(RowStretch::kRows, present - 1 - begin);
        stretch.gather(order, begin, count, rows, left);
        if (rule.bound(stretch.box) > best.gain ||
            (has_missing && rule.bound(stretch.box.with(missing)) > best.gain)) {
            for (std::size_t i = 0; i < count; ++i) {
                left = left + stretch.sums[i];
                if (!(order.rows[begin + i] & RowOrder::kLast)) continue;
                auto at = static_cast<std::uint32_t>(begin + i + 1);
                best.consider(rule, left, at, false);
                if (has_missing) best.consider(rule, left + missing, at, true);
            }
        }
        left = stretch.box.high();
    }
    if (has_missing)
        best.consider(rule, rule.total - missing, static_cast<std::uint32_t>(present), false);
}

}  // namespace bosquet
