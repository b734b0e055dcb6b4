#pragma once
#include "losses/formula/formula.hpp"

namespace bosquet::inline BOSQUET_FORMULA_SET {

// The pinball loss of level q: q (y - f) if y > f, otherwise (1 - q)(f - y). `parameter` is q.
struct Quantile : Formula {
    static constexpr Targets targets = Targets::any;
    static constexpr RawScale scale = RawScale::target;
    static constexpr ParameterRange parameter = {0, 1};
    static constexpr bool constant_hessian = true;
    static constexpr bool uses_newton_steps = false;
    static constexpr bool constant_from_mean = false;
    static constexpr bool increasing_in_parameter = true;
    static Derivatives derivatives(double y, double f, double q) {
        return {f > y ? 1.0 - q : (f < y ? -q : 0.0), 1.0};
    }
    static double value(double y, double f, double q) {
        return f > y ? (1.0 - q) * (f - y) : q * (y - f);
    }
};

}  // namespace bosquet::inline BOSQUET_FORMULA_SET
