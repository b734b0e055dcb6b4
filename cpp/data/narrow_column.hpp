// The bins of a feature with at most 255 of them, as kernels read them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bosquet {

// The bin of row i is at data[i * stride]: the stride is 1 in a column, and the number of bytes per
// row in a tile.
struct NarrowColumn {
    const std::uint8_t* data = nullptr;
    std::size_t stride = 1;

    [[gnu::always_inline]] std::uint8_t operator[](std::size_t row) const {
        return data[row * stride];
    }
};

}  // namespace bosquet
