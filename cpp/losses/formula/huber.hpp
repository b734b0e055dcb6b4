#pragma once
#include "losses/formula/formula.hpp"

namespace bosquet::inline BOSQUET_FORMULA_SET {

// Squared error up to a distance delta from the target, linear beyond. `parameter` is delta, which
// is set in each round to a quantile of the absolute residuals (Friedman 2001).
struct Huber : Formula {
    static constexpr Targets targets = Targets::any;
    static constexpr RawScale scale = RawScale::target;
    static constexpr ParameterRange parameter = {0, 1};
    static constexpr bool constant_hessian = true;
    static constexpr bool uses_newton_steps = false;
    static constexpr bool constant_from_mean = false;
    static Derivatives derivatives(double y, double f, double delta) {
        double r = f - y;
        double clipped = r > delta ? delta : (r < -delta ? -delta : r);
        return {clipped, 1.0};
    }
    static double value(double y, double f, double delta) {
        double r = f > y ? f - y : y - f;
        return r <= delta ? r * r / 2 : delta * (r - delta / 2);
    }
};

}  // namespace bosquet::inline BOSQUET_FORMULA_SET
