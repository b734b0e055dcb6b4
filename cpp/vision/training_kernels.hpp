// The inner loops of boosting on Haar features.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/isa.hpp"
#include "stump/stump_criterion.hpp"

namespace bosquet {

// The entries of all windows at the corners of a feature's rectangles.
struct CornerPlanes {
    const std::int32_t* plane[3][4];
    float weight[3];
    int rectangles;
};

struct ValueRange {
    float low, high;
};

// The maximum number of codes, and of the steps of equal width from which codes are computed
// (vision/codes.hpp).
constexpr std::size_t kMaxCodes = 256;
constexpr std::size_t kStepsPerCode = 8;
constexpr std::size_t kMaxSteps = kMaxCodes * kStepsPerCode;

struct HaarTrainingKernels {
    // The value of a feature for each window, times the factor of the window.
    void (*values)(const CornerPlanes& corners, const float* factors, std::size_t count,
                   float* out);
    ValueRange (*range)(const float* values, std::size_t count);
    // The step of each value; a lower value never has a higher step. Values outside the range get
    // the outermost steps.
    void (*steps)(const float* values, std::size_t count, float low, float per_one,
                  std::uint16_t last, std::uint16_t* out);
    // sums[codes[i]] += units[i]
    void (*add)(const std::uint8_t* codes, const std::int64_t* units, std::size_t count,
                std::int64_t* sums);
    // sums[codes[rows[i]]] += units[i]
    void (*add_some)(const std::uint8_t* codes, const std::uint32_t* rows,
                     const std::int64_t* units, std::size_t count, std::int64_t* sums);
    // Writes the windows with the code, ascending, and returns their number. `rows` has at least
    // `count` + 1 entries.
    std::size_t (*find)(const std::uint8_t* codes, std::size_t count, std::uint8_t code,
                        std::uint32_t* rows);
    // Whether a split between two codes or inside one may reach `gain_to_reach`, from the
    // weights of each class by code. The number of codes is a multiple of eight. The result is
    // never false if a split reaches it.
    bool (*may_reach)(const std::int64_t* positive, const std::int64_t* negative, std::size_t codes,
                      StumpCriterion criterion, double gain_to_reach);
};
BOSQUET_DECLARE_KERNELS(HaarTrainingKernels, haar_training_kernels)

}  // namespace bosquet
