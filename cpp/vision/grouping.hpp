// Groups windows around the same object.
#pragma once

#include <cstdint>
#include <vector>

#include "vision/cascade.hpp"

namespace bosquet {

// A detection: its box, the number of windows grouped into it, and the depth (number of stages
// passed) and the last sum of the best of them.
struct Detection {
    Box box;
    std::int32_t neighbors;
    std::uint32_t depth;
    double sum;
};

// Averages groups of similar windows; `tolerance` is the share of a side by which borders may
// differ. Groups of at most `min_neighbors` windows are dropped, and so are small groups inside
// larger ones with more windows. This is the rule of OpenCV's groupRectangles. Groups are returned
// in the order of their first windows.
std::vector<Detection> group_windows(const std::vector<Detection>& windows,
                                     std::int32_t min_neighbors, double tolerance);

}  // namespace bosquet
