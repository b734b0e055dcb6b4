// Finds the best split of one feature, from sums per bin and, inside a bin, per row.
//
// Among equal splits, that with the lowest threshold is chosen, and among those the one with
// missing values on the right. A split after the last value has only missing values on its right.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "stump/criteria.hpp"
#include "stump/table.hpp"

namespace bosquet {

// The response and the weight of each row; without weights, the weight is the absolute response.
struct RowSums {
    const std::int64_t* response = nullptr;
    const std::int64_t* weight = nullptr;

    StumpSums sums_of_row(std::size_t row) const {
        std::int64_t r = response[row];
        return {r, weight != nullptr ? weight[row] : magnitude(r)};
    }
};

// The sums of a bin.
struct BinSums {
    StumpSums all;
    std::int64_t positive_sum = 0;  // sum of the positive responses
    std::int64_t negative_sum = 0;  // absolute sum of the negative responses

    SumBox box(StumpSums low) const { return {low, positive_sum, negative_sum, all.weight}; }
};

// Bins are counted from 1; bin 0 holds the missing values. A position is a number of bins.
template <class Criterion>
void scan_bins(std::span<const BinSums> bins, bool has_missing, const Criterion& criterion,
               FoundSplit<Criterion>& best) {
    StumpSums missing = bins[0].all, left;
    auto last = static_cast<std::uint32_t>(bins.size()) - 1;
    for (std::uint32_t bin = 1; bin < last; ++bin) {
        left = left + bins[bin].all;
        best.consider(criterion, left, bin, false);
        if (has_missing) best.consider(criterion, left + missing, bin, true);
    }
    if (has_missing) best.consider(criterion, criterion.total - missing, last, false);
}

// The levels of a categorical feature in the order of their mean response, including missing values
// as bin 0. The best grouping into two is contiguous in this order (Fisher 1958; Breiman et al.
// 1984). Levels without weight are left out; they go right.
inline std::vector<std::uint32_t> order_levels_by_mean(std::span<const BinSums> bins) {
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

// For the 0-1 error each level goes by the sign of its response: negative ones go left.
template <class Criterion>
void scan_levels(std::span<const BinSums> bins, const Criterion& criterion,
                 FoundSplit<Criterion>& best) {
    StumpSums left;
    if constexpr (!Criterion::kNeedsWeight) {
        for (const BinSums& level : bins)
            if (level.all.response < 0) left = left + level.all;
        best.consider(criterion, left, 0, bins[0].all.response < 0);
    } else {
        std::vector<std::uint32_t> levels = order_levels_by_mean(bins);
        bool missing_left = false;
        for (std::uint32_t i = 0; i + 1 < levels.size(); ++i) {
            left = left + bins[levels[i]].all;
            missing_left = missing_left || levels[i] == 0;
            best.consider(criterion, left, i + 1, missing_left);
        }
    }
}

// The bins that go left in a split found by scan_levels, without that of missing values.
template <class Criterion>
std::vector<std::uint32_t> left_levels(std::span<const BinSums> bins,
                                       const FoundSplit<Criterion>& split) {
    std::vector<std::uint32_t> chosen;
    if constexpr (!Criterion::kNeedsWeight) {
        for (std::uint32_t bin = 1; bin < bins.size(); ++bin)
            if (bins[bin].all.response < 0) chosen.push_back(bin);
    } else {
        std::vector<std::uint32_t> levels = order_levels_by_mean(bins);
        for (std::uint32_t i = 0; i < split.position; ++i)
            if (levels[i] != 0) chosen.push_back(levels[i]);
        std::sort(chosen.begin(), chosen.end());
    }
    return chosen;
}

// Whether a split with some of the rows of a box on the left can reach `gain_to_reach`.
template <class Criterion>
bool may_reach(const SumBox& box, bool has_missing, StumpSums missing, const Criterion& criterion,
               typename Criterion::Gain gain_to_reach) {
    return criterion.may_reach(box, gain_to_reach) ||
           (has_missing && criterion.may_reach(box.with(missing), gain_to_reach));
}

// Searches the splits inside a bin of an ordered column, segment by segment, where they may reach
// `gain_to_reach`. A position is a number of rows. `left` holds the sums of the bins before it.
template <class Criterion>
void scan_inside(const OrderedColumn& column, std::size_t bin, StumpSums left, StumpSums missing,
                 RowSums rows, const Criterion& criterion, typename Criterion::Gain gain_to_reach,
                 FoundSplit<Criterion>& best) {
    constexpr std::uint32_t kSegmentRows = 16;
    bool has_missing = column.order.has_missing();
    auto row_at = [&](std::uint32_t index) { return column.order.rows[index] & RowOrder::kRow; };
    // After the last row of the bin comes the split between this bin and the next one.
    std::uint32_t last = column.starts[bin] - 1;
    for (std::uint32_t begin = column.starts[bin - 1], end; begin < last; begin = end) {
        end = std::min(begin + kSegmentRows, last);
        SumBox box{left, 0, 0, 0};
        for (std::uint32_t i = begin; i < end; ++i) {
            StumpSums sums = rows.sums_of_row(row_at(i));
            box.positive_sum += std::max<std::int64_t>(sums.response, 0);
            box.negative_sum += std::max<std::int64_t>(-sums.response, 0);
            box.weight += sums.weight;
        }
        bool promising = may_reach(box, has_missing, missing, criterion, gain_to_reach);
        for (std::uint32_t i = begin; promising && i < end; ++i) {
            left = left + rows.sums_of_row(row_at(i));
            if (!(column.order.rows[i] & RowOrder::kLast)) continue;
            best.consider(criterion, left, i + 1, false);
            if (has_missing) best.consider(criterion, left + missing, i + 1, true);
        }
        left = box.high();
    }
}

// Searches those bins of an ordered column row by row that may contain a split that reaches
// `gain_to_reach`. The position of `best`, a number of bins, is converted to a number of rows.
// `gain_to_reach` increases with the gains found.
template <class Criterion>
void scan_ordered(const OrderedColumn& column, std::span<const BinSums> bins,
                  typename Criterion::Gain& gain_to_reach, RowSums rows, const Criterion& criterion,
                  FoundSplit<Criterion>& best) {
    if (best.found) best.position = column.starts[best.position];
    StumpSums left, missing = bins[0].all;
    for (std::size_t bin = 1; bin < bins.size(); ++bin) {
        SumBox box = bins[bin].box(left);
        // Reaching `gain_to_reach` is enough, because the threshold may be lower than that of the
        // best split.
        if (may_reach(box, column.order.has_missing(), missing, criterion, gain_to_reach)) {
            scan_inside(column, bin, left, missing, rows, criterion, gain_to_reach, best);
            gain_to_reach = std::max(gain_to_reach, best.gain);
        }
        left = box.high();
    }
}

}  // namespace bosquet
