// Windows around the same object become one.
#pragma once

#include <cstdint>
#include <vector>

#include "vision/cascade.hpp"

namespace bosquet {

// A detection: where, how many windows agree, how many stages the best of them went through and the
// sum of its last one.
struct Detection {
    Box box;
    std::int32_t neighbors;
    std::uint32_t depth;
    double sum;
};

// Classes of similar windows (`tolerance` is the share of a side by which borders may differ),
// averaged; those of `min_neighbors` windows or fewer are dropped, and so are small ones inside
// larger ones that more windows agree on. The rule is OpenCV's groupRectangles. Classes come in the
// order of their first windows.
std::vector<Detection> group_windows(const std::vector<Detection>& windows,
                                     std::int32_t min_neighbors, double tolerance);

}  // namespace bosquet
