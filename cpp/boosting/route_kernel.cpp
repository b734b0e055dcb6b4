#include <cstring>

#include "boosting/route.hpp"

namespace bosquet::BOSQUET_ISA {

namespace {

using Line = std::uint8_t __attribute__((vector_size(kRouteRows)));

inline Line load(const std::uint8_t* from) {
    Line line;
    std::memcpy(&line, from, sizeof line);
    return line;
}

template <class Bins>
inline Line look_up(Bins bins, std::size_t row, std::size_t count, const std::uint8_t* goes_left) {
    Line mask = {};
    for (std::size_t i = 0; i < count; ++i) mask[i] = goes_left[bins[row + i]] ? 0xff : 0;
    return mask;
}

inline Line load(NarrowColumn column, std::size_t row, std::size_t count) {
    if (column.stride == 1) return load(column.data + row);
    Line line = {};
    for (std::size_t i = 0; i < count; ++i) line[i] = column.data[(row + i) * column.stride];
    return line;
}

inline Line goes_left(const LineSplit& split, std::size_t row, std::size_t count) {
    if (split.wide_column != nullptr)
        return look_up(split.wide_column, row, count, split.goes_left);
    if (split.goes_left != nullptr) return look_up(split.column, row, count, split.goes_left);
    Line bins = load(split.column, row, count) - split.shift;
    Line bound = Line{} + split.bound;
    return (Line)(bins <= bound);
}

void route(const LineSplit* splits, std::size_t count, std::uint8_t* lines, std::size_t begin,
           std::size_t end, std::uint16_t* leaf_of_row) {
    for (std::size_t row = begin; row < end; row += kRouteRows) {
        std::size_t rows = end - row < kRouteRows ? end - row : kRouteRows;
        for (std::size_t i = 0; i < count; ++i) {
            const LineSplit& split = splits[i];
            Line mask = goes_left(split, row, rows);
            const std::uint8_t* left = lines + split.left * kRouteRows;
            Line picked = (load(left) & mask) | (load(left + kRouteRows) & ~mask);
            std::memcpy(lines + split.line * kRouteRows, &picked, sizeof picked);
        }
        for (std::size_t i = 0; i < rows; ++i) leaf_of_row[row + i] = lines[i];
    }
}

}  // namespace

const RouteKernels route_kernels = {route};

}  // namespace bosquet::BOSQUET_ISA
