// The loops over rows for each loss.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/isa.hpp"
#include "losses/formula/all.hpp"

namespace bosquet {

// Gradient and Hessian of one row and one output. Single precision is enough: the rounding errors
// are small compared with what a leaf averages over.
struct GradientPair {
    float g, h;
};

// `weight` is nullptr if all weights are 1.
using GradientLoop = void (*)(const double* target, const double* raw, const double* weight,
                              double parameter, std::size_t count, GradientPair* out);
// Adds the weighted loss of each row to `out`.
using ValueLoop = void (*)(const double* target, const double* raw, const double* weight,
                           double parameter, std::size_t count, double* out);
using ResponseLoop = void (*)(const double* raw, std::size_t count, double* out);

struct LossKernels {
    GradientLoop gradients[static_cast<int>(FormulaName::count)];
    ValueLoop values[static_cast<int>(FormulaName::count)];
    // Softmax over `classes` outputs at a distance of `stride`; the target is a class number.
    void (*softmax_gradients)(const double* target, const double* raw, const double* weight,
                              std::size_t stride, std::size_t classes, std::size_t count,
                              GradientPair* out);
    void (*softmax_values)(const double* target, const double* raw, const double* weight,
                           std::size_t stride, std::size_t classes, std::size_t count, double* out);
    // For two classes the probabilities of both classes, row by row.
    ResponseLoop responses[static_cast<int>(FormulaName::count)];
    // Probabilities of `count` rows; the `classes` raw predictions of a row are contiguous.
    void (*softmax_responses)(const double* raw, std::size_t classes, std::size_t count,
                              double* out);
};
BOSQUET_DECLARE_KERNELS(LossKernels, loss_kernels)

}  // namespace bosquet
