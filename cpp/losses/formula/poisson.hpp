#pragma once
#include "losses/formula/formula.hpp"

namespace bosquet::inline BOSQUET_FORMULA_SET {

// Half the Poisson deviance, up to a term that depends only on y; the mean is e^f.
struct Poisson : Formula {
    static constexpr Targets targets = Targets::non_negative;
    static constexpr RawScale scale = RawScale::unitless;
    static Derivatives derivatives(double y, double f, double) {
        double mean = portable_exp(f);
        return {mean - y, mean};
    }
    static double value(double y, double f, double) { return portable_exp(f) - y * f; }
    static double constant(double mean) { return portable_log(mean > 1e-15 ? mean : 1e-15); }
    static double response(double f) { return portable_exp(f); }
};

}  // namespace bosquet::inline BOSQUET_FORMULA_SET
