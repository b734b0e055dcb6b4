#pragma once
#include "losses/formula/formula.hpp"

namespace bosquet::inline BOSQUET_FORMULA_SET {

// (y - f)^2 / 2
struct SquaredError : Formula {
    static constexpr Targets targets = Targets::any;
    static constexpr RawScale scale = RawScale::target;
    static constexpr bool constant_hessian = true;
    static Derivatives derivatives(double y, double f, double) { return {f - y, 1.0}; }
    static double value(double y, double f, double) { return (y - f) * (y - f) / 2; }
    static double constant(double mean) { return mean; }
};

}  // namespace bosquet::inline BOSQUET_FORMULA_SET
