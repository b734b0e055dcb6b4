// Integral images of many windows, position by position.
//
// A feature reads the same few entries of every window. The entries of all windows at one position
// are contiguous here, so that computing a feature adds long arrays.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "parallel/team.hpp"
#include "vision/features.hpp"
#include "vision/integral.hpp"
#include "vision/training_kernels.hpp"

namespace bosquet {

// Contiguous windows of one size, row by row.
struct WindowStack {
    const std::uint8_t* pixels;
    std::size_t count;
    WindowSize size;

    GreyImage operator[](std::size_t i) const {
        return {pixels + i * size.width * size.height, size.width, size.height,
                static_cast<std::ptrdiff_t>(size.width)};
    }
};

// The contrasts of all windows.
std::vector<WindowContrast> contrasts_of(const WindowStack& windows, Team& team);

class WindowPlanes {
  public:
    // Uses the windows with the numbers in `order`, in this order. Without `normalise` every factor
    // is 1.
    WindowPlanes(const WindowStack& windows, std::span<const std::uint32_t> order, bool tilted,
                 bool normalise, Team& team);

    std::size_t count() const { return count_; }
    std::size_t stride() const { return stride_; }  // count, rounded up to whole groups of windows
    WindowSize window() const { return window_; }
    const float* factors() const { return factors_.data(); }

    // The planes of a feature's corners, for the kernels.
    CornerPlanes corners(const HaarFeature& feature) const;
    // The value of a feature for one window.
    static float value(const CornerPlanes& corners, const float* factors, std::size_t i);

  private:
    const std::int32_t* plane(bool tilted, std::uint32_t entry) const {
        return (tilted ? tilted_ : plain_).data() + entry * stride_;
    }

    WindowSize window_;
    std::size_t count_, stride_;
    Buffer<std::int32_t> plain_, tilted_;
    Buffer<float> factors_;
};

}  // namespace bosquet
