// The best stump over all Haar features of a stack of windows, under weights that change every
// round.
//
// Every feature is looked at every round, by its codes (vision/codes.hpp): the weights of either
// class are added up by code, which gives what every split between two codes gains, and a bound on
// what those inside one code could. Only where the bound reaches the best split so far are the
// windows of that code given their values and sorted. So the result is that of sorting every
// feature, to the bit, and the same for any number of threads and any memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "parallel/team.hpp"
#include "stump/rules.hpp"
#include "vision/codes.hpp"
#include "vision/planes.hpp"

namespace bosquet {

// A window whose value is below the threshold goes left, as in OpenCV's cascades.
struct HaarStump {
    std::size_t feature = 0;
    float threshold = 0;
    double left = 0, right = 0;  // what is said on either side
    double merit = 0;            // the criterion's value: less is better
    double gain = 0;             // how much less than the best constant's
};

class HaarSearch {
  public:
    // `positive` tells the class of each window; `bytes` may be spent on codes.
    HaarSearch(const WindowStack& windows, std::span<const std::uint8_t> positive,
               std::vector<HaarFeature> features, bool normalise, std::size_t bytes, Isa isa,
               Team& team);

    std::size_t rows() const { return order_.size(); }
    std::size_t features() const { return features_.size(); }
    std::size_t kept() const { return store_.kept(); }

    // Of equal ones the lowest feature, then the lowest threshold. Where no split is better than a
    // constant: feature 0 with all windows on its left.
    HaarStump best(std::span<const double> weight, StumpCriterion criterion);

    // The feature's value of each window, in the order in which they were given.
    void values(std::size_t feature, float* out);

  private:
    // The windows of one class that have a weight: all of them one after the other, or by number.
    struct Side {
        std::size_t first = 0, count = 0;  // of all windows of the class, in `order_`
        std::vector<std::uint32_t> rows;   // those with a weight, if they are far fewer
        std::vector<std::int64_t> units;   // of those, if they are; of all, otherwise
        bool is_listed = false;
    };
    // The best split of a feature so far.
    template <class Rule>
    struct Cut;
    // What a thread searches a feature with.
    template <class Rule>
    class Screen;

    void quantise(std::span<const double> weight);
    void list_rows(Side& side);
    template <class Rule>
    HaarStump find(StumpCriterion criterion);

    std::vector<std::uint32_t> order_;  // given numbers of the windows: positive ones first
    std::vector<HaarFeature> features_;
    const HaarTrainingKernels& kernels_;
    Team& team_;
    WindowPlanes planes_;
    CodeStore store_;
    Side sides_[2];                    // positive, negative
    std::vector<std::int64_t> units_;  // of each window, in `order_`
    StumpSums total_;
    double unit_ = 1;                    // what an integer is worth
    std::vector<std::uint32_t> likely_;  // features that were good in the last round
};

}  // namespace bosquet
