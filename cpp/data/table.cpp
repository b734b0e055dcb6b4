#include "data/table.hpp"

#include <cstring>

namespace bosquet {

namespace {

template <class T, class Out>
void copy_strided(const Column& column, std::size_t begin, std::size_t count, Out* out) {
    const std::byte* at = column.data + static_cast<std::ptrdiff_t>(begin) * column.stride;
    for (std::size_t i = 0; i < count; ++i, at += column.stride) {
        T value;
        std::memcpy(&value, at, sizeof(T));
        out[i] = static_cast<Out>(value);
    }
}

}  // namespace

void read_column(const Column& column, std::size_t begin, std::size_t count, double* out) {
    switch (column.type) {
        case ColumnType::f32:
            return copy_strided<float>(column, begin, count, out);
        case ColumnType::f64:
            return copy_strided<double>(column, begin, count, out);
        case ColumnType::i8:
            return copy_strided<std::int8_t>(column, begin, count, out);
        case ColumnType::i16:
            return copy_strided<std::int16_t>(column, begin, count, out);
        case ColumnType::i32:
            return copy_strided<std::int32_t>(column, begin, count, out);
        case ColumnType::i64:
            return copy_strided<std::int64_t>(column, begin, count, out);
        case ColumnType::u8:
            return copy_strided<std::uint8_t>(column, begin, count, out);
        case ColumnType::u16:
            return copy_strided<std::uint16_t>(column, begin, count, out);
        case ColumnType::u32:
            return copy_strided<std::uint32_t>(column, begin, count, out);
        case ColumnType::u64:
            return copy_strided<std::uint64_t>(column, begin, count, out);
    }
}

void read_column(const Column& column, std::size_t begin, std::size_t count, float* out) {
    copy_strided<float>(column, begin, count, out);
}

double read_value(const Column& column, std::size_t row) {
    double value = 0;
    read_column(column, row, 1, &value);
    return value;
}

}  // namespace bosquet
