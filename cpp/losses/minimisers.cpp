#include "losses/minimisers.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/error.hpp"

namespace bosquet {

namespace {

// The sums of a term over the rows of each group.
//
// `groups` are those of this part.
class GroupSums {
  public:
    template <class Groups>
    GroupSums(const Groups& groups, Reducer& reducer) : reducer_(&reducer) {
        for (const auto& group : groups) counts_.push_back(static_cast<std::int64_t>(group.size()));
        reducer_->add(counts_);
    }

    // The number of rows of a group in all parts.
    std::int64_t count(std::size_t group) const { return counts_[group]; }

    // The largest magnitudes of term(group, i).
    template <class Groups, class Term>
    std::vector<double> largest(const Groups& groups, Term term) const {
        std::vector<std::uint64_t> bits(groups.size());
        for (std::size_t k = 0; k < groups.size(); ++k)
            for (std::size_t i = 0; i < groups[k].size(); ++i)
                bits[k] = std::max(bits[k], magnitude_bits(term(k, i)));
        reducer_->maximise(bits);
        std::vector<double> result(groups.size());
        std::transform(bits.begin(), bits.end(), result.begin(),
                       [](std::uint64_t b) { return std::bit_cast<double>(b); });
        return result;
    }

    // The sums of term(group, i); infinity or NaN if a term is.
    template <class Groups, class Term>
    std::vector<double> sum(const Groups& groups, Term term) const {
        std::vector<double> bounds = largest(groups, term);
        std::vector<FixedUnit> units(groups.size());
        // By group: the sum, and the numbers of positive and negative infinite terms.
        std::vector<std::int64_t> sums(3 * groups.size());
        for (std::size_t k = 0; k < groups.size(); ++k) {
            bool finite = std::isfinite(bounds[k]);
            if (finite) units[k] = fixed_unit(bounds[k], static_cast<std::uint64_t>(counts_[k]));
            for (std::size_t i = 0; i < groups[k].size(); ++i) {
                double value = term(k, i);
                if (finite)
                    sums[3 * k] += to_multiple(value, units[k].per_unit);
                else  // NaN counts on both sides
                    sums[3 * k + 1] += !(value <= std::numeric_limits<double>::max()),
                        sums[3 * k + 2] += !(value >= std::numeric_limits<double>::lowest());
            }
        }
        reducer_->add(sums);
        std::vector<double> result(groups.size());
        for (std::size_t k = 0; k < groups.size(); ++k) {
            double infinity = std::numeric_limits<double>::infinity();
            double plus = sums[3 * k + 1] > 0 ? infinity : 0;
            double minus = sums[3 * k + 2] > 0 ? infinity : 0;
            result[k] = units[k].value_of(sums[3 * k]) + plus - minus;
        }
        return result;
    }

