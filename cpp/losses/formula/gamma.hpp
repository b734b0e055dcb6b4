#pragma once
#include "losses/formula/formula.hpp"

namespace bosquet::inline BOSQUET_FORMULA_SET {

// Half the gamma deviance, up to a term that depends only on y; the mean is e^f.
struct Gamma : Formula {
    static constexpr Targets targets = Targets::positive;
    static constexpr RawScale scale = RawScale::unitless;
    static Derivatives derivatives(double y, double f, double) {
        double ratio = y * portable_exp(-f);
        return {1.0 - ratio, ratio};
    }
    static double value(double y, double f, double) { return f + y * portable_exp(-f); }
    static double constant(double mean) { return portable_log(mean > 1e-15 ? mean : 1e-15); }
    static double response(double f) { return portable_exp(f); }
};

}  // namespace bosquet::inline BOSQUET_FORMULA_SET
