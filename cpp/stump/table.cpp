#include "stump/table.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"

namespace bosquet {

namespace {

FeatureBins level_bins(const Column& column, std::size_t rows, std::uint32_t categories) {
    FeatureBins bins;
    bins.categorical = true;
    bins.categories = categories;
    for (std::size_t row = 0; row < rows && !bins.has_missing; ++row) {
        double code = read_value(column, row);
        bins.has_missing = !(code >= 0 && code < categories);
    }
    return bins;
}

// One bin a value, with edges halfway between neighbours.
FeatureBins value_bins(const Column& column, const RowOrder& order) {
    std::vector<double> values;
    for (std::size_t i = 0; i < order.present; ++i)
        if (order.rows[i] & RowOrder::kLast)
            values.push_back(read_value(column, order.rows[i] & RowOrder::kRow));
    FeatureBins bins;
    bins.has_missing = order.has_missing();
    for (std::size_t i = 1; i < values.size(); ++i)
        bins.edges.push_back(halfway(values[i - 1], values[i]));
    return bins;
}

// Small tables are prepared on the calling thread.
constexpr std::size_t kWorthThreads = 100'000;

template <class Work>
void for_each_column(std::size_t columns, std::size_t rows, Team& team, Work work) {
    if (columns * rows >= kWorthThreads)
        team.run(columns, work);
    else
        for (std::size_t f = 0; f < columns; ++f) work(f, 0);
}

}  // namespace

StumpTable::StumpTable(const Table& table, std::span<const std::uint32_t> categories, Isa isa,
                       Team& team)
    : source_(table), bins_(table.columns.size()) {
    std::vector<SortingRoom> rooms(team.size());
    std::vector<RowOrder> orders(bins_.size());
    for_each_column(bins_.size(), rows(), team, [&](std::size_t f, int worker) {
        const Column& column = source_.columns[f];
        if (categories[f] > 0) {
            bins_[f] = level_bins(column, rows(), categories[f]);
            return;
        }
        RowOrder order = sort_rows(column, rows(), rooms[worker]);
        if (order.values > kMostBins)
            orders[f] = std::move(order);
        else
            bins_[f] = value_bins(column, order);
    });
    for (std::uint32_t f = 0; f < orders.size(); ++f)
        if (orders[f].present > 0) ordered_.push_back({f, std::move(orders[f])});
    put_into_bins(isa, team);
}

StumpTable::StumpTable(const Table& table, std::span<const FeatureBins> bins, Isa isa, Team& team)
    : source_(table), bins_(bins.begin(), bins.end()) {
    put_into_bins(isa, team);
}

void StumpTable::put_into_bins(Isa isa, Team& team) {
    binned_ = BinnedMatrix(source_, bins_, isa, team);
    counts_.resize(bins_.size());
    const Layout& layout = binned_.layout();
    for_each_column(layout.active.size(), rows(), team, [&](std::size_t index, int) {
        std::uint32_t f = layout.active[index];
        const FeaturePlace& place = layout.features[f];
        std::vector<std::uint32_t>& counts = counts_[f];
        counts.assign(place.bins, 0);
        if (place.wide) {
            for (std::size_t row = 0; row < rows(); ++row)
                ++counts[binned_.wide_column(place)[row]];
        } else {
            for (std::size_t row = 0; row < rows(); ++row) ++counts[binned_.column(place)[row]];
        }
    });
}

const OrderedColumn* StumpTable::ordered(std::uint32_t feature) const {
    auto at = std::lower_bound(
        ordered_.begin(), ordered_.end(), feature,
        [](const OrderedColumn& column, std::uint32_t f) { return column.feature < f; });
    return at != ordered_.end() && at->feature == feature ? &*at : nullptr;
}

void StumpTable::describe(const CutPlace& place, Stump& stump) const {
    stump.feature = static_cast<std::int32_t>(place.feature);
    std::size_t left = 0, missing = 0;
    if (const OrderedColumn* column = ordered(place.feature)) {
        const RowOrder& order = column->order;
        left = place.position;
        missing = order.rows.size() - order.present;
        if (place.position < order.present)
            stump.threshold =
                halfway(value_at(*column, place.position - 1), value_at(*column, place.position));
    } else {
        std::span<const std::uint32_t> rows_of = counts(place.feature);
        const FeatureBins& bins = bins_[place.feature];
        missing = rows_of[0];
        stump.nominal = bins.categorical;
        for (std::uint32_t bin : place.left_bins) {
            stump.left_categories.push_back(bin - 1);
            left += rows_of[bin];
        }
        if (!bins.categorical) {
            for (std::uint32_t bin = 1; bin <= place.position; ++bin) left += rows_of[bin];
            // Behind the last bin there is no edge.
            if (place.position <= bins.edges.size())
                stump.threshold = bins.edges[place.position - 1];
        }
    }
    // Values that were never missing here go where most of the rows go.
    stump.missing_left = missing > 0 ? place.missing_left : 2 * left > rows();
    if (missing > 0 && stump.missing_left) left += missing;
    stump.rows = static_cast<double>(rows());
    stump.left_rows = static_cast<double>(left);
}

StumpSides::StumpSides(const StumpTable& table, const Stump& stump, Team& team) {
    if (stump.is_constant()) return;
    auto feature = static_cast<std::uint32_t>(stump.feature);
    if (feature >= table.features()) throw InputError("the table does not have this feature");
    if (const OrderedColumn* column = table.ordered(feature)) {
        if (stump.nominal) throw InputError("the stump's feature is nominal, the table's is not");
        place_ordered(table, *column, stump, team);
        return;
    }
    const FeatureBins& bins = table.bins(feature);
    if (stump.nominal != bins.categorical)
        throw InputError("the stump's feature is nominal and the table's is not, or the reverse");
    const FeaturePlace& place = table.binned().layout().features[feature];
    if (!place.active) throw InputError("the stump's feature has one value only in the table");
    right_of_bin_.assign(std::max(place.bins, 256u), 1);
    right_of_bin_[0] = !stump.missing_left;
    if (stump.nominal) {
        for (std::uint32_t code : stump.left_categories)
            if (code < bins.categories) right_of_bin_[1 + code] = 0;
    } else {
        // A bin is on the left if its upper edge is.
        auto first_above = std::upper_bound(bins.edges.begin(), bins.edges.end(), stump.threshold);
        auto left = static_cast<std::size_t>(first_above - bins.edges.begin());
        if (stump.threshold == std::numeric_limits<double>::infinity()) left = place.bins - 1;
        std::fill_n(right_of_bin_.begin() + 1, left, std::uint8_t{0});
    }
    if (place.wide)
        wide_ = table.binned().wide_column(place);
    else
        narrow_ = table.binned().column(place);
}

void StumpSides::place_ordered(const StumpTable& table, const OrderedColumn& column,
                               const Stump& stump, Team& team) {
    const RowOrder& order = column.order;
    std::size_t left = 0, end = order.present;  // the first place above the threshold
    while (left < end) {
        std::size_t middle = left + (end - left) / 2;
        if (table.value_at(column, middle) <= stump.threshold)
            left = middle + 1;
        else
            end = middle;
    }
    right_of_row_ = Buffer<std::uint8_t>(table.rows());
    constexpr std::size_t kPlaces = 65'536;
    team.run((table.rows() + kPlaces - 1) / kPlaces, [&](std::size_t index, int) {
        std::size_t begin = index * kPlaces, stop = std::min(begin + kPlaces, table.rows());
        for (std::size_t i = begin; i < stop; ++i) {
            bool right = i < order.present ? i >= left : !stump.missing_left;
            right_of_row_[order.rows[i] & RowOrder::kRow] = right;
        }
    });
}

void StumpSides::fill(Range range, std::uint8_t* right) const {
    const std::uint8_t* side = right_of_bin_.data();
    if (narrow_ != nullptr)
        for (std::size_t i = 0; i < range.size(); ++i) right[i] = side[narrow_[range.begin + i]];
    else if (wide_ != nullptr)
        for (std::size_t i = 0; i < range.size(); ++i) right[i] = side[wide_[range.begin + i]];
    else if (right_of_row_.size() > 0)
        std::copy_n(right_of_row_.data() + range.begin, range.size(), right);
    else
        std::fill_n(right, range.size(), std::uint8_t{0});
}

}  // namespace bosquet
