#include "boosting/quantise.hpp"

#include <cmath>

namespace bosquet {

namespace {

// The largest power of two s with s * sum + rows / 2 <= 2^31 - 1.
double packed_units_per_one(double sum, std::size_t rows) {
    if (!(sum > 0)) return 1;
    double limit = 2147483647.0 - static_cast<double>(rows) / 2 - 1;
    return std::exp2(std::floor(std::log2(limit / sum * (1 - 1e-9))));
}

std::int32_t to_int32_units(float value, double factor) {
    return static_cast<std::int32_t>(std::nearbyint(static_cast<double>(value) * factor));
}

}  // namespace

GradientScale scale_for(const GradientSums& sums, std::size_t rows) {
    GradientScale scale;
    scale.gradient_unit = 1 / packed_units_per_one(sums.absolute_g, rows);
    bool all_equal = sums.min_h == sums.max_h && sums.min_h > 0;
    if (all_equal) {
        scale.hessian_unit = sums.min_h;
        scale.min_hessian = scale.max_hessian = 1;
    } else {
        double factor = packed_units_per_one(sums.h, rows);
        scale.hessian_unit = 1 / factor;
        scale.min_hessian = to_int32_units(sums.min_h, factor);
        scale.max_hessian = to_int32_units(sums.max_h, factor);
    }
    return scale;
}

}  // namespace bosquet
