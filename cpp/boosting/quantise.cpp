#include "boosting/quantise.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace bosquet {

namespace {

// The largest power of two s with s * sum + largest_error <= 2^31 - 1; `largest_error` is what
// rounding can add at most. The terms of `sum` were rounded too, to multiples of a unit that
// divides 1 / s. Rounding is monotone, so that a term and its multiple are on the same side of any
// multiple of 1 / s: the error of `sum` is a part of `largest_error`.
double packed_units_per_one(double sum, double largest_error) {
    if (!(sum > 0)) return 1;
    double limit = 2147483647.0 - largest_error - 1;
    int exponent = 0;
    std::frexp(limit / sum * (1 - 1e-9), &exponent);  // at least 2^(exponent - 1)
    return std::ldexp(1.0, exponent - 1);
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

GradientScale scale_for(const GradientRange& range, double absolute_g, double h, std::uint64_t rows,
                        Rounding rounding) {
    bool is_nearest = rounding == Rounding::nearest;
    double largest_error = static_cast<double>(rows) * (is_nearest ? 0.5 : 1.0);
    GradientScale scale;
    scale.gradient_unit = 1 / packed_units_per_one(absolute_g, largest_error);
    bool all_equal = range.min_h == range.max_h && range.min_h > 0;
    if (all_equal) {
        scale.hessian_unit = range.smallest_h();
        scale.min_hessian = scale.max_hessian = 1;
    } else {
        double factor = packed_units_per_one(h, largest_error);
        double smallest = range.smallest_h() * factor, largest = range.largest_h() * factor;
        scale.hessian_unit = 1 / factor;
        scale.min_hessian =
            static_cast<std::int32_t>(is_nearest ? std::nearbyint(smallest) : std::floor(smallest));
        scale.max_hessian =
            static_cast<std::int32_t>(is_nearest ? std::nearbyint(largest) : std::ceil(largest));
    }
    return scale;
}

}  // namespace bosquet
