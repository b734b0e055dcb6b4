#pragma once
#include "losses/formula/formula.hpp"

namespace bosquet::inline BOSQUET_FORMULA_SET {

// The loss of AdaBoost, e^(-s f) with s = -1 or +1 for a class y in {0, 1}. It is minimal where f
// is half the log-odds.
struct Exponential : Formula {
    static constexpr Targets targets = Targets::two_classes;
    static constexpr RawScale scale = RawScale::unitless;
    static Derivatives derivatives(double y, double f, double) {
        double s = 2.0 * y - 1.0;
        double e = portable_exp(-s * f);
        return {-s * e, e};
    }
    static double value(double y, double f, double) { return portable_exp(-(2.0 * y - 1.0) * f); }
    static double constant(double mean) {
        double p = mean < 1e-15 ? 1e-15 : (mean > 1 - 1e-15 ? 1 - 1e-15 : mean);
        return portable_log(p / (1.0 - p)) / 2;
    }
    static double response(double f) { return exact_sigmoid(2.0 * f); }
};

}  // namespace bosquet::inline BOSQUET_FORMULA_SET
