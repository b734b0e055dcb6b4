// Haar features: weighted sums over two or three rectangles of a window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bosquet {

struct WindowSize {
    std::size_t width, height;

    std::size_t step() const { return width + 1; }  // row length of its integral images
    std::size_t entries() const { return step() * (height + 1); }
};

// A tilted rectangle has its top corner at (x, y). From there one side goes `width` steps right and
// down, the other `height` steps left and down.
struct HaarRectangle {
    std::int32_t x, y, width, height;
};

// value = weight[0] S[0] + weight[1] S[1] (+ weight[2] S[2] if weight[2] is not 0), in single
// precision and in this order, where S[k] is the sum over rectangle k.
struct HaarFeature {
    static constexpr int kRectangles = 3;

    HaarRectangle rectangle[kRectangles];
    float weight[kRectangles];
    bool tilted;

    bool has(int k) const { return k == 0 || weight[k] != 0; }
};

// Offsets into the integral image: the sum is entry 0 minus entries 1 and 2 plus entry 3.
struct HaarCorners {
    std::uint32_t offset[4];
};
HaarCorners corners_of(const HaarRectangle& rectangle, bool tilted, WindowSize window);

// Throws InputError that names the first feature with a rectangle that is not inside the window, or
// with a weight that is NaN or too large.
void check_features(std::span<const HaarFeature> features, WindowSize window);

}  // namespace bosquet
