// Values of features as bytes, in their order.
//
// A search that looks at every feature every round needs their values in the order of size, not the
// values. A code is one of up to 256 stretches of a feature's values, with about as many windows in
// each: lower values never have higher codes. Codes are made once and kept where memory allows, and
// made again every round for the features beyond.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "parallel/team.hpp"
#include "vision/features.hpp"
#include "vision/planes.hpp"

namespace bosquet {

// How many codes so many windows are given. Every code is looked at every round: with few windows
// more codes cost more than they spare of looking inside one (400 windows: half the time by 32 as
// by 256).
std::size_t codes_for(std::size_t windows);

// Makes codes; each thread has its own.
class FeatureCoder {
  public:
    FeatureCoder(const WindowPlanes& planes, const HaarTrainingKernels& kernels)
        : planes_(&planes),
          kernels_(&kernels),
          codes_(codes_for(planes.count())),
          values_(planes.stride()),
          steps_(planes.stride()) {}

    // Valid until the next call.
    const float* values(const HaarFeature& feature);
    void encode(const HaarFeature& feature, std::uint8_t* codes);

  private:
    void count_steps(const float* value, std::span<std::uint32_t> counts);

    const WindowPlanes* planes_;
    const HaarTrainingKernels* kernels_;
    std::size_t codes_;
    Buffer<float> values_;
    Buffer<std::uint16_t> steps_;
};

class CodeStore {
  public:
    // Keeps the codes of as many features as take `bytes`.
    CodeStore(std::span<const HaarFeature> features, const WindowPlanes& planes,
              const HaarTrainingKernels& kernels, std::size_t bytes, Team& team);

    std::size_t kept() const { return kept_; }
    std::size_t code_count() const { return code_count_; }
    FeatureCoder& coder(int worker) { return coders_[worker]; }
    // One code a window, valid until the worker's next call.
    const std::uint8_t* codes(std::size_t feature, int worker);

  private:
    std::span<const HaarFeature> features_;
    std::size_t stride_, kept_, code_count_;
    Buffer<std::uint8_t> codes_;
    std::vector<FeatureCoder> coders_;           // of each worker
    std::vector<Buffer<std::uint8_t>> scratch_;  // of each worker
};

}  // namespace bosquet
