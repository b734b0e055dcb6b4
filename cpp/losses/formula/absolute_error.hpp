#pragma once
#include "losses/formula/formula.hpp"

namespace bosquet::inline BOSQUET_FORMULA_SET {

// |y - f|
struct AbsoluteError : Formula {
    static constexpr Targets targets = Targets::any;
    static constexpr RawScale scale = RawScale::target;
    static constexpr bool constant_hessian = true;
    static constexpr bool uses_newton_steps = false;
    static constexpr bool constant_from_mean = false;
    static Derivatives derivatives(double y, double f, double) {
        return {f > y ? 1.0 : (f < y ? -1.0 : 0.0), 1.0};
    }
    static double value(double y, double f, double) { return f > y ? f - y : y - f; }
};

}  // namespace bosquet::inline BOSQUET_FORMULA_SET
