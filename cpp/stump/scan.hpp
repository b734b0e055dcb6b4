// The best split of one feature under a rule, from sums by bin and, inside a bin, by row.
//
// Of equal splits the one of the lowest threshold is taken, and at one threshold the one with
// missing values on the right. Behind the last value a split has missing values alone on its right.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "stump/rules.hpp"
#include "stump/table.hpp"

namespace bosquet {

// What each row counts for; without weights, a row's weight is the magnitude of its response.
struct RowSums {
    const std::int64_t* response = nullptr;
    const std::int64_t* weight = nullptr;

    StumpSums of(std::size_t row) const {
        std::int64_t r = response[row];
        return {r, weight != nullptr ? weight[row] : magnitude(r)};
    }
};

// Sums of a bin.
struct BinSums {
    StumpSums all;
    std::int64_t up = 0;    // of the positive responses
    std::int64_t down = 0;  // of the negative ones, as a magnitude

    SumBox box(StumpSums low) const { return {low, up, down, all.weight}; }
};

// Bins count from 1, bin 0 has the missing values; a position is a number of bins.
template <class Rule>
void scan_bins(std::span<const BinSums> bins, bool has_missing, const Rule& rule,
               FoundCut<Rule>& best) {
    StumpSums missing = bins[0].all, left;
    auto last = static_cast<std::uint32_t>(bins.size()) - 1;
    for (std::uint32_t bin = 1; bin < last; ++bin) {
        left = left + bins[bin].all;
        best.consider(rule, left, bin, false);
        if (has_missing) best.consider(rule, left + missing, bin, true);
    }
    if (has_missing) best.consider(rule, rule.total - missing, last, false);
}

// The levels of a nominal feature, missing values among them as bin 0, in the order of their mean
// response. The best grouping in two is a cut of this order (Fisher 1958; Breiman et al. 1984).
// Levels without weight are left out: they go right.
inline std::vector<std::uint32_t> levels_by_mean(std::span<const BinSums> bins) {
    std::vector<double> mean(bins.size());
    std::vector<std::uint32_t> levels;
    for (std::uint32_t bin = 0; bin < bins.size(); ++bin) {
        StumpSums sums = bins[bin].all;
        if (sums.weight <= 0) continue;
        mean[bin] = static_cast<double>(sums.response) / static_cast<double>(sums.weight);
        levels.push_back(bin);
    }
    std::stable_sort(levels.begin(), levels.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return mean[a] < mean[b]; });
    return levels;
}

// For the 0-1 error each level goes by its own sign: those of negative response left.
template <class Rule>
void scan_levels(std::span<const BinSums> bins, const Rule& rule, FoundCut<Rule>& best) {
    StumpSums left;
    if constexpr (!Rule::kNeedsWeight) {
        for (const BinSums& level : bins)
            if (level.all.response < 0) left = left + level.all;
        best.consider(rule, left, 0, bins[0].all.response < 0);
    } else {
        std::vector<std::uint32_t> levels = levels_by_mean(bins);
        bool missing_left = false;
        for (std::uint32_t i = 0; i + 1 < levels.size(); ++i) {
            left = left + bins[levels[i]].all;
            missing_left = missing_left || levels[i] == 0;
            best.consider(rule, left, i + 1, missing_left);
        }
    }
}

// The bins that go left by a cut that scan_levels found, missing values left aside.
template <class Rule>
std::vector<std::uint32_t> left_levels(std::span<const BinSums> bins, const FoundCut<Rule>& cut) {
    std::vector<std::uint32_t> chosen;
    if constexpr (!Rule::kNeedsWeight) {
        for (std::uint32_t bin = 1; bin < bins.size(); ++bin)
            if (bins[bin].all.response < 0) chosen.push_back(bin);
    } else {
        std::vector<std::uint32_t> levels = levels_by_mean(bins);
        for (std::uint32_t i = 0; i < cut.position; ++i)
            if (levels[i] != 0) chosen.push_back(levels[i]);
        std::sort(chosen.begin(), chosen.end());
    }
    return chosen;
}

// The most that a split inside a bin could gain, by bin.
template <class Rule>
void bound_bins(std::span<const BinSums> bins, bool has_missing, const Rule& rule,
                std::span<typename Rule::Gain> bounds) {
    StumpSums left;
    for (std::size_t bin = 1; bin < bins.size(); ++bin) {
        SumBox box = bins[bin].box(left);
        bounds[bin] = rule.bound(box);
        if (has_missing) bounds[bin] = std::max(bounds[bin], rule.bound(box.with(bins[0].all)));
        left = box.high();
    }
}

// All splits inside a bin of an ordered column; a position is a number of rows. `low` are the sums
// of the bins before it.
template <class Rule>
void scan_inside(const OrderedColumn& column, std::size_t bin, StumpSums low, StumpSums missing,
                 RowSums rows, const Rule& rule, FoundCut<Rule>& best) {
    bool has_missing = column.order.has_missing();
    StumpSums left = low;
    for (std::uint32_t i = column.starts[bin - 1]; i + 1 < column.starts[bin]; ++i) {
        std::uint32_t entry = column.order.rows[i];
        left = left + rows.of(entry & RowOrder::kRow);
        if (!(entry & RowOrder::kLast)) continue;
        best.consider(rule, left, i + 1, false);
        if (has_missing) best.consider(rule, left + missing, i + 1, true);
    }
}

// For the 0-1 error the gain grows with the distance of the left sum from the stretch between 0 and
// the total. So only the greatest and the least sum can be best, and a bin whose extremes fall
// short need not be looked at more closely.
inline bool is_promising(const OrderedColumn& column, std::size_t bin, StumpSums low,
                         StumpSums missing, RowSums rows, const ErrorRule& rule,
                         std::int64_t gain) {
    std::int64_t sum = low.response, most = sum, least = sum;
    const std::uint32_t* entry = column.order.rows.data();
    for (std::uint32_t i = column.starts[bin - 1]; i + 1 < column.starts[bin]; ++i) {
        sum += rows.response[entry[i] & RowOrder::kRow];
        most = sum > most ? sum : most;
        least = sum < least ? sum : least;
    }
    auto reaches = [&](std::int64_t response) { return rule({response, 0}) >= gain; };
    return reaches(most) || reaches(least) ||
           (column.order.has_missing() &&
            (reaches(most + missing.response) || reaches(least + missing.response)));
}

template <class Rule>
bool is_promising(const OrderedColumn&, std::size_t, StumpSums, StumpSums, RowSums, const Rule&,
                  typename Rule::Gain) {
    return true;
}

// Those bins of an ordered column that may hold a split to reach the bar, searched row by row. The
// position of `best`, a number of bins, becomes a number of rows. The bar rises with what is found.
template <class Rule>
void scan_ordered(const OrderedColumn& column, std::span<const BinSums> bins,
                  std::span<const typename Rule::Gain> bounds, typename Rule::Gain& bar,
                  RowSums rows, const Rule& rule, FoundCut<Rule>& best) {
    if (best.found) best.position = column.starts[best.position];
    StumpSums left, missing = bins[0].all;
    for (std::size_t bin = 1; bin < bins.size(); ++bin) {
        // As good as the best is good enough: its threshold may be lower.
        if (bounds[bin] >= bar && bounds[bin] > rule.alone() &&
            is_promising(column, bin, left, missing, rows, rule, bar))
            scan_inside(column, bin, left, missing, rows, rule, best);
        bar = std::max(bar, best.gain);
        left = left + bins[bin].all;
    }
}

}  // namespace bosquet
