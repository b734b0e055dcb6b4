// A view of an image of grey levels.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bosquet {

struct GreyImage {
    const std::uint8_t* pixels;
    std::size_t width, height;
    std::ptrdiff_t stride;  // pixels from one row to the next

    const std::uint8_t* row(std::size_t y) const {
        return pixels + static_cast<std::ptrdiff_t>(y) * stride;
    }
};

}  // namespace bosquet
