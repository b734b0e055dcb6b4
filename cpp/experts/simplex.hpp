// Euclidean projection to the probability simplex.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <vector>

namespace bosquet {

// Projects `point` in place; `sorted` is a work array.
inline void project_to_simplex(std::vector<double>& point, std::vector<double>& sorted) {
    sorted = point;
    // A strict order of all doubles, including NaN, which std::sort needs.
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
