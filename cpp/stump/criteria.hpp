// Criteria that score a split, from exact sums of its left side.
//
// A criterion is created for the sums of all rows and computes the gain of a split. A larger gain
// is better, and a split is accepted only if its gain exceeds that of the best constant
// (`constant_gain`). `falls_short` is faster than computing the gain and returns whether the gain
// is below another one. The gain is a convex function of the sums of the left side, so that its
// maximum over a box of sums is at a corner: `may_reach` returns whether a gain can be reached in a
// box. For floating-point gains both allow for rounding errors: they may only err on the side of
// searching more than necessary.
#pragma once

#include <cmath>
#include <cstdint>

#include "stump/stump_criterion.hpp"

namespace bosquet {

// The sums of some rows, in units (stump/units.hpp).
struct StumpSums {
    std::int64_t response = 0;  // sum of weight times target
    std::int64_t weight = 0;    // 0 if the criterion does not need it

    StumpSums operator+(StumpSums other) const {
        return {response + other.response, weight + other.weight};
    }
    StumpSums operator-(StumpSums other) const {
        return {response - other.response, weight - other.weight};
    }
    // For targets -1 and 1: the weights of the two classes.
    std::int64_t positive() const { return (weight + response) / 2; }
    std::int64_t negative() const { return (weight - response) / 2; }
};

// The possible sums of a left side that contains some of the rows of a segment.
struct SumBox {
    StumpSums low;                  // sums before the segment
    std::int64_t positive_sum = 0;  // sum of the positive responses in the segment
    std::int64_t negative_sum = 0;  // absolute sum of the negative responses
    std::int64_t weight = 0;

    StumpSums high() const {
        return {low.response + positive_sum - negative_sum, low.weight + weight};
    }
    SumBox with(StumpSums more) const { return {low + more, positive_sum, negative_sum, weight}; }
};

// A bound of all relative rounding errors of a gain.
constexpr double kSlack = 0x1p-44;

inline std::int64_t magnitude(std::int64_t value) { return value < 0 ? -value : value; }

// A side that predicts the sign of its response S is correct on (W + |S|) / 2 of its weight. The
// larger |S_L| + |S_R|, the smaller the weighted error. One sum per side is enough.
struct ErrorCriterion {
    using Gain = std::int64_t;
    static constexpr bool kNeedsWeight = false;

    explicit ErrorCriterion(StumpSums sums) : total(sums) {}
    Gain constant_gain() const { return magnitude(total.response); }
    Gain operator()(StumpSums left) const {
        return magnitude(left.response) + magnitude(total.response - left.response);
    }
    bool falls_short(StumpSums left, Gain gain) const { return (*this)(left) < gain; }
    bool may_reach(const SumBox& box, Gain gain) const {
        return !falls_short({box.low.response + box.positive_sum, 0}, gain) ||
               !falls_short({box.low.response - box.negative_sum, 0}, gain);
    }

    StumpSums total;
};

// With its best value, a side contributes 2 sqrt(W+ W-) to Z.
struct ExponentialCriterion {
    using Gain = double;
    static constexpr bool kNeedsWeight = true;

    explicit ExponentialCriterion(StumpSums sums) : total(sums) {}
    static double root(StumpSums side) {
        return std::sqrt(static_cast<double>(side.positive()) *
                         static_cast<double>(side.negative()));
    }
    Gain constant_gain() const { return -root(total); }
    Gain operator()(StumpSums left) const { return -(root(left) + root(total - left)); }
    // sqrt(a) + sqrt(b) > c if a + b > c^2 or 4 a b > (c^2 - a - b)^2.
    bool falls_short(StumpSums left, Gain gain) const {
        StumpSums right = total - left;
        double a = static_cast<double>(left.positive()) * static_cast<double>(left.negative());
        double b = static_cast<double>(right.positive()) * static_cast<double>(right.negative());
        double over = gain * gain * (1 + kSlack) - (a + b);
        return over < 0 || 4 * a * b > over * over * (1 + kSlack);
    }
    // The corners: no row of the segment, all rows, and all rows of one class.
    bool may_reach(const SumBox& box, Gain gain) const {
        return !falls_short(box.low + StumpSums{box.positive_sum, box.positive_sum}, gain) ||
               !falls_short(box.low + StumpSums{-box.negative_sum, box.negative_sum}, gain) ||
               !falls_short(box.low, gain) || !falls_short(box.high(), gain);
    }

    StumpSums total;
};

// The sum of squares decreases by (S_L - S W_L / W)^2 W / (W_L W_R); the factor W is omitted here.
// In this form there is no cancellation of large terms.
struct SquaredCriterion {
    using Gain = double;
    static constexpr bool kNeedsWeight = true;

    explicit SquaredCriterion(StumpSums sums)
        : total(sums),
          mean(static_cast<double>(sums.response) / static_cast<double>(sums.weight)) {}
    Gain constant_gain() const { return 0; }
    Gain operator()(StumpSums left) const {
        std::int64_t right_weight = total.weight - left.weight;
        if (left.weight <= 0 || right_weight <= 0) return -1;
        auto weight = static_cast<double>(left.weight);
        double t = static_cast<double>(left.response) - mean * weight;
        return t * t / (weight * static_cast<double>(right_weight));
    }

    bool falls_short(StumpSums left, Gain gain) const {
        return is_below(left.response, left.weight, 0, gain);
    }
    // The corners; without weight on one side nothing is known.
    bool may_reach(const SumBox& box, Gain gain) const {
        std::int64_t min_weight = box.low.weight, max_weight = box.low.weight + box.weight;
        if (min_weight <= 0 || max_weight >= total.weight) return true;
        for (std::int64_t response :
             {box.low.response - box.negative_sum, box.low.response + box.positive_sum})
            for (std::int64_t weight : {min_weight, max_weight})
                if (!is_below(response, weight, kSlack, gain)) return true;
        return false;
    }
    // Whether the gain is below another one even if `response` has a relative error of `error`.
    bool is_below(std::int64_t response, std::int64_t weight, double error, Gain gain) const {
        auto a = static_cast<double>(weight), c = static_cast<double>(total.weight - weight);
        double s = static_cast<double>(response), expected = mean * a;
        double t = std::abs(s - expected) + error * (std::abs(s) + std::abs(expected));
        return t * t < gain * (1 - kSlack) * (a * c);
    }

    StumpSums total;
    double mean;
};

// The best split of a feature so far.
template <class Criterion>
struct FoundSplit {
    explicit FoundSplit(const Criterion& criterion) : gain(criterion.constant_gain()) {}

    typename Criterion::Gain gain;  // the gain that the next split has to exceed
    bool found = false;
    bool missing_left = false;
    std::uint32_t position = 0;  // number of bins, levels or rows, in their order, that go left
    StumpSums left;

    // Accepts a larger gain, or the same gain at a lower position.
    void consider(const Criterion& criterion, StumpSums sums, std::uint32_t at, bool missing) {
        if (criterion.falls_short(sums, gain)) return;
        auto reached = criterion(sums);
        bool lower = found && reached == gain && at < position;
        if (!(reached > gain) && !lower) return;
        gain = reached;
        found = true;
        missing_left = missing;
        position = at;
        left = sums;
    }
};

}  // namespace bosquet
