// Integral images: with these sums, the sum over any rectangle takes four look-ups.
//
// All have one row and one column more than the image. The entry at (x, y) is
// - plain: the sum of the pixels above and to the left, columns < x and rows < y
// - squared: the same for the squares of the pixels
// - tilted: the sum over the cone that opens upwards from the pixel (x - 1, y - 1) and widens by
//   one pixel on each side per row
// Sums of unsigned 32-bit integers wrap around, and so do their differences: the sum over a
// rectangle is correct as long as it fits into 32 bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vision/grey_image.hpp"

namespace bosquet {

// For T = std::uint32_t and std::int64_t. `stride` is the row length of `out` in elements, at least
// width + 1.
template <class T>
void integrate(const GreyImage& image, T* out, std::size_t stride);
template <class T>
void integrate_squares(const GreyImage& image, T* out, std::size_t stride);
template <class T>
void integrate_tilted(const GreyImage& image, T* out, std::size_t stride);

// The contrast of a window as in OpenCV's detector: sqrt(n sum(p^2) - sum(p)^2) over the n pixels
// that are not on its border, which is n times their standard deviation.
struct WindowContrast {
    float factor = 1;  // 1 / contrast, by which the detector multiplies feature values
    // A standard deviation of at most 10 grey levels; the detector rejects such windows.
    bool is_flat = true;
};
WindowContrast window_contrast(std::size_t area, std::int32_t sum, std::uint32_t squares);

}  // namespace bosquet
