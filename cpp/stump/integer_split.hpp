// The best split of a feature so far, for searches with integer gains.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "stump/table.hpp"

namespace bosquet {

struct IntegerSplit {
    // The gain that the next split has to exceed; initially that of the constant.
    std::int64_t gain = 0;
    bool found = false;
    SplitPosition split;

    // Accepts a larger gain, or the same gain at a lower threshold.
    void consider(std::int64_t reached, std::size_t position, bool missing_left) {
        bool lower = found && reached == gain && position < split.position;
        if (!(reached > gain) && !lower) return;
        gain = reached;
        found = true;
        split.position = static_cast<std::uint32_t>(position);
        split.missing_left = missing_left;
    }
};

// Calls visit(bin, row) for all rows of a binned column.
template <class Visit>
void for_each_row(const StumpTable& table, std::uint32_t feature, Visit visit) {
    const FeaturePlace& place = table.binned().layout().features[feature];
    if (place.wide) {
        const std::uint16_t* column = table.binned().wide_column(place);
        for (std::size_t row = 0; row < table.rows(); ++row) visit(column[row], row);
    } else {
        const std::uint8_t* column = table.binned().contiguous_column(place);
        for (std::size_t row = 0; row < table.rows(); ++row) visit(column[row], row);
    }
}

// Searches inside the bins of an ordered column: bound(bin) is an upper bound of the gains of
// splits inside a bin, scan(bin) evaluates all of them. `gain_to_reach` is the gain of another
// column. The position of a split between bins is converted to a number of rows.
template <class Bound, class Scan>
void search_inside(const OrderedColumn& column, std::int64_t gain_to_reach, IntegerSplit& best,
                   Bound bound, Scan scan) {
    if (best.found) best.split.position = column.starts[best.split.position];
    for (std::uint32_t bin = 1; bin < column.starts.size(); ++bin)
        // Reaching the best gain is enough, because the threshold may be lower.
        if (bound(bin) >= std::max(gain_to_reach, best.gain)) scan(bin);
}

// Searches every feature with search(feature, gain_to_reach, split, worker), where `gain_to_reach`
// is the gain of a split of another feature. Returns the best split; among equal ones that of the
// lowest feature.
template <class Search>
IntegerSplit find_best_split(const StumpTable& table, Team& team, std::int64_t constant_gain,
                             Search search) {
    const std::vector<std::uint32_t>& features = table.binned().layout().active;
    std::vector<IntegerSplit> splits(features.size());
    std::vector<std::int64_t> gains_to_reach(team.size(), constant_gain);
    team.run(features.size(), [&](std::size_t i, int worker) {
        splits[i].gain = constant_gain;
        splits[i].split.feature = features[i];
        search(features[i], gains_to_reach[worker], splits[i], worker);
        gains_to_reach[worker] = std::max(gains_to_reach[worker], splits[i].gain);
    });
    IntegerSplit best;
    best.gain = constant_gain;
    for (IntegerSplit& split : splits)
        if (split.found && split.gain > best.gain) best = std::move(split);
    return best;
}

}  // namespace bosquet
