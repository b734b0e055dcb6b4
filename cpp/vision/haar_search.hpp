// Finds the best stump over all Haar features of a stack of windows, under weights that change
// every round.
//
// Every feature is searched in every round by its codes (vision/codes.hpp). The weights of each
// class are summed by code, which gives the gain of every split between two codes and an upper
// bound of the gains inside a code. Only if the bound reaches the best split so far, the values of
// the windows of that code are computed and sorted. The result has the same bits as sorting every
// feature, for any number of threads and any memory limit.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "parallel/team.hpp"
#include "stump/criteria.hpp"
#include "vision/codes.hpp"
#include "vision/planes.hpp"

namespace bosquet {

// A window whose value is below the threshold goes left, as in OpenCV's cascades.
struct HaarStump {
    std::size_t feature = 0;
    float threshold = 0;
    double left = 0, right = 0;  // predictions on the two sides
    double criterion_value = 0;  // smaller is better
    double gain = 0;             // decrease compared with the best constant
};

class HaarSearch {
  public:
    // `positive` holds the class of each window; `bytes` is the memory limit for codes.
    HaarSearch(const WindowStack& windows, std::span<const std::uint8_t> positive,
               std::vector<HaarFeature> features, bool normalise, std::size_t bytes, Isa isa,
               Team& team);

    std::size_t rows() const { return order_.size(); }
    std::size_t features() const { return features_.size(); }
    std::size_t kept() const { return store_.kept(); }

    // Among equal stumps, the lowest feature, then the lowest threshold. If no split is better than
    // a constant: feature 0 with all windows on its left.
    HaarStump find_best(std::span<const double> weight, StumpCriterion criterion);

    // The values of a feature for all windows, in the given order of the windows.
    void values(std::size_t feature, float* out);

  private:
    // The windows of one class with non-zero weight: contiguous, or listed by number.
    struct ClassWindows {
        std::size_t first = 0, count = 0;  // of all windows of the class, in `order_`
        std::vector<std::uint32_t> rows;   // windows with a weight, if there are few
        std::vector<std::int64_t>
            units;  // weights of these windows if is_listed, otherwise of all windows
        bool is_listed = false;
    };
    // The best split of a feature so far.
    template <class Criterion>
    struct Split;
    // The search of one thread.
    template <class Criterion>
    class FeatureSearch;

    void quantise(std::span<const double> weight);
    void list_rows(ClassWindows& windows);
    template <class Criterion>
    HaarStump find(StumpCriterion criterion);

    std::vector<std::uint32_t> order_;  // original numbers of the windows, positive ones first
    std::vector<HaarFeature> features_;
    const HaarTrainingKernels& kernels_;
    Team& team_;
    WindowPlanes planes_;
    CodeStore store_;
    ClassWindows class_windows_[2];    // positive, negative
    std::vector<std::int64_t> units_;  // weight of each window, in `order_`
    StumpSums total_;
    double unit_ = 1;                    // value of one unit of weight
    std::vector<std::uint32_t> likely_;  // features with large gains in the last round
};

}  // namespace bosquet
