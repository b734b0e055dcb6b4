// Feature values as bytes with the same order.
//
// A search over all features in every round only needs the order of their values. A code is the
// number of one of up to 256 intervals of a feature's values, with about as many windows in each;
// lower values never have higher codes. Codes are computed once and kept as far as memory allows.
// Those of the other features are computed again in every round.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "parallel/team.hpp"
#include "vision/features.hpp"
#include "vision/planes.hpp"

namespace bosquet {

// The number of codes for this many windows. Every code is visited in every round: with few
// windows, more codes cost more than the search inside a code that they save (with 400 windows, 32
// codes take half the time of 256).
std::size_t codes_for(std::size_t windows);

// Computes codes; each thread has its own coder.
class FeatureCoder {
  public:
    FeatureCoder(const WindowPlanes& planes, const HaarTrainingKernels& kernels)
        : planes_(&planes),
          kernels_(&kernels),
          codes_(codes_for(planes.count())),
          values_(planes.stride()),
          steps_(planes.stride()) {}

    // The result is valid until the next call.
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
    // Keeps the codes of as many features as fit into `bytes`.
    CodeStore(std::span<const HaarFeature> features, const WindowPlanes& planes,
              const HaarTrainingKernels& kernels, std::size_t bytes, Team& team);

    std::size_t kept() const { return kept_; }
    std::size_t code_count() const { return code_count_; }
    FeatureCoder& coder(int worker) { return coders_[worker]; }
    // One code per window, valid until the worker's next call.
    const std::uint8_t* codes(std::size_t feature, int worker);

  private:
    std::span<const HaarFeature> features_;
    std::size_t stride_, kept_, code_count_;
    Buffer<std::uint8_t> codes_;
    std::vector<FeatureCoder> coders_;           // one per worker
    std::vector<Buffer<std::uint8_t>> scratch_;  // one per worker
};

}  // namespace bosquet
