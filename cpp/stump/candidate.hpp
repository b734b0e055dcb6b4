// The best cut of a feature so far, for searches whose gain is a whole number.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "stump/table.hpp"

namespace bosquet {

struct WholeCut {
    std::int64_t gain = 0;  // what the next one has to beat: at first, the constant's
    bool found = false;
    CutPlace place;

    // More gain, or as much at a lower threshold.
    void consider(std::int64_t reached, std::size_t position, bool missing_left) {
        bool lower = found && reached == gain && position < place.position;
        if (!(reached > gain) && !lower) return;
        gain = reached;
        found = true;
        place.position = static_cast<std::uint32_t>(position);
        place.missing_left = missing_left;
    }
};

// Calls visit(bin, row) for all rows of a column that is kept in bins.
template <class Visit>
void for_each_bin(const StumpTable& table, std::uint32_t feature, Visit visit) {
    const FeaturePlace& place = table.binned().layout().features[feature];
    if (place.wide) {
        const std::uint16_t* column = table.binned().wide_column(place);
        for (std::size_t row = 0; row < table.rows(); ++row) visit(column[row], row);
    } else {
        const std::uint8_t* column = table.binned().column(place);
        for (std::size_t row = 0; row < table.rows(); ++row) visit(column[row], row);
    }
}

// Inside the bins of an ordered column: bound(bin) is the most that a split inside a bin could
// gain, scan(bin) looks at all of them. `bar` is what another column has gained. The position of a
// split between bins becomes a number of rows.
template <class Bound, class Scan>
void search_inside(const OrderedColumn& column, std::int64_t bar, WholeCut& best, Bound bound,
                   Scan scan) {
    if (best.found) best.place.position = column.starts[best.place.position];
    for (std::uint32_t bin = 1; bin < column.starts.size(); ++bin)
        // To reach the best is enough: the threshold may be lower.
        if (bound(bin) >= std::max(bar, best.gain)) scan(bin);
}

// Searches every feature with search(feature, bar, cut, worker), `bar` being what a split of
// another feature has gained, and returns the best cut; of equal ones the lowest feature's.
template <class Search>
WholeCut best_cut(const StumpTable& table, Team& team, std::int64_t alone, Search search) {
    const std::vector<std::uint32_t>& features = table.binned().layout().active;
    std::vector<WholeCut> cuts(features.size());
    std::vector<std::int64_t> bars(team.size(), alone);
    team.run(features.size(), [&](std::size_t i, int worker) {
        cuts[i].gain = alone;
        cuts[i].place.feature = features[i];
        search(features[i], bars[worker], cuts[i], worker);
        bars[worker] = std::max(bars[worker], cuts[i].gain);
    });
    WholeCut best;
    best.gain = alone;
    for (WholeCut& cut : cuts)
        if (cut.found && cut.gain > best.gain) best = std::move(cut);
    return best;
}

}  // namespace bosquet
