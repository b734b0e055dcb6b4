#include "vision/codes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace bosquet {

namespace {

// Features per task, which takes about a hundred microseconds.
constexpr std::size_t kFeaturesPerTask = 16;

// One value in this many may be outside the range, on each side.
constexpr std::size_t kOutlierShare = 200;
constexpr float kZoom = 8;  // the range is narrowed if it can shrink by this factor
constexpr int kMaxZooms = 8;

constexpr std::size_t kMinCodes = 32, kWindowsPerCode = 32;

}  // namespace

std::size_t codes_for(std::size_t windows) {
    return std::clamp(std::bit_ceil(windows / kWindowsPerCode), kMinCodes, kMaxCodes);
}

const float* FeatureCoder::values(const HaarFeature& feature) {
    kernels_->values(planes_->corners(feature), planes_->factors(), planes_->count(),
                     values_.data());
    return values_.data();
}

namespace {

// The range that contains nearly all values, from counts per step; a few outliers on both sides are
// left out.
ValueRange central_range(std::span<const std::uint32_t> counts, std::size_t total,
                         ValueRange range) {
    std::size_t max_outliers = total / kOutlierShare, below = 0, first = 0,
                last = counts.size() - 1;
    for (; below + counts[first] <= max_outliers && first < last; ++first) below += counts[first];
    std::size_t above = 0;
    for (; above + counts[last] <= max_outliers && last > first; --last) above += counts[last];
    float width = (range.high - range.low) / static_cast<float>(counts.size());
    return {range.low + width * static_cast<float>(first),
            range.low + width * static_cast<float>(last + 1)};
}

}  // namespace

// A window without contrast may have a value that is thousands of times larger than the others.
// Steps over the full range would then be so wide that all other values fall into one step. The
// range is therefore narrowed to where most values are, as long as that is a small part of it.
void FeatureCoder::count_steps(const float* value, std::span<std::uint32_t> counts) {
    std::size_t count = planes_->count();
    ValueRange range = kernels_->range(value, count);
    for (int zoom = 0; zoom < kMaxZooms; ++zoom) {
        float per_one = static_cast<float>(counts.size()) / (range.high - range.low);
        if (!std::isfinite(per_one)) per_one = 0;  // all values are (almost) equal
        kernels_->steps(value, count, range.low, per_one,
                        static_cast<std::uint16_t>(counts.size() - 1), steps_.data());
        std::fill(counts.begin(), counts.end(), 0);
        for (std::size_t i = 0; i < count; ++i) ++counts[steps_[i]];
        ValueRange central = central_range(counts, count, range);
        if (per_one == 0 || central.high - central.low > (range.high - range.low) / kZoom) return;
        range = central;
    }
}

// Counts values in narrow steps of equal width, then assigns the steps to codes. This needs no
// sorting, and the codes are as evenly filled as the steps allow.
void FeatureCoder::encode(const HaarFeature& feature, std::uint8_t* codes) {
    std::size_t count = planes_->count();
    std::size_t steps = codes_ * kStepsPerCode;
    std::uint32_t counts[kMaxSteps];
    count_steps(values(feature), {counts, steps});
    // Rounding may move the border of a code, but never changes the order. A multiplication is used
    // because an integer division per step took longer than everything else.
    double codes_per_window = static_cast<double>(codes_) / static_cast<double>(count);
    std::uint8_t code_of[kMaxSteps];
    std::uint32_t before = 0;
    for (std::size_t step = 0; step < steps; ++step) {
        auto code = static_cast<std::uint32_t>(before * codes_per_window);
        code_of[step] = static_cast<std::uint8_t>(std::min<std::size_t>(code, codes_ - 1));
        before += counts[step];
    }
    for (std::size_t i = 0; i < count; ++i) codes[i] = code_of[steps_[i]];
}

CodeStore::CodeStore(std::span<const HaarFeature> features, const WindowPlanes& planes,
                     const HaarTrainingKernels& kernels, std::size_t bytes, Team& team)
    : features_(features),
      stride_(planes.stride()),
      kept_(std::min(features.size(), bytes / planes.stride())),
      code_count_(codes_for(planes.count())),
      codes_(kept_ * planes.stride()) {
    for (int worker = 0; worker < team.size(); ++worker) {
        coders_.emplace_back(planes, kernels);
        scratch_.emplace_back(stride_);
    }
    team.run((kept_ + kFeaturesPerTask - 1) / kFeaturesPerTask, [&](std::size_t task, int worker) {
        std::size_t end = std::min((task + 1) * kFeaturesPerTask, kept_);
        for (std::size_t f = task * kFeaturesPerTask; f < end; ++f)
            coders_[worker].encode(features_[f], codes_.data() + f * stride_);
    });
}

const std::uint8_t* CodeStore::codes(std::size_t feature, int worker) {
    if (feature < kept_) return codes_.data() + feature * stride_;
    coders_[worker].encode(features_[feature], scratch_[worker].data());
    return scratch_[worker].data();
}

}  // namespace bosquet