  private:
    Reducer* reducer_;
    std::vector<std::int64_t> counts_;
};

// A number as an unsigned integer of the same order; -0 and 0 are one number.
std::uint64_t ordered_key(double value) {
    auto bits = std::bit_cast<std::uint64_t>(value + 0.0);
    constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
    return bits & kSign ? ~bits : bits | kSign;
}
double from_ordered_key(std::uint64_t key) {
    constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
    return std::bit_cast<double>(key & kSign ? key ^ kSign : ~key);
}

// The quantile of sorted values whose weights are multiples of a unit. If the goal is met exactly,
// every number up to the next value is a minimiser: return the midpoint.
double quantile_of_sorted(const std::vector<WeightedValue>& values, double per_unit, double goal) {
    std::int64_t below = 0;
    for (std::size_t i = 0; i < values.size();) {
        std::size_t end = i;
        for (; end < values.size() && values[end].value == values[i].value; ++end)
            below += to_multiple(values[end].weight, per_unit);
        auto share = static_cast<double>(below);
        if (share == goal && end < values.size())
            return values[i].value / 2 + values[end].value / 2;
        if (share >= goal) return values[i].value;
        i = end;
    }
    return values.empty() ? 0.0 : values.back().value;
}

// The same if the values are divided into parts: bisection on the ordered keys of the values.
std::vector<double> quantiles_of_parts(const WeightedGroups& groups,
                                       const std::vector<FixedUnit>& units,
                                       const std::vector<double>& goals, Reducer& reducer) {
    auto weights_up_to = [&](const std::vector<std::uint64_t>& keys) {
        std::vector<std::int64_t> sums(groups.size());
        for (std::size_t k = 0; k < groups.size(); ++k)
            for (const WeightedValue& v : groups[k])
                if (ordered_key(v.value) <= keys[k])
                    sums[k] += to_multiple(v.weight, units[k].per_unit);
        reducer.add(sums);
        return sums;
    };
    // The smallest key up to which the weight reaches the goal.
    std::vector<std::uint64_t> low(groups.size()), high(groups.size(), ~std::uint64_t{0});
    for (int step = 0; step < 64; ++step) {
        std::vector<std::uint64_t> middle(groups.size());
        for (std::size_t k = 0; k < groups.size(); ++k) middle[k] = low[k] + (high[k] - low[k]) / 2;
        std::vector<std::int64_t> sums = weights_up_to(middle);
        for (std::size_t k = 0; k < groups.size(); ++k) {
            if (low[k] == high[k]) continue;
            if (static_cast<double>(sums[k]) >= goals[k])
                high[k] = middle[k];
            else
                low[k] = middle[k] + 1;
        }
    }
    std::vector<std::int64_t> sums = weights_up_to(high);
    // The complements of the next keys: their maximum is the smallest key.
    std::vector<std::uint64_t> next(groups.size());
    for (std::size_t k = 0; k < groups.size(); ++k)
        for (const WeightedValue& v : groups[k])
            if (ordered_key(v.value) > high[k]) next[k] = std::max(next[k], ~ordered_key(v.value));
    reducer.maximise(next);
    std::vector<double> quantiles(groups.size());
    for (std::size_t k = 0; k < groups.size(); ++k) {
        quantiles[k] = from_ordered_key(high[k]);
        if (static_cast<double>(sums[k]) == goals[k] && next[k] > 0)
            quantiles[k] = quantiles[k] / 2 + from_ordered_key(~next[k]) / 2;
    }
    return quantiles;
}

// The search for the root of the derivative of a convex loss, one evaluation at a time. The sign
// change of the derivative is bracketed, then refined by Newton steps, with a bisection where a
// Newton step would leave the bracket.
class RootSearch {
  public:
    // Steps below 1e-12 of the unit are ignored. A root further away than `max_distance` is
    // infinite, and the search ends near that distance.
    RootSearch(double unit, double max_distance)
        : unit_(unit), max_distance_(max_distance), distance_(unit) {}

    bool is_done() const { return phase_ == Phase::done; }
    // The constant at which the derivatives are needed next, or the result.
    double constant() const { return constant_; }

    // Continues with the derivatives at this constant.
    void advance(double g, double h) {
        if (phase_ == Phase::start) {
            start_ = g;
            if (g == 0)
                phase_ = Phase::done;
            else
                widen();
        } else if (phase_ == Phase::bracket) {
            bool enclosed = start_ > 0 ? g <= 0 : g >= 0;
            if (!enclosed) {
                distance_ *= 2;
                widen();
            } else {
                phase_ = Phase::refine;
                constant_ = 0;
                width_ = 2 * (high_ - low_);
            }
        } else {
            refine(g, h);
        }
    }

  private:
    enum class Phase { start, bracket, refine, done };
    static constexpr int kMaxSteps = 200;
    static constexpr double kTolerance = 1e-12;

    void widen() {
        if (distance_ > max_distance_) {
            phase_ = Phase::done;
            return;
        }
        phase_ = Phase::bracket;
        constant_ = start_ > 0 ? -distance_ : distance_;
        (start_ > 0 ? low_ : high_) = constant_;
    }

    void refine(double g, double h) {
        if (g == 0) {
            phase_ = Phase::done;
            return;
        }
        (g > 0 ? high_ : low_) = constant_;
        double newton = h > 0 ? constant_ - g / h : low_;
        // A Newton step is taken if it stays inside the bracket and the bracket halves every other
        // step. Where the loss is linear, Newton steps are short and would hardly converge.
        bool slow = step_ % 2 == 1 && high_ - low_ > width_ / 2;
        if (step_ % 2 == 1) width_ = high_ - low_;
        double next = newton > low_ && newton < high_ && !slow ? newton : low_ + (high_ - low_) / 2;
        double step_size = std::abs(next - constant_);
        constant_ = next;
        if (step_size <= kTolerance * (unit_ + std::abs(next)) || ++step_ == kMaxSteps)
            phase_ = Phase::done;
    }

