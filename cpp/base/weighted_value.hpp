// A value with its weight, for weighted quantiles and medians.
#pragma once

namespace bosquet {

struct WeightedValue {
    double value, weight;
};

}  // namespace bosquet
