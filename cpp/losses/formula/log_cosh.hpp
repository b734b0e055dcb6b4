#pragma once
#include "losses/formula/formula.hpp"

namespace bosquet::inline BOSQUET_FORMULA_SET {

// log cosh(f - y): squared near the target, absolute far from it, smooth in between.
struct LogCosh : Formula {
    static constexpr Targets targets = Targets::any;
    static constexpr RawScale scale = RawScale::target;
    // The second derivative vanishes far from the target, so that Newton steps would overshoot.
    static constexpr bool uses_newton_steps = false;
    static constexpr bool constant_from_mean = false;
    static double tanh(double r) {
        double e = portable_exp(-2.0 * (r < 0 ? -r : r));
        double t = (1.0 - e) / (1.0 + e);
        return r < 0 ? -t : t;
    }
    static Derivatives derivatives(double y, double f, double) {
        double t = tanh(f - y);
        return {t, 1.0 - t * t};
    }
    static double value(double y, double f, double) {
        double r = f > y ? f - y : y - f;
        return r + softplus(-2.0 * r) - 0x1.62e42fefa39efp-1;
    }
};

}  // namespace bosquet::inline BOSQUET_FORMULA_SET
