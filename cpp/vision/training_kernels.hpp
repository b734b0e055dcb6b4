// The inner loops of boosting on Haar features.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/isa.hpp"

namespace bosquet {

// What all windows have at the corners of a feature's rectangles.
struct CornerPlanes {
    const std::int32_t* plane[3][4];
    float weight[3];
    int rectangles;
};

struct ValueRange {
    float low, high;
};

// Values in steps of equal width, more of them than codes (vision/codes.hpp).
constexpr std::size_t kSteps = 2048;

struct HaarTrainingKernels {
    // The feature's value of each window, times the window's factor.
    void (*values)(const CornerPlanes& corners, const float* factors, std::size_t count,
                   float* out);
    ValueRange (*range)(const float* values, std::size_t count);
    // The step of each value, never before that of a lower one.
    void (*steps)(const float* values, std::size_t count, float low, float per_one,
                  std::uint16_t* out);
    // sums[codes[i]] += units[i]
    void (*add)(const std::uint8_t* codes, const std::int64_t* units, std::size_t count,
                std::int64_t* sums);
    // sums[codes[rows[i]]] += units[i]
    void (*add_some)(const std::uint8_t* codes, const std::uint32_t* rows,
                     const std::int64_t* units, std::size_t count, std::int64_t* sums);
};
BOSQUET_DECLARE_KERNELS(HaarTrainingKernels, haar_training_kernels)

}  // namespace bosquet
