#pragma once
#include "losses/formula/formula.hpp"

namespace bosquet::inline BOSQUET_FORMULA_SET {

// Asymmetric least squares: q (y - f)^2 if f < y, otherwise (1 - q)(y - f)^2. `parameter` is q. The
// best constant is the q-expectile, which is the mean for q = 1/2.
struct Expectile : Formula {
    static constexpr Targets targets = Targets::any;
    static constexpr RawScale scale = RawScale::target;
    static constexpr ParameterRange parameter = {0, 1};
    static constexpr bool constant_from_mean = false;
    static constexpr bool increasing_in_parameter = true;
    static double side(double y, double f, double q) { return f > y ? 1.0 - q : q; }
    static Derivatives derivatives(double y, double f, double q) {
        double s = 2.0 * side(y, f, q);
        return {s * (f - y), s};
    }
    static double value(double y, double f, double q) {
        return side(y, f, q) * ((y - f) * (y - f));
    }
};

}  // namespace bosquet::inline BOSQUET_FORMULA_SET
