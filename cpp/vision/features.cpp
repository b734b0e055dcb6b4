#include "vision/features.hpp"

#include <cmath>
#include <string>

#include "base/error.hpp"

namespace bosquet {

namespace {

constexpr float kMaxWeight = 1e6F;  // larger weights could overflow the values

bool is_inside(const HaarRectangle& r, bool tilted, WindowSize window) {
    auto width = static_cast<std::int64_t>(window.width);
    auto height = static_cast<std::int64_t>(window.height);
    std::int64_t x = r.x, y = r.y, w = r.width, h = r.height;
    if (x < 0 || y < 0 || w < 1 || h < 1) return false;
    if (tilted) return x - h >= 0 && x + w <= width && y + w + h <= height;
    return x + w <= width && y + h <= height;
}

}  // namespace

HaarCorners corners_of(const HaarRectangle& rectangle, bool tilted, WindowSize window) {
    std::int64_t x = rectangle.x, y = rectangle.y, w = rectangle.width, h = rectangle.height;
    auto offset = [&](std::int64_t column, std::int64_t row) {
        return static_cast<std::uint32_t>(row * static_cast<std::int64_t>(window.step()) + column);
    };
    if (tilted)
        return {{offset(x, y), offset(x - h, y + h), offset(x + w, y + w),
                 offset(x + w - h, y + w + h)}};
    return {{offset(x, y), offset(x + w, y), offset(x, y + h), offset(x + w, y + h)}};
}

void check_features(std::span<const HaarFeature> features, WindowSize window) {
    for (std::size_t f = 0; f < features.size(); ++f)
        for (int k = 0; k < HaarFeature::kRectangles; ++k) {
            const HaarFeature& feature = features[f];
            if (!(std::abs(feature.weight[k]) <= kMaxWeight))
                throw InputError("feature " + std::to_string(f) +
                                 " has a weight that is NaN or larger than a million");
            if (feature.has(k) && !is_inside(feature.rectangle[k], feature.tilted, window))
                throw InputError("rectangle " + std::to_string(k) + " of feature " +
                                 std::to_string(f) + " is not inside the window of " +
                                 std::to_string(window.width) + " x " +
                                 std::to_string(window.height) + " pixels");
        }
}

}  // namespace bosquet
