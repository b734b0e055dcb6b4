// What a loss of one target y and one raw prediction f is: its value, its first and second
// derivative in f, the constant f that is best for rows whose mean target is given, and what f says
// of the target.
//
// To add a loss, copy squared_error.hpp, list it in all.hpp, and give it a name in loss.cpp and a
// twin in src/bosquet/reference/losses.py. `parameter` is the loss's own number (a level, a power),
// if any.
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

namespace bosquet::inline BOSQUET_FORMULA_SET {

struct Derivatives {
    double g, h;
};

struct Formula {
    // The same for every row: counts then stand in the histogram.
    static constexpr bool constant_hessian = false;
    // The second derivative tells nothing of how far to go: leaves take the exact minimiser
    // instead.
    static constexpr bool curved = true;
    // The best constant follows from the mean target; otherwise it is searched for.
    static constexpr bool constant_from_mean = true;
    // Targets are classes 0 and 1, and the response is the probability of 1.
    static constexpr bool two_classes = false;
    // What a raw prediction says of the target, on the target's own scale.
    static double response(double f) { return f; }
};

}  // namespace bosquet::inline BOSQUET_FORMULA_SET
