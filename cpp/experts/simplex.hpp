// The point of the probability simplex nearest to a given one.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <vector>

namespace bosquet {

// In place; `sorted` is room to work in.
inline void project_to_simplex(std::vector<double>& point, std::vector<double>& sorted) {
    sorted = point;
    // An order of all doubles, NaN included, which std::sort relies on.
    std::sort(sorted.begin(), sorted.end(),
              [](double a, double b) { return std::strong_order(a, b) > 0; });
    double total = 0, shift = 0;
    for (std::size_t k = 0; k < sorted.size(); ++k) {
        total += sorted[k];
        double candidate = (total - 1) / static_cast<double>(k + 1);
        if (sorted[k] - candidate > 0) shift = candidate;
    }
    for (double& value : point) value = value > shift ? value - shift : 0.0;
}

}  // namespace bosquet
