#include "stump/table.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "base/error.hpp"

namespace bosquet {

namespace {

constexpr std::size_t kMaxBins = 255;
// Searching a bin with fewer rows takes less time than computing a bound for it.
constexpr std::size_t kRowsPerBin = 16;

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

// The starts of the bins of an ordered column, followed by the end of the last one: one bin per
// value if there are few values, otherwise bins with about equal numbers of rows.
std::vector<std::uint32_t> bin_starts(const RowOrder& order) {
    std::size_t bins = order.distinct;
    if (bins > kMaxBins) bins = std::clamp(order.present / kRowsPerBin, std::size_t{2}, kMaxBins);
    bool one_per_value = bins == order.distinct;
    std::vector<std::uint32_t> starts{0};
    // Where the current bin may end.
    std::size_t earliest_end = one_per_value ? 0 : order.present / bins;
    for (std::size_t i = 0; i < order.present; ++i) {
        if (i + 1 < earliest_end || !(order.rows[i] & RowOrder::kLast)) continue;
        starts.push_back(static_cast<std::uint32_t>(i + 1));
        if (!one_per_value) earliest_end = order.present * starts.size() / bins;
    }
    return starts;
}

FeatureBins ordered_bins(const Column& column, const RowOrder& order,
                         const std::vector<std::uint32_t>& starts) {
    FeatureBins bins;
    bins.has_missing = order.has_missing();
    auto value = [&](std::size_t i) { return read_value(column, order.rows[i] & RowOrder::kRow); };
    for (std::size_t bin = 1; bin + 1 < starts.size(); ++bin)
        bins.edges.push_back(threshold_between(value(starts[bin] - 1), value(starts[bin])));
    return bins;
}

// Smaller tables are prepared on the calling thread.
constexpr std::size_t kValuesForThreads = 100'000;

template <class Work>
void for_each_column(std::size_t columns, std::size_t rows, Team& team, Work work) {
    if (columns * rows >= kValuesForThreads)
        team.run(columns, work);
    else
        for (std::size_t f = 0; f < columns; ++f) work(f, 0);
}

}  // namespace

StumpTable::StumpTable(const Table& table, std::span<const std::uint32_t> categories, Isa isa,
                       Team& team)
    : source_(table), bins_(table.columns.size()) {
    std::vector<SortBuffers> buffers(team.size());
    std::vector<OrderedColumn> columns(bins_.size());
    for_each_column(bins_.size(), rows(), team, [&](std::size_t f, int worker) {
        const Column& source = source_.columns[f];
        if (categories[f] > 0) {
            bins_[f] = level_bins(source, rows(), categories[f]);
            return;
        }
        RowOrder order = sort_rows(source, rows(), buffers[worker]);
        std::vector<std::uint32_t> starts = bin_starts(order);
        bins_[f] = ordered_bins(source, order, starts);
        if (order.distinct > kMaxBins)
            columns[f] = {static_cast<std::uint32_t>(f), std::move(order), std::move(starts)};
    });
    for (OrderedColumn& column : columns)
        if (column.order.present > 0) ordered_.push_back(std::move(column));
    bin_columns(isa, team);
}

StumpTable::StumpTable(const Table& table, std::span<const FeatureBins> bins, Isa isa, Team& team)
    : source_(table), bins_(bins.begin(), bins.end()) {
    bin_columns(isa, team);
}

void StumpTable::bin_columns(Isa isa, Team& team) {
    binned_ = BinnedMatrix(source_, bins_, isa, team);
    has_missing_.assign(bins_.size(), 0);
    counts_.resize(bins_.size());
    const Layout& layout = binned_.layout();
    for_each_column(layout.active.size(), rows(), team, [&](std::size_t index, int) {
        std::uint32_t f = layout.active[index];
        const FeaturePlace& place = layout.features[f];
        const std::uint16_t* wide = binned_.wide_column(place);
        has_missing_[f] = place.wide
                              ? std::find(wide, wide + rows(), 0) != wide + rows()
                              : std::memchr(binned_.contiguous_column(place), 0, rows()) != nullptr;
    });
}

const std::vector<std::uint32_t>& StumpTable::counts(std::uint32_t feature) const {
    std::vector<std::uint32_t>& counts = counts_[feature];
    if (!counts.empty()) return counts;
    const FeaturePlace& place = binned_.layout().features[feature];
    // Four counters per bin: with a single one, equal neighbouring values would wait for each
    // other.
    std::vector<std::uint32_t> partial_counts(std::size_t{4} * place.bins);
    auto count = [&](const auto* column) {
        for (std::size_t row = 0; row < rows(); ++row) ++partial_counts[4 * column[row] + row % 4];
    };
    if (place.wide)
        count(binned_.wide_column(place));
    else
        count(binned_.contiguous_column(place));
    counts.resize(place.bins);
    for (std::size_t i = 0; i < partial_counts.size(); ++i) counts[i / 4] += partial_counts[i];
    return counts;
}

const OrderedColumn* StumpTable::ordered(std::uint32_t feature) const {
    auto at = std::lower_bound(
        ordered_.begin(), ordered_.end(), feature,
        [](const OrderedColumn& column, std::uint32_t f) { return column.feature < f; });
    return at != ordered_.end() && at->feature == feature ? &*at : nullptr;
}

void StumpTable::describe(const SplitPosition& split, Stump& stump) const {
    stump.feature = static_cast<std::int32_t>(split.feature);
    const std::vector<std::uint32_t>& rows_of = counts(split.feature);
    const FeatureBins& bins = bins_[split.feature];
    std::size_t left = 0, missing = rows_of[0];
    if (const OrderedColumn* column = ordered(split.feature)) {
        left = split.position;
        if (split.position < column->order.present)
            stump.threshold = threshold_between(value_at(*column, split.position - 1),
                                                value_at(*column, split.position));
    } else if (bins.categorical) {
        stump.categorical = true;
        for (std::uint32_t bin : split.left_bins) {
            stump.left_categories.push_back(bin - 1);
            left += rows_of[bin];
        }
    } else {
        for (std::uint32_t bin = 1; bin <= split.position; ++bin) left += rows_of[bin];
        // After the last bin there is no edge.
        if (split.position <= bins.edges.size()) stump.threshold = bins.edges[split.position - 1];
    }
    // If no value is missing in training, missing values go to the side with more rows.
    stump.missing_left = missing > 0 ? split.missing_left : 2 * left > rows();
    if (missing > 0 && stump.missing_left) left += missing;
    stump.rows = static_cast<double>(rows());
    stump.left_rows = static_cast<double>(left);
}

StumpSides::StumpSides(const StumpTable& table, const Stump& stump, Isa isa)
    : kernels_(select_stump_kernels(isa)), missing_left_(stump.missing_left) {
    if (stump.is_constant()) return;
    auto feature = static_cast<std::uint32_t>(stump.feature);
    if (feature >= table.features())
        throw InputError("the stump uses feature " + std::to_string(feature) +
                         ", but the table has only " + std::to_string(table.features()) +
                         " features");
    const FeatureBins& bins = table.bins(feature);
    if (stump.categorical != bins.categorical)
        throw InputError("feature " + std::to_string(feature) + " is " +
                         (stump.categorical ? "categorical" : "quantitative") +
                         " in the stump, but not in the table");
    const FeaturePlace& place = table.binned().layout().features[feature];
    if (!place.active)
        throw InputError("feature " + std::to_string(feature) +
                         " of the stump has only one value in the table");
    if (!stump.categorical) {
        // A bin is on the left if its upper edge is; the last bin has no edge.
        auto above = std::upper_bound(bins.edges.begin(), bins.edges.end(), stump.threshold);
        bool all = stump.threshold == std::numeric_limits<double>::infinity();
        last_ = static_cast<std::uint8_t>(all ? place.bins - 1 : above - bins.edges.begin());
        bins_ = table.binned().contiguous_column(place);
        if (const OrderedColumn* column = table.ordered(feature); column != nullptr && !all)
            divide_bin(table, *column, stump.threshold);
        return;
    }
    right_of_bin_.assign(place.bins, 1);
    right_of_bin_[0] = !stump.missing_left;
    for (std::uint32_t code : stump.left_categories)
        if (code < bins.categories) right_of_bin_[1 + code] = 0;
    if (place.wide)
        wide_ = table.binned().wide_column(place);
    else
        levels_ = table.binned().contiguous_column(place);
}

// The threshold may divide the bin after those that are completely on the left. Finds its rows that
// go right.
void StumpSides::divide_bin(const StumpTable& table, const OrderedColumn& column,
                            double threshold) {
    std::size_t begin = column.starts[last_], end = column.starts[last_ + 1];
    std::size_t left = begin, above = end;  // `left` becomes the first index above the threshold
    while (left < above) {
        std::size_t middle = left + (above - left) / 2;
        if (table.value_at(column, middle) <= threshold)
            left = middle + 1;
        else
            above = middle;
    }
    if (left == begin) return;
    ++last_;
    for (std::size_t i = left; i < end; ++i)
        right_rows_.push_back(column.order.rows[i] & RowOrder::kRow);
    std::sort(right_rows_.begin(), right_rows_.end());
}

void StumpSides::fill(Range range, std::uint8_t* right) const {
    const std::uint8_t* side = right_of_bin_.data();
    if (bins_ != nullptr && last_ == 0 && !missing_left_)
        std::fill_n(right, range.size(), std::uint8_t{1});
    else if (bins_ != nullptr)
        kernels_.sides_of_bins(bins_ + range.begin, range.size(), last_, missing_left_, right);
    else if (levels_ != nullptr)
        for (std::size_t i = 0; i < range.size(); ++i) right[i] = side[levels_[range.begin + i]];
    else if (wide_ != nullptr)
        for (std::size_t i = 0; i < range.size(); ++i) right[i] = side[wide_[range.begin + i]];
    else
        std::fill_n(right, range.size(), std::uint8_t{0});
    auto row = std::lower_bound(right_rows_.begin(), right_rows_.end(), range.begin);
    for (; row != right_rows_.end() && *row < range.end; ++row) right[*row - range.begin] = 1;
}

}  // namespace bosquet
