#include "vision/planes.hpp"

#include <algorithm>

namespace bosquet {

namespace {

// Windows that are integrated together: their entries at one position then fill a cache line.
constexpr std::size_t kGroupWindows = 16;

WindowContrast contrast_of(const GreyImage& image, const std::uint32_t* sum,
                           const std::uint32_t* squares) {
    WindowSize window{image.width, image.height};
    HaarRectangle inner{1, 1, static_cast<std::int32_t>(image.width) - 2,
                        static_cast<std::int32_t>(image.height) - 2};
    HaarCorners corners = corners_of(inner, false, window);
    const std::uint32_t* at = corners.offset;
    auto over = [&](const std::uint32_t* t) { return t[at[0]] - t[at[1]] - t[at[2]] + t[at[3]]; };
    return window_contrast((image.width - 2) * (image.height - 2),
                           static_cast<std::int32_t>(over(sum)), over(squares));
}

// Transposes the entries of 16 windows, from window by window to position by position.
void transpose(const std::vector<std::uint32_t>& by_window, std::size_t entries, std::int32_t* out,
               std::size_t stride) {
    for (std::size_t entry = 0; entry < entries; ++entry)
        for (std::size_t lane = 0; lane < kGroupWindows; ++lane)
            out[entry * stride + lane] =
                static_cast<std::int32_t>(by_window[lane * entries + entry]);
}

}  // namespace

std::vector<WindowContrast> contrasts_of(const WindowStack& windows, Team& team) {
    std::vector<WindowContrast> contrasts(windows.count);
    std::size_t tasks = (windows.count + kGroupWindows - 1) / kGroupWindows;
    team.run(tasks, [&](std::size_t task, int) {
        std::vector<std::uint32_t> sum(windows.size.entries()), squares(sum.size());
        std::size_t end = std::min((task + 1) * kGroupWindows, windows.count);
        for (std::size_t i = task * kGroupWindows; i < end; ++i) {
            integrate(windows[i], sum.data(), windows.size.step());
            integrate_squares(windows[i], squares.data(), windows.size.step());
            contrasts[i] = contrast_of(windows[i], sum.data(), squares.data());
        }
    });
    return contrasts;
}

WindowPlanes::WindowPlanes(const WindowStack& windows, std::span<const std::uint32_t> order,
                           bool tilted, bool normalise, Team& team)
    : window_(windows.size),
      count_(order.size()),
      stride_((order.size() + kGroupWindows - 1) / kGroupWindows * kGroupWindows),
      plain_(window_.entries() * stride_),
      tilted_(tilted ? plain_.size() : 0),
      factors_(stride_) {
    std::size_t entries = window_.entries(), step = window_.step();
    team.run(stride_ / kGroupWindows, [&](std::size_t task, int) {
        std::vector<std::uint32_t> plain(kGroupWindows * entries),
            tilted_sums(tilted ? plain.size() : 0);
        std::vector<std::uint32_t> squares(entries);
        std::size_t first = task * kGroupWindows;
        for (std::size_t lane = 0; lane < kGroupWindows; ++lane) {
            factors_[first + lane] = 1;
            if (first + lane >= count_) continue;
            GreyImage image = windows[order[first + lane]];
            std::uint32_t* sum = plain.data() + lane * entries;
            integrate(image, sum, step);
            if (tilted) integrate_tilted(image, tilted_sums.data() + lane * entries, step);
            if (!normalise) continue;
            integrate_squares(image, squares.data(), step);
            factors_[first + lane] = contrast_of(image, sum, squares.data()).factor;
        }
        transpose(plain, entries, plain_.data() + first, stride_);
        if (tilted) transpose(tilted_sums, entries, tilted_.data() + first, stride_);
    });
}

CornerPlanes WindowPlanes::corners(const HaarFeature& feature) const {
    CornerPlanes planes{};
    for (int k = 0; k < HaarFeature::kRectangles && feature.has(k); ++k) {
        HaarCorners corners = corners_of(feature.rectangle[k], feature.tilted, window_);
        for (int c = 0; c < 4; ++c) planes.plane[k][c] = plane(feature.tilted, corners.offset[c]);
        planes.weight[k] = feature.weight[k];
        planes.rectangles = k + 1;
    }
    return planes;
}

float WindowPlanes::value(const CornerPlanes& corners, const float* factors, std::size_t i) {
    float value = 0;
    for (int k = 0; k < corners.rectangles; ++k) {
        const std::int32_t* const* at = corners.plane[k];
        auto sum = static_cast<float>(at[0][i] - at[1][i] - at[2][i] + at[3][i]);
        float part = corners.weight[k] * sum;
        value = k == 0 ? part : value + part;
    }
    return value * factors[i];
}

}  // namespace bosquet