    double unit_, max_distance_, distance_;
    Phase phase_ = Phase::start;
    double constant_ = 0, start_ = 0, low_ = 0, high_ = 0, width_ = 0;
    int step_ = 0;
};

}  // namespace

std::vector<double> weighted_means(const WeightedGroups& groups, Reducer& reducer) {
    GroupSums sums(groups, reducer);
    std::vector<double> totals =
        sums.sum(groups, [&](std::size_t k, std::size_t i) { return groups[k][i].weight; });
    std::vector<double> means = sums.sum(groups, [&](std::size_t k, std::size_t i) {
        return groups[k][i].weight * groups[k][i].value;
    });
    for (std::size_t k = 0; k < means.size(); ++k)
        means[k] = totals[k] > 0 ? means[k] / totals[k] : 0.0;
    return means;
}

std::vector<double> weighted_quantiles(WeightedGroups& groups, double level, Reducer& reducer) {
    GroupSums group_sums(groups, reducer);
    auto weight = [&](std::size_t k, std::size_t i) { return groups[k][i].weight; };
    auto value = [&](std::size_t k, std::size_t i) { return groups[k][i].value; };
    for (double largest : group_sums.largest(groups, value))
        if (largest != largest)  // sorting needs values that can be ordered, so no NaN
            throw InputError(
                "a residual is NaN because targets or predictions are too large; rescale the "
                "targets");
    std::vector<double> largest_weights = group_sums.largest(groups, weight);
    std::vector<FixedUnit> units(groups.size());
    std::vector<std::int64_t> totals(groups.size());
    for (std::size_t k = 0; k < groups.size(); ++k) {
        units[k] = fixed_unit(largest_weights[k], static_cast<std::uint64_t>(group_sums.count(k)));
        for (const WeightedValue& v : groups[k])
            totals[k] += to_multiple(v.weight, units[k].per_unit);
    }
    reducer.add(totals);
    std::vector<double> goals(groups.size());
    for (std::size_t k = 0; k < groups.size(); ++k)
        goals[k] = level * static_cast<double>(totals[k]);
    std::vector<double> quantiles(groups.size());
    if (reducer.is_distributed()) {
        quantiles = quantiles_of_parts(groups, units, goals, reducer);
        for (std::size_t k = 0; k < groups.size(); ++k)
            if (group_sums.count(k) == 0) quantiles[k] = 0;
        return quantiles;
    }
    for (std::size_t k = 0; k < groups.size(); ++k) {
        std::sort(groups[k].begin(), groups[k].end(),
                  [](const WeightedValue& a, const WeightedValue& b) { return a.value < b.value; });
        quantiles[k] = quantile_of_sorted(groups[k], units[k].per_unit, goals[k]);
    }
    return quantiles;
}

std::vector<double> best_shifts(const PointGroups& groups, const ConvexLoss& loss,
                                Reducer& reducer) {
    GroupSums group_sums(groups, reducer);
    std::vector<double> largest_residuals = group_sums.largest(
        groups, [&](std::size_t k, std::size_t i) { return groups[k][i].y - groups[k][i].f; });
    // A leaf with a single class has its minimum at infinity; 2^5 is large enough for a
    // probability.
    double max_distance = loss.unitless ? 32 : 1e300;
    std::vector<RootSearch> searches;
    for (double largest : largest_residuals) {
        // Steps are compared with 1, except if the residuals themselves are small.
        bool small_residuals = !loss.unitless && largest > 0 && largest < 0x1p-10;
        searches.emplace_back(small_residuals ? largest : 1.0, max_distance);
    }
    auto is_done = [](const RootSearch& search) { return search.is_done(); };
    std::vector<std::vector<Derivatives>> terms(groups.size());
    while (!std::all_of(searches.begin(), searches.end(), is_done)) {
        for (std::size_t k = 0; k < groups.size(); ++k) {
            terms[k].clear();
            if (searches[k].is_done()) continue;
            for (const Point& p : groups[k]) {
                Derivatives d = loss.derivatives(p.y, p.f + searches[k].constant(), loss.parameter);
                terms[k].push_back({p.w * d.g, p.w * d.h});
            }
        }
        std::vector<double> g =
            group_sums.sum(terms, [&](std::size_t k, std::size_t i) { return terms[k][i].g; });
        std::vector<double> h =
            group_sums.sum(terms, [&](std::size_t k, std::size_t i) { return terms[k][i].h; });
        for (std::size_t k = 0; k < groups.size(); ++k)
            if (!searches[k].is_done()) searches[k].advance(g[k], h[k]);
    }
    std::vector<double> constants;
    for (const RootSearch& search : searches) constants.push_back(search.constant());
    return constants;
}

}  // namespace bosquet
