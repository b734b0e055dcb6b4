// The bounds on the values of nodes that follow from monotone constraints.
#pragma once

#include <algorithm>
#include <limits>

namespace bosquet {

struct ValueBounds {
    double lower = -std::numeric_limits<double>::infinity();
    double upper = std::numeric_limits<double>::infinity();
};

// Bounds the children of a monotone split by the midpoint of their values. `direction` is -1 or +1.
inline void bound_children(int direction, double left_value, double right_value, ValueBounds& left,
                           ValueBounds& right) {
    double middle = (left_value + right_value) / 2;
    ValueBounds& low = direction > 0 ? left : right;
    ValueBounds& high = direction > 0 ? right : left;
    low.upper = std::min(low.upper, middle);
    high.lower = std::max(high.lower, middle);
}

}  // namespace bosquet
