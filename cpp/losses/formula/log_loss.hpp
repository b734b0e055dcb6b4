#pragma once
#include "losses/formula/formula.hpp"

namespace bosquet::inline BOSQUET_FORMULA_SET {

// The negative log-likelihood of a class y in {0, 1} with probability 1 / (1 + e^-f).
struct LogLoss : Formula {
    static constexpr Targets targets = Targets::two_classes;
    static constexpr RawScale scale = RawScale::unitless;
    static Derivatives derivatives(double y, double f, double) {
        double p = exact_sigmoid(f);
        return {p - y, p * (1.0 - p)};
    }
    static double value(double y, double f, double) { return softplus(f) - y * f; }
    static double constant(double mean) {
        double p = mean < 1e-15 ? 1e-15 : (mean > 1 - 1e-15 ? 1 - 1e-15 : mean);
        return portable_log(p / (1.0 - p));
    }
    static double response(double f) { return exact_sigmoid(f); }
};

}  // namespace bosquet::inline BOSQUET_FORMULA_SET
