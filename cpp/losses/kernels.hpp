// The loops over rows of each loss.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/isa.hpp"
#include "losses/formula/all.hpp"

namespace bosquet {

// Of one row and one output. Single precision: what is lost is far below what a leaf averages out.
struct GradientPair {
    float g, h;
};

// `weight` is null where all rows weigh 1.
using GradientLoop = void (*)(const double* target, const double* raw, const double* weight,
                              double parameter, std::size_t count, GradientPair* out);
using ValueLoop = double (*)(const double* target, const double* raw, const double* weight,
                             double parameter, std::size_t count);
using ResponseLoop = void (*)(const double* raw, std::size_t count, double* out);

struct LossKernels {
    GradientLoop gradients[static_cast<int>(FormulaName::count)];
    // The sum over the rows, in an order that depends on the count alone.
    ValueLoop values[static_cast<int>(FormulaName::count)];
    // Softmax over `classes` outputs that lie `stride` apart; target is the number of a class.
    void (*softmax_gradients)(const double* target, const double* raw, const double* weight,
                              std::size_t stride, std::size_t classes, std::size_t count,
                              GradientPair* out);
    double (*softmax_value)(const double* target, const double* raw, const double* weight,
                            std::size_t stride, std::size_t classes, std::size_t count);
    // For two classes the probabilities of both, side by side.
    ResponseLoop responses[static_cast<int>(FormulaName::count)];
    // Probabilities of `count` rows whose `classes` raw predictions lie side by side.
    void (*softmax_responses)(const double* raw, std::size_t classes, std::size_t count,
                              double* out);
};
BOSQUET_DECLARE_KERNELS(LossKernels, loss_kernels)

}  // namespace bosquet
