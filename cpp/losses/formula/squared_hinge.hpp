#pragma once
#include "losses/formula/formula.hpp"

namespace bosquet::inline BOSQUET_FORMULA_SET {

// max(0, 1 - s f)^2 with s = -1 or +1 for a class y in {0, 1}. It is minimal at f = 2 P(y = 1) - 1.
struct SquaredHinge : Formula {
    static constexpr Targets targets = Targets::two_classes;
    static constexpr RawScale scale = RawScale::unitless;
    static Derivatives derivatives(double y, double f, double) {
        double s = 2.0 * y - 1.0;
        double gap = 1.0 - s * f;
        gap = gap > 0 ? gap : 0.0;
        return {-2.0 * s * gap, gap > 0 ? 2.0 : 0.0};
    }
    static double value(double y, double f, double) {
        double gap = 1.0 - (2.0 * y - 1.0) * f;
        return gap > 0 ? gap * gap : 0.0;
    }
    static double constant(double mean) { return 2.0 * mean - 1.0; }
    // The inverse of constant(): for a share p of ones the best f is 2p - 1.
    static double response(double f) {
        double p = (f + 1.0) / 2.0;
        return p < 0 ? 0.0 : (p > 1 ? 1.0 : p);
    }
};

}  // namespace bosquet::inline BOSQUET_FORMULA_SET
