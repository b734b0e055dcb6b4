// The number of rows that are predicted together by all trees.
#pragma once

#include <algorithm>
#include <cstddef>

#include "trees/kernels.hpp"

namespace bosquet {

// A chunk: the rows whose bytes fill a line.
inline std::size_t line_chunk_count(std::size_t rows) { return (rows + kLineRows - 1) / kLineRows; }

// Usually the data of a block of rows fits into the second-level cache.
struct BlockLimits {
    std::size_t rows, code_bytes, value_bytes;
};
constexpr BlockLimits kBlock = {512, 128 << 10, 256 << 10};
// Trees that are walked and take more than kDeepBytes are read from memory again for every block,
// which takes longer than the walk itself. Blocks are therefore larger: this halves the time for
// 100,000 rows and 100 trees of 26,000 nodes, and takes a fifth of it on codes.
constexpr BlockLimits kDeepBlock = {8192, 512 << 10, 4 << 20};
constexpr std::size_t kDeepBytes = 2 << 20;
// At least, so that no thread waits long for the last block.
constexpr std::size_t kBlocksPerThread = 4;

// The number of rows per block, if a row takes `value_bytes` and `code_bytes`.
inline std::size_t block_rows(std::size_t rows, int threads, bool deep, std::size_t value_bytes,
                              std::size_t code_bytes) {
    const BlockLimits& limits = deep ? kDeepBlock : kBlock;
    std::size_t share = rows / (kBlocksPerThread * static_cast<std::size_t>(threads));
    std::size_t count = std::min(rows, std::clamp(share, kBlock.rows, limits.rows));
    if (code_bytes > 0) count = std::min(count, limits.code_bytes / code_bytes);
    if (value_bytes > 0) count = std::min(count, limits.value_bytes / value_bytes);
    return std::max<std::size_t>(1, line_chunk_count(count)) * kLineRows;
}

}  // namespace bosquet
