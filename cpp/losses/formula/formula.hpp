// The interface of a loss of one target y and one raw prediction f: its value, its first and second
// derivative with respect to f, the best constant f for rows with a given mean target, and the
// response, which is f converted to the scale of the target. `parameter` is the hyper-parameter of
// the loss (a level or a power), if it has one. CONTRIBUTING.md lists the steps to add a loss.
#pragma once

#include "base/math.hpp"

// Kernels are compiled once per instruction set. If the linker shared a formula between them, it
// could contain instructions that the processor lacks. Each instruction set therefore has its own
// namespace of formulas.
#ifdef BOSQUET_ISA
#define BOSQUET_JOIN_(a, b) a##b
#define BOSQUET_JOIN(a, b) BOSQUET_JOIN_(a, b)
#define BOSQUET_FORMULA_SET BOSQUET_JOIN(formulas_for_, BOSQUET_ISA)
#else
#define BOSQUET_FORMULA_SET formulas
#endif

namespace bosquet {

// The targets for which a loss is defined.
enum class Targets { any, non_negative, positive, two_classes };

// The unit of a raw prediction. `target`: the unit of the target, so that the best f lies within
// the range of the targets. `unitless`: a logarithm, log-odds or a margin, whose best value may be
// infinite; a value of a few dozen is then good enough.
enum class RawScale { target, unitless };

// The open interval of the parameter; low = high means that the loss has none.
struct ParameterRange {
    double low, high;
};

}  // namespace bosquet

namespace bosquet::inline BOSQUET_FORMULA_SET {

struct Derivatives {
    double g, h;
};

// Default declarations. `targets` and `scale` have no default, so that a loss that does not declare
// them does not compile.
struct Formula {
    static constexpr ParameterRange parameter = {0, 0};
    // Whether the Hessian is the same for every row: the sums of Hessians in a histogram are then
    // counts.
    static constexpr bool constant_hessian = false;
    // Whether Newton steps with the second derivative are useful; if not, leaves get the exact
    // minimiser.
    static constexpr bool uses_newton_steps = true;
    // Whether the best constant follows from the mean target; otherwise it is searched numerically.
    static constexpr bool constant_from_mean = true;
    // Whether the best prediction increases with the parameter, as a quantile does with its level.
    // Predictions of several levels are then sorted.
    static constexpr bool increasing_in_parameter = false;
    // The prediction on the scale of the target; for two classes, the probability of class 1.
    static double response(double f) { return f; }
};

}  // namespace bosquet::inline BOSQUET_FORMULA_SET
