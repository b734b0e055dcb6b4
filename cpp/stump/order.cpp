#include "stump/order.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "parallel/team.hpp"

namespace bosquet {

namespace {

// An unsigned integer with the same order as the value.
std::uint64_t key_of(double value) {
    auto bits = std::bit_cast<std::uint64_t>(value + 0.0);  // -0 becomes 0: both count as one value
    return bits >> 63 ? ~bits : bits | std::uint64_t{1} << 63;
}

std::uint32_t key_of(float value) {
    auto bits = std::bit_cast<std::uint32_t>(value + 0.0f);
    return bits >> 31 ? ~bits : bits | std::uint32_t{1} << 31;
}

constexpr std::uint64_t kHigh = 0xffffffff00000000;

// An item consists of the upper half of a row's key and the row number.
std::uint64_t item(std::uint64_t key, std::size_t row) { return (key & kHigh) | row; }

void read_items(const Column& column, std::size_t rows, SortBuffers& buffers) {
    buffers.items.clear();
    buffers.missing.clear();
    buffers.keys.clear();
    bool narrow = column.type == ColumnType::f32;
    buffers.block.resize(kBlockRows);
    if (!narrow) buffers.keys.resize(rows);
    for (std::size_t index = 0; index < block_count(rows); ++index) {
        Range range = block_range(rows, index);
        auto* floats = reinterpret_cast<float*>(buffers.block.data());
        if (narrow)
            read_column(column, range.begin, range.size(), floats);
        else
            read_column(column, range.begin, range.size(), buffers.block.data());
        for (std::size_t i = 0; i < range.size(); ++i) {
            std::size_t row = range.begin + i;
            if (narrow ? std::isnan(floats[i]) : std::isnan(buffers.block[i])) {
                buffers.missing.push_back(static_cast<std::uint32_t>(row));
            } else if (narrow) {
                buffers.items.push_back(item(std::uint64_t{key_of(floats[i])} << 32, row));
            } else {
                buffers.keys[row] = key_of(buffers.block[i]);
                buffers.items.push_back(item(buffers.keys[row], row));
            }
        }
    }
}

// Radix sort by the upper half with eleven bits per pass, lowest first. Passes in which all items
// have the same digit are skipped. Items with the same upper half stay in the order of their rows.
void sort_by_upper_half(std::vector<std::uint64_t>& items, std::vector<std::uint64_t>& other) {
    constexpr int kBits = 11, kDigits = 3;
    constexpr std::size_t kBuckets = std::size_t{1} << kBits;
    auto digit = [](std::uint64_t item, int which) {
        return item >> (32 + kBits * which) & (kBuckets - 1);
    };
    std::array<std::array<std::uint32_t, kBuckets>, kDigits> starts{};
    for (std::uint64_t item : items)
        for (int which = 0; which < kDigits; ++which) ++starts[which][digit(item, which)];
    other.resize(items.size());
    for (int which = 0; which < kDigits; ++which) {
        auto& start = starts[which];
        if (start[digit(items[0], which)] == items.size()) continue;
        std::uint32_t begin = 0;
        for (std::uint32_t& entry : start) begin += std::exchange(entry, begin);
        for (std::uint64_t item : items) other[start[digit(item, which)]++] = item;
        items.swap(other);
    }
}

// Sorts items with the same upper half by their full keys. There are few of them unless values are
// equal, in which case they are already in order.
void sort_by_lower_half(std::vector<std::uint64_t>& items, const std::vector<std::uint64_t>& keys) {
    auto key = [&](std::uint64_t item) { return keys[item & RowOrder::kRow]; };
    for (std::size_t begin = 0; begin < items.size();) {
        std::size_t end = begin + 1;
        bool in_order = true;
        for (; end < items.size() && (items[end] & kHigh) == (items[begin] & kHigh); ++end)
            in_order = in_order && key(items[end - 1]) <= key(items[end]);
        if (!in_order)
            std::sort(items.begin() + static_cast<std::ptrdiff_t>(begin),
                      items.begin() + static_cast<std::ptrdiff_t>(end),
                      [&](std::uint64_t a, std::uint64_t b) {
                          return key(a) != key(b) ? key(a) < key(b) : a < b;
                      });
        begin = end;
    }
}

}  // namespace

RowOrder sort_rows(const Column& column, std::size_t rows, SortBuffers& buffers) {
    read_items(column, rows, buffers);
    RowOrder order;
    order.rows = Buffer<std::uint32_t>(rows);
    order.present = buffers.items.size();
    if (!buffers.items.empty()) {
        sort_by_upper_half(buffers.items, buffers.other);
        if (!buffers.keys.empty()) sort_by_lower_half(buffers.items, buffers.keys);
    }
    auto equal_values = [&](std::uint64_t a, std::uint64_t b) {
        if (((a ^ b) & kHigh) != 0) return false;
        return buffers.keys.empty() ||
               buffers.keys[a & RowOrder::kRow] == buffers.keys[b & RowOrder::kRow];
    };
    for (std::size_t i = 0; i < order.present; ++i) {
        auto row = static_cast<std::uint32_t>(buffers.items[i]);
        bool last = i + 1 == order.present || !equal_values(buffers.items[i], buffers.items[i + 1]);
        order.distinct += last;
        order.rows[i] = last ? row | RowOrder::kLast : row;
    }
    std::copy(buffers.missing.begin(), buffers.missing.end(), order.rows.data() + order.present);
    return order;
}

}  // namespace bosquet
