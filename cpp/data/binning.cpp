#include "data/binning.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "data/quantiles.hpp"

namespace bosquet {

namespace {

// The largest float <= edge. For a float x, x <= edge is equivalent to x <= that float. Float
// columns are therefore compared without conversion to double and get the same bins.
float floor_to_float(double edge) {
    auto rounded = static_cast<float>(edge);
    if (static_cast<double>(rounded) > edge)
        rounded = std::nextafterf(rounded, -std::numeric_limits<float>::infinity());
    return rounded;
}

template <class Value>
FeatureBins learn_column(const Column& column, const std::vector<std::uint32_t>& rows,
                         std::size_t all_rows, std::span<const double> weights, int max_bins) {
    std::vector<Value> values;
    std::vector<double> value_weights;
    values.reserve(rows.size());
    FeatureBins bins;
    bool sampled = rows.size() != all_rows;
    std::vector<Value> block(sampled ? 1 : kBlockRows);
    auto keep = [&](Value value, std::size_t row) {
        if (std::isnan(value)) {
            bins.has_missing = true;
        } else {
            values.push_back(value);
            if (!weights.empty()) value_weights.push_back(weights[row]);
        }
    };
    if (sampled) {
        for (std::uint32_t row : rows) {
            read_column(column, row, 1, block.data());
            keep(block[0], row);
        }
    } else {
        for (std::size_t index = 0; index < block_count(all_rows); ++index) {
            Range range = bosquet::block_range(all_rows, index);
            read_column(column, range.begin, range.size(), block.data());
            for (std::size_t i = 0; i < range.size(); ++i) keep(block[i], range.begin + i);
        }
    }
    if (!values.empty()) bins.edges = quantile_edges(values, value_weights, max_bins);
    return bins;
}

FeatureBins learn_categories(const Column& column, const std::vector<std::uint32_t>& rows,
                             std::uint32_t categories) {
    FeatureBins bins;
    bins.categorical = true;
    bins.categories = categories;
    for (std::uint32_t row : rows) {
        double code = read_value(column, row);
        if (!(code >= 0)) {
            bins.has_missing = true;
            break;
        }
    }
    return bins;
}

}  // namespace

std::vector<FeatureBins> learn_bins(const Table& table, std::span<const double> weights,
                                    std::span<const std::uint32_t> categories,
                                    const BinningOptions& options, Team& team) {
    std::vector<std::uint32_t> rows = sample_rows(table.rows, options.sample_rows, options.seed);
    std::vector<FeatureBins> result(table.columns.size());
    bool large = rows.size() * table.columns.size() >= 20'000;
    auto learn = [&](std::size_t feature, int) {
        const Column& column = table.columns[feature];
        if (!categories.empty() && categories[feature] > 0)
            result[feature] = learn_categories(column, rows, categories[feature]);
        else if (column.type == ColumnType::f32)
            result[feature] =
                learn_column<float>(column, rows, table.rows, weights, options.max_bins);
        else
            result[feature] =
                learn_column<double>(column, rows, table.rows, weights, options.max_bins);
    };
    if (large)
        team.run(result.size(), learn);
    else
        for (std::size_t feature = 0; feature < result.size(); ++feature) learn(feature, 0);
    return result;
}

ColumnBinner::ColumnBinner(const FeatureBins& bins) : bins_(&bins) {
    if (bins.categorical) return;
    edges_.assign(256, std::numeric_limits<double>::infinity());
    std::copy(bins.edges.begin(), bins.edges.end(), edges_.begin());
    float_edges_.assign(256, std::numeric_limits<float>::infinity());
    std::transform(bins.edges.begin(), bins.edges.end(), float_edges_.begin(), floor_to_float);
}

void ColumnBinner::bin(const Column& column, std::size_t begin, std::size_t count,
                       const BinKernels& kernels, double* scratch, std::uint8_t* narrow,
                       std::uint16_t* wide) const {
    if (bins_->categorical) {
        read_column(column, begin, count, scratch);
        double limit = bins_->categories;
        for (std::size_t i = 0; i < count; ++i) {
            double code = scratch[i];
            std::uint32_t bin =
                code >= 0 && code < limit ? static_cast<std::uint32_t>(code) + 1 : 0;
            if (narrow != nullptr)
                narrow[i] = static_cast<std::uint8_t>(bin);
            else
                wide[i] = static_cast<std::uint16_t>(bin);
        }
    } else if (column.type == ColumnType::f32) {
        auto* floats = reinterpret_cast<float*>(scratch);
        read_column(column, begin, count, floats);
        kernels.bin_floats(floats, count, float_edges_.data(), narrow);
    } else {
        read_column(column, begin, count, scratch);
        kernels.bin_doubles(scratch, count, edges_.data(), narrow);
    }
}

}  // namespace bosquet
