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

// Values as bytes, in their order; and in steps of equal width, from which these are made
// (vision/codes.hpp): at most so many.
constexpr std::size_t kMostCodes = 256;
constexpr std::size_t kStepsPerCode = 8;
constexpr std::size_t kMostSteps = kMostCodes * kStepsPerCode;

// By what a split is judged (stump/rules.hpp).
enum class HaarRule { error, exponential, squared };

struct HaarTrainingKernels {
    // The feature's value of each window, times the window's factor.
    void (*values)(const CornerPlanes& corners, const float* factors, std::size_t count,
                   float* out);
    ValueRange (*range)(const float* values, std::size_t count);
    // The step of each value, never before that of a lower one; those beyond have the outermost.
    void (*steps)(const float* values, std::size_t count, float low, float per_one,
                  std::uint16_t last, std::uint16_t* out);
    // sums[codes[i]] += units[i]
    void (*add)(const std::uint8_t* codes, const std::int64_t* units, std::size_t count,
                std::int64_t* sums);
    // sums[codes[rows[i]]] += units[i]
    void (*add_some)(const std::uint8_t* codes, const std::uint32_t* rows,
                     const std::int64_t* units, std::size_t count, std::int64_t* sums);
    // The windows that have the code, ascending; returns how many. `rows` has room for one more
    // than `count`.
    std::size_t (*find)(const std::uint8_t* codes, std::size_t count, std::uint8_t code,
                        std::uint32_t* rows);
    // Whether a split, between two codes or inside one, might gain as much as `bar`, from the
    // weights of either class by code; there are a multiple of eight. It never says no where one
    // does.
    bool (*may_reach)(const std::int64_t* positive, const std::int64_t* negative, std::size_t codes,
                      HaarRule rule, double bar);
};
BOSQUET_DECLARE_KERNELS(HaarTrainingKernels, haar_training_kernels)

}  // namespace bosquet
