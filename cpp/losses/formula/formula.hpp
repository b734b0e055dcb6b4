// What a loss of one target y and one raw prediction f is: its value, its first and second
// derivative in f, the constant f that is best for rows whose mean target is given, and the
// response, which is f on the scale of the target. CONTRIBUTING.md has the steps to add one.
// `parameter` is the loss's own number (a level, a power), if any.
#pragma once

#include "base/math.hpp"

// Kernels are compiled once per instruction set. A formula that the linker could share between them
// might bring instructions that the processor lacks, so each set has formulas of its own.
#ifdef BOSQUET_ISA
#define BOSQUET_JOIN_(a, b) a##b
#define BOSQUET_JOIN(a, b) BOSQUET_JOIN_(a, b)
#define BOSQUET_FORMULA_SET BOSQUET_JOIN(formulas_for_, BOSQUET_ISA)
#else
#define BOSQUET_FORMULA_SET formulas
#endif

namespace bosquet {

// The targets that a loss is defined for.
enum class Targets { any, non_negative, positive, two_classes };

// The unit of a raw prediction. `target`: that of the target, so that the best f lies among the
// targets, however large they are. `unitless`: a logarithm, log-odds or a margin, where the best f
// may be infinite and a few dozen are as good.
enum class RawScale { target, unitless };

// Where the parameter lies, both ends excluded; low = high: the loss has none.
struct ParameterRange {
    double low, high;
};

}  // namespace bosquet

namespace bosquet::inline BOSQUET_FORMULA_SET {

struct Derivatives {
    double g, h;
};

// The defaults. Each loss states `targets` and `scale` itself: they have no default, so that one
// that forgets them does not compile.
struct Formula {
    static constexpr ParameterRange parameter = {0, 0};
    // The same for every row: a histogram's sum of hessians is then a count.
    static constexpr bool constant_hessian = false;
    // Whether the second derivative gives the distance to the minimum; if not, leaves take the
    // exact minimiser.
    static constexpr bool curved = true;
    // The best constant follows from the mean target; otherwise it is searched for.
    static constexpr bool constant_from_mean = true;
    // The prediction on the target's own scale; for two classes the probability of class 1.
    static double response(double f) { return f; }
};

}  // namespace bosquet::inline BOSQUET_FORMULA_SET
