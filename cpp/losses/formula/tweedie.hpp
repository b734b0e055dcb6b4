#pragma once
#include "losses/formula/formula.hpp"

namespace bosquet::inline BOSQUET_FORMULA_SET {

// Half the Tweedie deviance with a power between 1 and 2, up to a term that depends only on y; the
// mean is e^f. `parameter` is the power.
struct Tweedie : Formula {
    static constexpr Targets targets = Targets::non_negative;
    static constexpr RawScale scale = RawScale::unitless;
    static constexpr ParameterRange parameter = {1, 2};
    static Derivatives derivatives(double y, double f, double power) {
        double a = y * portable_exp((1.0 - power) * f);
        double b = portable_exp((2.0 - power) * f);
        return {b - a, (power - 1.0) * a + (2.0 - power) * b};
    }
    static double value(double y, double f, double power) {
        return portable_exp((2.0 - power) * f) / (2.0 - power) -
               y * portable_exp((1.0 - power) * f) / (1.0 - power);
    }
    static double constant(double mean) { return portable_log(mean > 1e-15 ? mean : 1e-15); }
    static double response(double f) { return portable_exp(f); }
};

}  // namespace bosquet::inline BOSQUET_FORMULA_SET
