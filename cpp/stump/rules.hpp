// By what a split is judged, from exact sums of its left side.
//
// A rule is made for the sums of all rows and says what a split gains: more is better, and a split
// is taken only if it gains more than the best constant does `alone`. `falls_short` tells, sooner
// than computing the gain, that it is below another. The gain is a convex function of the left
// side's sums, so over a box of them it is largest at a corner: `may_reach` tells whether somewhere
// in the box another gain could be reached. Where the gain is a floating-point number both allow
// for rounding: they may err on the safe side, and then more is looked at than need be.
#pragma once

#include <cmath>
#include <cstdint>

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

// More than all roundings of a gain together, as a share of it.
constexpr double kSlack = 0x1p-44;

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
    bool falls_short(StumpSums left, Gain gain) const { return (*this)(left) < gain; }
    bool may_reach(const SumBox& box, Gain gain) const {
        return !falls_short({box.low.response + box.up, 0}, gain) ||
               !falls_short({box.low.response - box.down, 0}, gain);
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
    // sqrt(a) + sqrt(b) > c if a + b > c^2 or 4 a b > (c^2 - a - b)^2.
    bool falls_short(StumpSums left, Gain gain) const {
        StumpSums right = total - left;
        double a = static_cast<double>(left.positive()) * static_cast<double>(left.negative());
        double b = static_cast<double>(right.positive()) * static_cast<double>(right.negative());
        double over = gain * gain * (1 + kSlack) - (a + b);
        return over < 0 || 4 * a * b > over * over * (1 + kSlack);
    }
    // The corners: none of the stretch, all of it, and all of one class.
    bool may_reach(const SumBox& box, Gain gain) const {
        return !falls_short(box.low + StumpSums{box.up, box.up}, gain) ||
               !falls_short(box.low + StumpSums{-box.down, box.down}, gain) ||
               !falls_short(box.low, gain) || !falls_short(box.high(), gain);
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

    bool falls_short(StumpSums left, Gain gain) const {
        return is_below(left.response, left.weight, 0, gain);
    }
    // The corners; with no weight on one side there is no telling.
    bool may_reach(const SumBox& box, Gain gain) const {
        std::int64_t least = box.low.weight, most = box.low.weight + box.weight;
        if (least <= 0 || most >= total.weight) return true;
        for (std::int64_t response : {box.low.response - box.down, box.low.response + box.up})
            for (std::int64_t weight : {least, most})
                if (!is_below(response, weight, kSlack, gain)) return true;
        return false;
    }
    // Whether the gain is below another although `response` may be off by a share of its parts.
    bool is_below(std::int64_t response, std::int64_t weight, double off, Gain gain) const {
        auto a = static_cast<double>(weight), c = static_cast<double>(total.weight - weight);
        double s = static_cast<double>(response), expected = mean * a;
        double t = std::abs(s - expected) + off * (std::abs(s) + std::abs(expected));
        return t * t < gain * (1 - kSlack) * (a * c);
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

    // More gain is better, or as much at a lower position.
    void consider(const Rule& rule, StumpSums sums, std::uint32_t at, bool missing) {
        if (rule.falls_short(sums, gain)) return;
        auto reached = rule(sums);
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
