// Integral images of many windows, place by place.
//
// A feature looks up the same few places of every window. What all windows have at one place lies
// together here, so that a feature's values are additions of long arrays.
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

// Windows of one size, one after the other, row by row.
struct WindowStack {
    const std::uint8_t* pixels;
    std::size_t count;
    WindowSize size;

    GreyImage operator[](std::size_t i) const {
        return {pixels + i * size.width * size.height, size.width, size.height, size.width};
    }
};

// The contrast of each window.
std::vector<WindowContrast> contrasts_of(const WindowStack& windows, Team& team);

class WindowPlanes {
  public:
    // The windows `order`, in this order. Without `normalise` every factor is 1.
    WindowPlanes(const WindowStack& windows, std::span<const std::uint32_t> order, bool tilted,
                 bool normalise, Team& team);

    std::size_t count() const { return count_; }
    std::size_t stride() const { return stride_; }  // count, rounded up to whole vectors
    WindowSize window() const { return window_; }
    const float* factors() const { return factors_.data(); }

    // Where a feature's corners are, for the kernels.
    CornerPlanes corners(const HaarFeature& feature) const;
    // The value of one window.
    static float value(const CornerPlanes& corners, const float* factors, std::size_t i);

  private:
    const std::int32_t* plane(bool tilted, std::uint32_t place) const {
        return (tilted ? tilted_ : plain_).data() + place * stride_;
    }

    WindowSize window_;
    std::size_t count_, stride_;
    Buffer<std::int32_t> plain_, tilted_;
    Buffer<float> factors_;
};

}  // namespace bosquet
