#include "boosting/quantise.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace bosquet {

namespace {

// The largest power of two s with s * sum + rows / 2 <= 2^31 - 1.
double packed_units_per_one(double sum, std::uint64_t rows) {
    if (!(sum > 0)) return 1;
    double limit = 2147483647.0 - static_cast<double>(rows) / 2 - 1;
    int exponent = 0;
    std::frexp(limit / sum * (1 - 1e-9), &exponent);  // at least 2^(exponent - 1)
    return std::ldexp(1.0, exponent - 1);
}

std::int32_t to_int32_units(float value, double factor) {
    return static_cast<std::int32_t>(std::nearbyint(static_cast<double>(value) * factor));
}

}  // namespace

void GradientRange::include(const GradientRange& other) {
    max_g = std::max(max_g, other.max_g);
    min_h = std::min(min_h, other.min_h);
    max_h = std::max(max_h, other.max_h);
}

void GradientRange::check() const {
    constexpr std::uint32_t kLargestFinite = 0x7f7fffff;
    if (max_g > kLargestFinite || max_h > kLargestFinite) throw InputError(kBadGradients);
}

GradientScale scale_for(const GradientRange& range, double absolute_g, double h,
                        std::uint64_t rows) {
    GradientScale scale;
    scale.gradient_unit = 1 / packed_units_per_one(absolute_g, rows);
    bool all_equal = range.min_h == range.max_h && range.min_h > 0;
    if (all_equal) {
        scale.hessian_unit = range.smallest_h();
        scale.min_hessian = scale.max_hessian = 1;
    } else {
        double factor = packed_units_per_one(h, rows);
        scale.hessian_unit = 1 / factor;
        scale.min_hessian = to_int32_units(range.smallest_h(), factor);
        scale.max_hessian = to_int32_units(range.largest_h(), factor);
    }
    return scale;
}

}  // namespace bosquet
