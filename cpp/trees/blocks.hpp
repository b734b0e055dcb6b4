// How many rows go through all trees together.
#pragma once

#include <algorithm>
#include <cstddef>

#include "trees/kernels.hpp"

namespace bosquet {

inline std::size_t chunks_of(std::size_t rows) { return (rows + kLineRows - 1) / kLineRows; }

// As a rule what a block of rows works on stays in the second-level cache.
struct BlockLimits {
    std::size_t rows, code_bytes, value_bytes;
};
constexpr BlockLimits kBlock = {512, 128 << 10, 256 << 10};
// Trees that are walked, if they take more than kDeepBytes, come from memory anew for every block,
// which then takes longer than walking: blocks are larger. 100,000 rows go down 100 trees of 26,000
// nodes in half the time by that, and on codes in a fifth.
constexpr BlockLimits kDeepBlock = {8192, 512 << 10, 4 << 20};
constexpr std::size_t kDeepBytes = 2 << 20;
constexpr std::size_t kBlocksPerThread = 4;  // at least, so that none waits long for the last

// How many rows of `value_bytes` and `code_bytes` each make a block.
inline std::size_t block_rows(std::size_t rows, int threads, bool deep, std::size_t value_bytes,
                              std::size_t code_bytes) {
    const BlockLimits& limits = deep ? kDeepBlock : kBlock;
    std::size_t share = rows / (kBlocksPerThread * static_cast<std::size_t>(threads));
    std::size_t count = std::min(rows, std::clamp(share, kBlock.rows, limits.rows));
    if (code_bytes > 0) count = std::min(count, limits.code_bytes / code_bytes);
    if (value_bytes > 0) count = std::min(count, limits.value_bytes / value_bytes);
    return std::max<std::size_t>(1, chunks_of(count)) * kLineRows;
}

}  // namespace bosquet
