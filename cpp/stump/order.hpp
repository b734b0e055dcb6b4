// The rows in the order of a column's values. This single sort makes every later search linear.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/buffer.hpp"
#include "data/table.hpp"

namespace bosquet {

// A number t with a <= t < b: the midpoint if it is representable.
inline double threshold_between(double a, double b) {
    double middle = a / 2 + b / 2;
    return middle >= a && middle < b ? middle : a;
}

// Row numbers by ascending value, then the rows whose value is missing. A row number has 31 bits;
// the highest bit marks the last row of each value.
struct RowOrder {
    static constexpr std::uint32_t kLast = 1u << 31;
    static constexpr std::uint32_t kRow = kLast - 1;

    Buffer<std::uint32_t> rows;
    std::size_t present = 0;   // number of rows whose value is not missing
    std::size_t distinct = 0;  // number of distinct values

    bool has_missing() const { return present < rows.size(); }
};

// Reusable buffers for sorting.
struct SortBuffers {
    std::vector<std::uint64_t> items, other, keys;
    std::vector<std::uint32_t> missing;
    std::vector<double> block;
};

RowOrder sort_rows(const Column& column, std::size_t rows, SortBuffers& buffers);

}  // namespace bosquet
