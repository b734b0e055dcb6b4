#include "vision/codes.hpp"

#include <algorithm>
#include <cmath>

namespace bosquet {

namespace {

// Features of a task: some hundred microseconds.
constexpr std::size_t kFeatures = 16;

}  // namespace

const float* FeatureCoder::values(const HaarFeature& feature) {
    kernels_->values(planes_->corners(feature), planes_->factors(), planes_->count(),
                     values_.data());
    return values_.data();
}

// By counting in narrow steps of equal width, then dealing the steps out to the codes: no sorting,
// and the codes are as even as the steps allow.
void FeatureCoder::encode(const HaarFeature& feature, std::uint8_t* codes) {
    std::size_t count = planes_->count();
    const float* value = values(feature);
    ValueRange range = kernels_->range(value, count);
    float per_one = static_cast<float>(kSteps) / (range.high - range.low);
    if (!std::isfinite(per_one)) per_one = 0;  // all alike, or as good as
    kernels_->steps(value, count, range.low, per_one, steps_.data());
    std::uint32_t counts[kSteps] = {};
    for (std::size_t i = 0; i < count; ++i) ++counts[steps_[i]];
    std::uint8_t code_of[kSteps];
    std::uint64_t before = 0;
    for (std::size_t step = 0; step < kSteps; ++step) {
        code_of[step] = static_cast<std::uint8_t>(std::min(before * kCodes / count, kCodes - 1));
        before += counts[step];
    }
    for (std::size_t i = 0; i < count; ++i) codes[i] = code_of[steps_[i]];
}

CodeStore::CodeStore(std::span<const HaarFeature> features, const WindowPlanes& planes,
                     const HaarTrainingKernels& kernels, std::size_t bytes, Team& team)
    : features_(features),
      stride_(planes.stride()),
      kept_(std::min(features.size(), bytes / planes.stride())),
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
