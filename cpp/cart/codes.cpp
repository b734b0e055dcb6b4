#include "cart/codes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/interrupt.hpp"

namespace bosquet {

namespace {

// A number t with a <= t < b: the midpoint if it is representable.
double threshold_between(double a, double b) {
    double middle = a / 2 + b / 2;
    return middle >= a && middle < b ? middle : a;
}

struct Keyed {
    std::uint64_t key;  // has the same order as the value
    std::uint32_t row;
};

std::uint64_t key_of(double value) {
    if (value == 0) value = 0;  // -0 and 0 count as one value
    auto bits = std::bit_cast<std::uint64_t>(value);
    return bits >> 63 ? ~bits : bits | std::uint64_t{1} << 63;
}

double value_of(std::uint64_t key) {
    return std::bit_cast<double>(key >> 63 ? key & ~(std::uint64_t{1} << 63) : ~key);
}

// Radix sort with eleven bits per pass, lowest first. Passes in which all keys have the same digit
// are skipped, which for numbers with few significant bits are most of them.
void sort_keys(std::vector<Keyed>& items) {
    constexpr int kBits = 11;
    constexpr std::size_t kBuckets = std::size_t{1} << kBits;
    std::vector<Keyed> other(items.size());
    std::vector<std::uint32_t> starts(kBuckets);
    for (int shift = 0; shift < 64; shift += kBits) {
        check_interrupt();
        std::fill(starts.begin(), starts.end(), 0u);
        for (const Keyed& item : items) ++starts[item.key >> shift & (kBuckets - 1)];
        if (*std::max_element(starts.begin(), starts.end()) == items.size()) continue;
        std::uint32_t begin = 0;
        for (std::uint32_t& start : starts) {
            std::uint32_t size = start;
            start = begin;
            begin += size;
        }
        for (const Keyed& item : items) other[starts[item.key >> shift & (kBuckets - 1)]++] = item;
        items.swap(other);
    }
}

void allocate(CodedColumn& column, std::size_t rows, const std::string& folder = {}) {
    if (column.is_narrow())
        column.narrow = Buffer<std::uint8_t>(rows, folder);
    else
        column.wide = Buffer<std::uint32_t>(rows, folder);
}

void put(CodedColumn& column, std::size_t row, std::uint32_t code) {
    if (column.is_narrow())
        column.narrow[row] = static_cast<std::uint8_t>(code);
    else
        column.wide[row] = code;
}

CodedColumn code_values(const Column& source, std::size_t rows) {
    std::vector<Keyed> items;
    items.reserve(rows);
    std::vector<double> block(kBlockRows);
    for (std::size_t index = 0; index < block_count(rows); ++index) {
        Range range = bosquet::block_range(rows, index);
        read_column(source, range.begin, range.size(), block.data());
        for (std::size_t i = 0; i < range.size(); ++i)
            if (!std::isnan(block[i]))
                items.push_back({key_of(block[i]), static_cast<std::uint32_t>(range.begin + i)});
    }
    sort_keys(items);
    CodedColumn column;
    for (std::size_t i = 0; i < items.size(); ++i)
        if (i == 0 || items[i].key != items[i - 1].key)
            column.values.push_back(value_of(items[i].key));
    column.codes = static_cast<std::uint32_t>(column.values.size()) + 1;
    allocate(column, rows);
    if (items.size() < rows)
        for (std::size_t row = 0; row < rows; ++row) put(column, row, 0);
    std::uint32_t code = 0;
    for (std::size_t i = 0; i < items.size(); ++i) {
        code += i == 0 || items[i].key != items[i - 1].key;
        put(column, items[i].row, code);
    }
    return column;
}

// Writes the codes of `count` categories to the rows from `first_row` on.
void put_categories(CodedColumn& column, const Column& source, std::size_t count,
                    std::size_t first_row) {
    for (std::size_t i = 0; i < count; ++i) {
        double value = read_value(source, i);
        bool is_category = value >= 0 && value < column.categories();
        put(column, first_row + i, is_category ? static_cast<std::uint32_t>(value) + 1 : 0);
    }
}

CodedColumn code_categories(const Column& source, std::size_t rows, std::uint32_t categories) {
    CodedColumn column;
    column.categorical = true;
    column.codes = categories + 1;
    allocate(column, rows);
    put_categories(column, source, rows, 0);
    return column;
}

}  // namespace

double CodedColumn::threshold(std::uint32_t below, std::uint32_t above) const {
    if (values.empty()) return edges[below - 1];
    return threshold_between(values[below - 1], values[above - 1]);
}

double CodedColumn::lowest(std::uint32_t code) const {
    if (!values.empty()) return values[code - 1];
    return edges[std::max(code, 2u) - 2];
}

double CodedColumn::highest(std::uint32_t code) const {
    if (!values.empty()) return values[code - 1];
    return edges[std::min<std::size_t>(code, edges.size()) - 1];
}

std::uint32_t CodedColumn::last_below(double threshold) const {
    if (!values.empty())
        return static_cast<std::uint32_t>(
            std::upper_bound(values.begin(), values.end(), threshold) - values.begin());
    return static_cast<std::uint32_t>(std::upper_bound(edges.begin(), edges.end(), threshold) -
                                      edges.begin());
}

CodedTable CodedTable::exact(const Table& table, std::span<const std::uint32_t> categories,
                             Team& team) {
    CodedTable coded;
    coded.rows = table.rows;
    coded.columns.resize(table.columns.size());
    team.run(table.columns.size(), [&](std::size_t f, int) {
        coded.columns[f] = categories[f] > 0
                               ? code_categories(table.columns[f], table.rows, categories[f])
                               : code_values(table.columns[f], table.rows);
    });
    return coded;
}

CodedTable CodedTable::binned(const Table& table, std::span<const FeatureBins> bins, Isa isa,
                              Team& team) {
    CodedTable coded = of_bins(bins, table.rows);
    coded.append(table, bins, 0, isa, team);
    return coded;
}

CodedTable CodedTable::of_bins(std::span<const FeatureBins> bins, std::size_t rows,
                               const std::string& folder) {
    CodedTable coded;
    coded.rows = rows;
    coded.columns.resize(bins.size());
    for (std::size_t f = 0; f < bins.size(); ++f) {
        CodedColumn& column = coded.columns[f];
        column.categorical = bins[f].categorical;
        column.edges = bins[f].edges;
        column.codes = bins[f].bins();
        allocate(column, rows, folder);
    }
    return coded;
}

void CodedTable::append(const Table& batch, std::span<const FeatureBins> bins,
                        std::size_t first_row, Isa isa, Team& team) {
    const BinKernels& kernels = select_bin_kernels(isa);
    team.run(columns.size(), [&](std::size_t f, int) {
        CodedColumn& column = columns[f];
        if (column.categorical) {
            put_categories(column, batch.columns[f], batch.rows, first_row);
            return;
        }
        ColumnBinner binner(bins[f]);
        std::vector<double> scratch(kBlockRows);
        for (std::size_t index = 0; index < block_count(batch.rows); ++index) {
            Range range = block_range(batch.rows, index);
            binner.bin(batch.columns[f], range.begin, range.size(), kernels, scratch.data(),
                       column.narrow.data() + first_row + range.begin, nullptr);
        }
    });
}

}  // namespace bosquet
