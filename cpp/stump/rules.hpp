// By what a split is judged, from exact sums of its left side.
//
// A rule is made for the sums of all rows and says what a split gains: more is better, and a split
// is taken only if it gains more than the best constant does `alone`. The gain is a convex function
// of the left side's sums, so over a box of them it is largest at a corner: `bound`, which in
// floating point is a little more than that.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace bosquet {

enum class StumpCriterion { error, exponential, squared };

// Of some rows, in units (stump/units.hpp).
struct StumpSums {
    std::int64_t response = 0;  // sum of weight times target
    std::int64_t weight = 0;    // left 0 where the rule does not ask for it

    StumpSums operator+(StumpSums other) const {
        return {response + other.response, weight + other.weight};
    }
    StumpSums operator-(StumpSums other) const {
        return {response - other.response, weight - other.weight};
    }
    // For targets of -1 and 1: the weights of either.
    std::int64_t positive() const { return (weight + response) / 2; }
    std::int64_t negative() const { return (weight - response) / 2; }
};

// What the sums of a left side can be while it takes in some of the rows of a stretch.
struct SumBox {
    StumpSums low;          // before the stretch
    std::int64_t up = 0;    // sum of its positive responses
    std::int64_t down = 0;  // sum of its negative ones, as a magnitude
    std::int64_t weight = 0;

    StumpSums high() const { return {low.response + up - down, low.weight + weight}; }
    SumBox with(StumpSums more) const { return {low + more, up, down, weight}; }
};

inline std::int64_t magnitude(std::int64_t value) { return value < 0 ? -value : value; }

// A side that says the sign of its response S is right on (W + |S|) / 2 of its weight: the more
// |S_L| + |S_R|, the less weighted error. One sum a side is enough.
struct ErrorRule {
    using Gain = std::int64_t;
    static constexpr bool kNeedsWeight = false;

    explicit ErrorRule(StumpSums sums) : total(sums) {}
    Gain alone() const { return magnitude(total.response); }
    Gain operator()(StumpSums left) const {
        return magnitude(left.response) + magnitude(total.response - left.response);
    }
    Gain bound(const SumBox& box) const {
        return std::max((*this)({box.low.response + box.up, 0}),
                        (*this)({box.low.response - box.down, 0}));
    }

    StumpSums total;
};

// With its best value a side contributes 2 sqrt(W+ W-) to Z.
struct ExponentialRule {
    using Gain = double;
    static constexpr bool kNeedsWeight = true;

    explicit ExponentialRule(StumpSums sums) : total(sums) {}
    static double root(StumpSums side) {
        return std::sqrt(static_cast<double>(side.positive()) *
                         static_cast<double>(side.negative()));
    }
    Gain alone() const { return -root(total); }
    Gain operator()(StumpSums left) const { return -(root(left) + root(total - left)); }
    // The corners: none of the stretch, all of it, and all of one class.
    Gain bound(const SumBox& box) const {
        Gain most = std::max((*this)(box.low), (*this)(box.high()));
        most = std::max(most, (*this)(box.low + StumpSums{box.up, box.up}));
        most = std::max(most, (*this)(box.low + StumpSums{-box.down, box.down}));
        return most + 0x1p-48 * root(total);
    }

    StumpSums total;
};

// The sum of squares falls by (S_L - S W_L / W)^2 W / (W_L W_R); here without the factor W. Written
// so, there is no large common part to cancel.
struct SquaredRule {
    using Gain = double;
    static constexpr bool kNeedsWeight = true;

    explicit SquaredRule(StumpSums sums)
        : total(sums),
          mean(static_cast<double>(sums.response) / static_cast<double>(sums.weight)) {}
    Gain alone() const { return 0; }
    Gain operator()(StumpSums left) const {
        std::int64_t rest = total.weight - left.weight;
        if (left.weight <= 0 || rest <= 0) return -1;
        auto weight = static_cast<double>(left.weight);
        double t = static_cast<double>(left.response) - mean * weight;
        return t * t / (weight * static_cast<double>(rest));
    }

    Gain bound(const SumBox& box) const {
        const std::int64_t responses[2] = {box.low.response - box.down, box.low.response + box.up};
        const std::int64_t weights[2] = {box.low.weight, box.low.weight + box.weight};
        Gain most = 0;
        for (std::int64_t weight : weights) {
            if (weight <= 0 || weight >= total.weight)
                return std::numeric_limits<double>::infinity();
            auto a = static_cast<double>(weight), c = static_cast<double>(total.weight - weight);
            for (std::int64_t response : responses) {
                double s = static_cast<double>(response), expected = mean * a;
                double t = std::abs(s - expected) + 0x1p-48 * (std::abs(s) + std::abs(expected));
                most = std::max(most, t * t / (a * c));
            }
        }
        return most * (1 + 0x1p-48);
    }

    StumpSums total;
    double mean;
};

// The best split of a feature so far.
template <class Rule>
struct FoundCut {
    explicit FoundCut(const Rule& rule) : gain(rule.alone()) {}

    typename Rule::Gain gain;  // what the next one has to beat
    bool found = false;
    bool missing_left = false;
    std::uint32_t position = 0;  // how many bins, levels or rows, in their order, go left
    StumpSums left;

    void consider(const Rule& rule, StumpSums sums, std::uint32_t at, bool missing) {
        auto reached = rule(sums);
        if (!(reached > gain)) return;
        gain = reached;
        found = true;
        missing_left = missing;
        position = at;
        left = sums;
    }
};

}  // namespace bosquet
