// A stump: one question about one feature, and what is said on either side of it.
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

    std::int32_t feature = kConstant;  // kConstant: a rule that says the same of every row
    bool nominal = false;
    bool missing_left = true;
    double threshold = std::numeric_limits<double>::infinity();  // values up to it go left
    std::vector<std::uint32_t> left_categories;                  // of a nominal feature, ascending
    std::vector<double> values;  // one an output: of the left side, then of the right
    double merit = 0;            // the value of its criterion; less is better
    double gain = 0;             // by how much that is less than the best constant's
    double rows = 0;             // it was learned on, and those of them that went left
    double left_rows = 0;

    bool is_constant() const { return feature == kConstant; }
    std::size_t outputs() const { return values.size() / 2; }
    std::span<const double> side(bool right) const {
        return {values.data() + (right ? outputs() : 0), outputs()};
    }
    bool goes_left(double value) const;
};

// Adds the stump to the ensemble as a tree of depth 1 (0 for a constant) whose leaves hold `values`
// times `scale`: as many values as the stump's own, or as two times the ensemble's outputs.
void append_stump(const Stump& stump, std::span<const double> values, double scale,
                  Ensemble& ensemble);

}  // namespace bosquet
