// A decision stump: one split on one feature, with values on both sides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "trees/tree.hpp"

namespace bosquet {

struct Stump {
    static constexpr std::int32_t kConstant = -1;

    std::int32_t feature = kConstant;  // kConstant: the same prediction for every row
    bool categorical = false;
    bool missing_left = true;
    double threshold = std::numeric_limits<double>::infinity();  // values <= threshold go left
    std::vector<std::uint32_t>
        left_categories;         // categorical feature: codes that go left, ascending
    std::vector<double> values;  // one per output: left side, then right side
    double criterion_value = 0;  // smaller is better
    double gain = 0;             // decrease compared with the best constant
    double rows = 0;             // number of training rows, and of those on the left
    double left_rows = 0;

    bool is_constant() const { return feature == kConstant; }
    std::size_t outputs() const { return values.size() / 2; }
    std::span<const double> side(bool right) const {
        return {values.data() + (right ? outputs() : 0), outputs()};
    }
    bool goes_left(double value) const;
};

// Adds the stump to the ensemble as a tree of depth 1 (0 for a constant) whose leaves hold `values`
// times `scale`: as many values as the stump has, or twice the number of outputs of the ensemble.
void append_stump(const Stump& stump, std::span<const double> values, double scale,
                  Ensemble& ensemble);

}  // namespace bosquet
