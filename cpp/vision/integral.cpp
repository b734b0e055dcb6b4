#include "vision/integral.hpp"

#include <algorithm>
#include <cmath>

namespace bosquet {

namespace {

template <class T, class Transform>
void integrate_rows(const GreyImage& image, T* out, std::size_t stride, Transform transform) {
    std::fill_n(out, image.width + 1, T{0});
    for (std::size_t y = 0; y < image.height; ++y) {
        const std::uint8_t* pixels = image.row(y);
        const T* above = out + y * stride;
        T* row = out + (y + 1) * stride;
        T row_sum = 0;
        row[0] = 0;
        for (std::size_t x = 0; x < image.width; ++x) {
            row_sum += transform(T{pixels[x]});
            row[x + 1] = above[x + 1] + row_sum;
        }
    }
}

}  // namespace

template <class T>
void integrate(const GreyImage& image, T* out, std::size_t stride) {
    integrate_rows(image, out, stride, [](T pixel) { return pixel; });
}

template <class T>
void integrate_squares(const GreyImage& image, T* out, std::size_t stride) {
    integrate_rows(image, out, stride, [](T pixel) { return pixel * pixel; });
}

// The cones of the two neighbours above cover the cone of an entry except for two pixels of its own
// column; their intersection is the cone two rows up. There are no pixels outside the image, so
// that the cone of a neighbour outside equals the cone two rows up, and both cancel.
template <class T>
void integrate_tilted(const GreyImage& image, T* out, std::size_t stride) {
    std::size_t width = image.width;
    std::fill_n(out, width + 1, T{0});
    for (std::size_t y = 1; y <= image.height; ++y) {
        const std::uint8_t* pixels = image.row(y - 1);
        const std::uint8_t* pixels_above = y > 1 ? image.row(y - 2) : nullptr;
        const T* above = out + (y - 1) * stride;
        const T* two_above = y > 1 ? above - stride : above;  // both are 0 for the first row
        T* row = out + y * stride;
        auto own = [&](std::size_t x) {
            T sum{pixels[x - 1]};
            return pixels_above == nullptr ? sum : static_cast<T>(sum + T{pixels_above[x - 1]});
        };
        row[0] = above[1];
        for (std::size_t x = 1; x < width; ++x)
            row[x] = above[x - 1] + above[x + 1] - two_above[x] + own(x);
        row[width] = above[width - 1] + own(width);
    }
}

template void integrate<std::uint32_t>(const GreyImage&, std::uint32_t*, std::size_t);
template void integrate<std::int64_t>(const GreyImage&, std::int64_t*, std::size_t);
template void integrate_squares<std::uint32_t>(const GreyImage&, std::uint32_t*, std::size_t);
template void integrate_squares<std::int64_t>(const GreyImage&, std::int64_t*, std::size_t);
template void integrate_tilted<std::uint32_t>(const GreyImage&, std::uint32_t*, std::size_t);
template void integrate_tilted<std::int64_t>(const GreyImage&, std::int64_t*, std::size_t);

WindowContrast window_contrast(std::size_t area, std::int32_t sum, std::uint32_t squares) {
    auto count = static_cast<double>(area);
    double spread = count * squares - static_cast<double>(sum) * sum;
    if (!(spread > 0)) return {};
    auto factor = static_cast<float>(1 / std::sqrt(spread));
    return {factor, !(count * factor < 0.1)};
}

}  // namespace bosquet
