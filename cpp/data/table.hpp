// Columns of input data: a view of the caller's memory with any numeric type and any stride.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bosquet {

enum class ColumnType : std::uint8_t { f32, f64, i8, i16, i32, i64, u8, u16, u32, u64 };

struct Column {
    const std::byte* data = nullptr;
    std::ptrdiff_t stride = 0;  // bytes from one row to the next
    ColumnType type = ColumnType::f64;
};

struct Table {
    std::size_t rows = 0;
    std::vector<Column> columns;
};

// Rows [begin, begin + count) as doubles; NaN is a missing value. Integers beyond 2^53 are rounded.
void read_column(const Column& column, std::size_t begin, std::size_t count, double* out);

// The same for a float column, without widening.
void read_column(const Column& column, std::size_t begin, std::size_t count, float* out);

double read_value(const Column& column, std::size_t row);

}  // namespace bosquet
