// Chunks of the rows of a large node, which the threads process in parallel.
#pragma once

#include <algorithm>
#include <cstddef>

#include "grow/kernels.hpp"

namespace bosquet {

constexpr std::size_t kChunkRows = 8'192;  // a multiple of 64, the number of rows per word of marks

inline std::size_t chunk_count(std::size_t rows) { return (rows + kChunkRows - 1) / kChunkRows; }

inline RowSet chunk_of(RowSet rows, std::size_t chunk) {
    std::size_t begin = chunk * kChunkRows;
    return rows.part(begin, std::min(kChunkRows, rows.count - begin));
}

}  // namespace bosquet
