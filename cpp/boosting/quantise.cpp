#include "boosting/quantise.hpp"

#include <cmath>

namespace bosquet {

namespace {

// The largest power of two s with s * sum + rows / 2 <= 2^31 - 1.
double per_unit(double sum, std::size_t rows) {
    if (!(sum > 0)) return 1;
    double room = 2147483647.0 - static_cast<double>(rows) / 2 - 1;
    return std::exp2(std::floor(std::log2(room / sum * (1 - 1e-9))));
}

std::int32_t in_units(float value, double per) {
    return static_cast<std::int32_t>(std::nearbyint(static_cast<double>(value) * per));
}

}  // namespace

GradientScale scale_for(const PairSums& sums, std::size_t rows) {
    GradientScale scale;
    scale.gradient_unit = 1 / per_unit(sums.absolute_g, rows);
    bool alike = sums.least_h == sums.greatest_h && sums.least_h > 0;
    if (alike) {
        scale.hessian_unit = sums.least_h;
        scale.least_hessian = scale.greatest_hessian = 1;
    } else {
        double per = per_unit(sums.h, rows);
        scale.hessian_unit = 1 / per;
        scale.least_hessian = in_units(sums.least_h, per);
        scale.greatest_hessian = in_units(sums.greatest_h, per);
    }
    return scale;
}

}  // namespace bosquet
