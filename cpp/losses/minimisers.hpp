// The constants that minimise a loss over the rows of groups, such as the leaves of a tree.
//
// If the rows are divided into parts, each part has some rows of each group, and all groups are
// processed in step, so that the parts exchange one message for all of them.
#pragma once

#include <cstdint>
#include <vector>

#include "base/weighted_value.hpp"
#include "losses/formula/formula.hpp"
#include "parallel/reducer.hpp"

namespace bosquet {

using WeightedGroups = std::vector<std::vector<WeightedValue>>;

// The weighted mean of each group; 0 for a group without weight.
std::vector<double> weighted_means(const WeightedGroups& groups, Reducer& reducer);

// The weighted quantile of each group: a share `level` of the weight lies below it; 0 for an empty
// group. Reorders the values.
std::vector<double> weighted_quantiles(WeightedGroups& groups, double level, Reducer& reducer);

// A row: target, raw prediction and weight.
struct Point {
    double y, f, w;
};
using PointGroups = std::vector<std::vector<Point>>;

// A convex loss as a function of a constant that is added to raw predictions.
struct ConvexLoss {
    Derivatives (*derivatives)(double y, double f, double parameter);
    double parameter;
    // Whether the constant is a logarithm or a margin, whose best value may be infinite.
    bool unitless;
};

// The constant of each group at which the derivative of its loss is zero.
std::vector<double> best_shifts(const PointGroups& groups, const ConvexLoss& loss,
                                Reducer& reducer);

}  // namespace bosquet
