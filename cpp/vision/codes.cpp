#include "vision/codes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace bosquet {

namespace {

// Features of a task: some hundred microseconds.
constexpr std::size_t kFeatures = 16;

constexpr std::size_t kFew = 200;  // one value in so many may be beyond the steps, on either side
constexpr float kZoom = 8;         // steps are laid again if they can be so many times narrower
constexpr int kMostZooms = 8;

constexpr std::size_t kFewestCodes = 32, kWindowsPerCode = 32;

}  // namespace

std::size_t codes_for(std::size_t windows) {
    return std::clamp(std::bit_ceil(windows / kWindowsPerCode), kFewestCodes, kMostCodes);
}

const float* FeatureCoder::values(const HaarFeature& feature) {
    kernels_->values(planes_->corners(feature), planes_->factors(), planes_->count(),
                     values_.data());
    return values_.data();
}

namespace {

// Where nearly all values are, from counts by step; the few beyond are left out on either side.
ValueRange crowded(std::span<const std::uint32_t> counts, std::size_t total, ValueRange range) {
    std::size_t few = total / kFew, below = 0, first = 0, last = counts.size() - 1;
    for (; below + counts[first] <= few && first < last; ++first) below += counts[first];
    std::size_t above = 0;
    for (; above + counts[last] <= few && last > first; --last) above += counts[last];
    float width = (range.high - range.low) / static_cast<float>(counts.size());
    return {range.low + width * static_cast<float>(first),
            range.low + width * static_cast<float>(last + 1)};
}

}  // namespace

// A window without contrast may have a value thousands of times the others'; then the steps would
// be so wide that all others fall into one. So the steps are laid again where most values are, as
// long as that is a small part of their range.
void FeatureCoder::count_steps(const float* value, std::span<std::uint32_t> counts) {
    std::size_t count = planes_->count();
    ValueRange range = kernels_->range(value, count);
    for (int again = 0; again < kMostZooms; ++again) {
        float per_one = static_cast<float>(counts.size()) / (range.high - range.low);
        if (!std::isfinite(per_one)) per_one = 0;  // all alike, or as good as
        kernels_->steps(value, count, range.low, per_one,
                        static_cast<std::uint16_t>(counts.size() - 1), steps_.data());
        std::fill(counts.begin(), counts.end(), 0);
        for (std::size_t i = 0; i < count; ++i) ++counts[steps_[i]];
        ValueRange most = crowded(counts, count, range);
        if (per_one == 0 || most.high - most.low > (range.high - range.low) / kZoom) return;
        range = most;
    }
}

// By counting in narrow steps of equal width, then dealing the steps out to the codes: no sorting,
// and the codes are as even as the steps allow.
void FeatureCoder::encode(const HaarFeature& feature, std::uint8_t* codes) {
    std::size_t count = planes_->count();
    std::size_t steps = codes_ * kStepsPerCode;
    std::uint32_t counts[kMostSteps];
    count_steps(values(feature), {counts, steps});
    // Rounding may move the end of a stretch, never the order. A multiplication by the share: a
    // division of integers for each step took longer than all the rest.
    double codes_per_window = static_cast<double>(codes_) / static_cast<double>(count);
    std::uint8_t code_of[kMostSteps];
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
    team.run((kept_ + kFeatures - 1) / kFeatures, [&](std::size_t task, int worker) {
        std::size_t end = std::min((task + 1) * kFeatures, kept_);
        for (std::size_t f = task * kFeatures; f < end; ++f)
            coders_[worker].encode(features_[f], codes_.data() + f * stride_);
    });
}

const std::uint8_t* CodeStore::codes(std::size_t feature, int worker) {
    if (feature < kept_) return codes_.data() + feature * stride_;
    coders_[worker].encode(features_[feature], scratch_[worker].data());
    return scratch_[worker].data();
}

}  // namespace bosquet
