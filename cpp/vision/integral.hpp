// Integral images: sums over pixels that make the sum over any rectangle four look-ups.
//
// All have a row and a column more than the image. At (x, y):
//   plain    the sum of the pixels above and to the left, columns < x and rows < y
//   squared  the same of their squares
//   tilted   the sum over the cone that opens upwards from the pixel (x - 1, y - 1), one pixel
//   wider
//            on either side with each row
// Sums of unsigned 32-bit numbers wrap around, and so do their differences: the sum over a
// rectangle is right as long as that itself fits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bosquet {

struct GreyImage {
    const std::uint8_t* pixels;
    std::size_t width, height;
    std::size_t stride;  // pixels from one row to the next
};

// For T = std::uint32_t and std::int64_t. `stride` is that of `out`, in elements: at least width
// + 1.
template <class T>
void integrate(const GreyImage& image, T* out, std::size_t stride);
template <class T>
void integrate_squares(const GreyImage& image, T* out, std::size_t stride);
template <class T>
void integrate_tilted(const GreyImage& image, T* out, std::size_t stride);

// The contrast of a window, as OpenCV's detector takes it: over the pixels that are not on its rim,
// n of them, the root of n sum(p^2) - sum(p)^2, which is n times their standard deviation.
struct WindowContrast {
    float factor = 1;  // 1 over it; what the detector multiplies a feature's value with
    bool is_flat =
        true;  // a deviation of at most 10 grey levels: the detector passes such windows by
};
WindowContrast window_contrast(std::size_t area, std::int32_t sum, std::uint32_t squares);

}  // namespace bosquet
