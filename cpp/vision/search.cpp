#include "vision/search.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "stump/bucket_cut.hpp"
#include "stump/finder.hpp"
#include "stump/units.hpp"

namespace bosquet {

namespace {

// Features of a task, and how many tasks' best features are tried first in the next round: a good
// split seen early leaves little to look for in all other features.
constexpr std::size_t kFeatures = 32;
constexpr std::size_t kLikely = 64;

// Reading windows by number pays when at most this share of them has a weight.
constexpr double kListed = 0.6;

std::vector<std::uint32_t> positive_first(std::span<const std::uint8_t> positive) {
    std::vector<std::uint32_t> order;
    for (int wanted : {1, 0})
        for (std::uint32_t i = 0; i < positive.size(); ++i)
            if ((positive[i] != 0) == (wanted == 1)) order.push_back(i);
    return order;
}

bool any_tilted(std::span<const HaarFeature> features) {
    return std::any_of(features.begin(), features.end(),
                       [](const HaarFeature& feature) { return feature.tilted; });
}

// A number t with a < t <= b.
float between(float a, float b) {
    float middle = a / 2 + b / 2;
    return middle > a && middle <= b ? middle : b;
}

// Whether the gain at a corner of what a stretch of rows can add up to is below another. All of one
// class, with the other's rows on the far side, is an extreme; no rows at all gain nothing.
template <class Rule>
bool corner_falls_short(const Rule& rule, StumpSums left, typename Rule::Gain gain) {
    return rule.falls_short(left, gain);
}
bool corner_falls_short(const SquaredRule& rule, StumpSums left, double gain) {
    if (left.weight <= 0 || left.weight >= rule.total.weight) return gain > 0;
    return rule.is_below(left.response, left.weight, kSlack, gain);
}

HaarRule kernel_rule(const ErrorRule&) { return HaarRule::error; }
HaarRule kernel_rule(const ExponentialRule&) { return HaarRule::exponential; }
HaarRule kernel_rule(const SquaredRule&) { return HaarRule::squared; }

// The gain is convex in the two classes' weights on the left, so that it is largest where each has
// either none or all of the stretch.
template <class Rule>
bool may_reach(const Rule& rule, StumpSums before, std::int64_t up, std::int64_t down,
               typename Rule::Gain gain) {
    StumpSums positive{up, up}, negative{-down, down};
    return !corner_falls_short(rule, before + positive, gain) ||
           !corner_falls_short(rule, before + negative, gain) ||
           !corner_falls_short(rule, before, gain) ||
           !corner_falls_short(rule, before + positive + negative, gain);
}

}  // namespace

// The buckets are codes.
template <class Rule>
struct HaarSearch::Cut : BucketCut<Rule> {
    float threshold = std::numeric_limits<float>::max();
};

template <class Rule>
class HaarSearch::Screen {
  public:
    Screen(HaarSearch& search, int worker)
        : search_(search),
          worker_(worker),
          rule_(search.total_),
          code_count_(search.store_.code_count()),
          rows_(search.rows() + 1),
          best{{rule_.alone()}} {}

    // Looks at one feature; returns what its best split gains if that may be as much as the best so
    // far does, and something less otherwise.
    typename Rule::Gain look_at(std::size_t feature) {
        feature_ = feature;
        codes_ = search_.store_.codes(feature, worker_);
        add_up();
        if (!search_.kernels_.may_reach(sums_[0], sums_[1], code_count_, kernel_rule(rule_),
                                        static_cast<double>(best.gain)))
            return std::numeric_limits<typename Rule::Gain>::lowest();
        Cut<Rule> cut{{rule_.alone()}};
        cut.feature = feature;
        between_codes(cut);
        if (find_worthy(std::max(best.gain, cut.gain))) inside_codes(cut);
        if (cut.beats(best)) {
            cut.threshold = cut.is_behind() ? threshold_behind(cut.bucket()) : inside_threshold_;
            best = cut;
        }
        return cut.gain;
    }

  private:
    void add_up() {
        for (int negative = 0; negative < 2; ++negative) {
            const Side& side = search_.sides_[negative];
            std::int64_t* sums = sums_[negative];
            std::fill_n(sums, code_count_, 0);
            const std::uint8_t* codes = codes_ + side.first;
            if (side.is_listed)
                search_.kernels_.add_some(codes, side.rows.data(), side.units.data(),
                                          side.rows.size(), sums);
            else
                search_.kernels_.add(codes, side.units.data(), side.count, sums);
        }
    }

    StumpSums of(std::size_t code) const {
        return {sums_[0][code] - sums_[1][code], sums_[0][code] + sums_[1][code]};
    }

    void between_codes(Cut<Rule>& cut) const {
        StumpSums left;
        for (std::size_t code = 0; code + 1 < code_count_; ++code) {
            StumpSums more = of(code);
            if (more.weight == 0) continue;
            left = left + more;
            if (left.weight == rule_.total.weight) break;  // nothing would be on the right
            cut.consider(rule_, left, cut.at(code, cut.kBehind));
        }
    }

    bool find_worthy(typename Rule::Gain bar) {
        bool any = false;
        StumpSums left;
        for (std::size_t code = 0; code < code_count_; ++code) {
            std::int64_t up = sums_[0][code], down = sums_[1][code];
            worthy_[code] = 0;
            if (up + down == 0) continue;
            worthy_[code] = may_reach(rule_, left, up, down, bar);
            any = any || worthy_[code];
            left = left + of(code);
        }
        return any;
    }

    struct Placed {
        float value;
        std::uint32_t row;
    };

    // Puts the windows of a code in the order of their values.
    void collect(std::size_t code) {
        std::size_t count = search_.kernels_.find(codes_, search_.rows(),
                                                  static_cast<std::uint8_t>(code), rows_.data());
        chosen_.resize(count);
        for (std::size_t i = 0; i < count; ++i)
            chosen_[i] = {WindowPlanes::value(corners_, search_.planes_.factors(), rows_[i]),
                          rows_[i]};
        std::sort(chosen_.begin(), chosen_.end(),
                  [](Placed a, Placed b) { return a.value < b.value; });
    }

    void inside_codes(Cut<Rule>& cut) {
        corners_ = search_.planes_.corners(search_.features_[feature_]);
        StumpSums before;
        for (std::size_t code = 0; code < code_count_; ++code) {
            if (worthy_[code]) inside_code(code, before, cut);
            before = before + of(code);
        }
    }

    void inside_code(std::size_t code, StumpSums left, Cut<Rule>& cut) {
        collect(code);
        for (std::uint32_t i = 0; i + 1 < chosen_.size(); ++i) {
            std::int64_t units = search_.units_[chosen_[i].row];
            bool positive = chosen_[i].row < search_.sides_[0].count;
            left = left + StumpSums{positive ? units : -units, units};
            if (chosen_[i].value == chosen_[i + 1].value) continue;
            if (left.weight == 0 || left.weight == rule_.total.weight) continue;
            if (cut.consider(rule_, left, cut.at(code, i + 1)))
                inside_threshold_ = between(chosen_[i].value, chosen_[i + 1].value);
        }
    }

    // Halfway between the values of the windows on either side.
    float threshold_behind(std::size_t code) {
        const float* values = search_.store_.coder(worker_).values(search_.features_[feature_]);
        float below = -std::numeric_limits<float>::max();
        float above = std::numeric_limits<float>::max();
        for (std::size_t i = 0; i < search_.rows(); ++i)
            if (codes_[i] <= code)
                below = std::max(below, values[i]);
            else
                above = std::min(above, values[i]);
        return between(below, above);
    }

    HaarSearch& search_;
    int worker_;
    Rule rule_;
    std::size_t code_count_;
    std::size_t feature_ = 0;
    const std::uint8_t* codes_ = nullptr;
    alignas(
        64) std::int64_t sums_[2][kMostCodes];  // weights of the positive, of the negative class
    std::uint8_t worthy_[kMostCodes];
    CornerPlanes corners_{};
    std::vector<Placed> chosen_;
    std::vector<std::uint32_t> rows_;
    float inside_threshold_ = 0;

  public:
    Cut<Rule> best;
};

HaarSearch::HaarSearch(const WindowStack& windows, std::span<const std::uint8_t> positive,
                       std::vector<HaarFeature> features, bool normalise, std::size_t bytes,
                       Isa isa, Team& team)
    : order_(positive_first(positive)),
      features_(std::move(features)),
      kernels_(select_haar_training_kernels(isa)),
      team_(team),
      planes_(windows, order_, any_tilted(features_), normalise, team),
      store_(features_, planes_, kernels_, bytes, team),
      units_(order_.size()) {
    std::size_t count = 0;
    for (std::uint8_t is_positive : positive) count += is_positive != 0;
    sides_[0].count = sides_[1].first = count;
    sides_[1].count = order_.size() - count;
}

void HaarSearch::list_rows(Side& side) {
    const std::int64_t* units = units_.data() + side.first;
    side.rows.clear();
    side.units.clear();
    for (std::uint32_t i = 0; i < side.count; ++i)
        if (units[i] != 0) {
            side.rows.push_back(i);
            side.units.push_back(units[i]);
        }
    side.is_listed =
        static_cast<double>(side.rows.size()) <= kListed * static_cast<double>(side.count);
    if (!side.is_listed) side.units.assign(units, units + side.count);
}

void HaarSearch::quantise(std::span<const double> weight) {
    double per_one = units_per_one(checked_sum(weight, team_), weight.size());
    unit_ = 1 / per_one;
    total_ = {};
    for (std::size_t i = 0; i < order_.size(); ++i) {
        std::int64_t units = in_units(weight[order_[i]], per_one);
        units_[i] = units;
        total_ = total_ + StumpSums{i < sides_[0].count ? units : -units, units};
    }
    for (Side& side : sides_) list_rows(side);
}

HaarStump HaarSearch::best(std::span<const double> weight, StumpCriterion criterion) {
    quantise(weight);
    switch (criterion) {
        case StumpCriterion::error:
            return find<ErrorRule>(criterion);
        case StumpCriterion::exponential:
            return find<ExponentialRule>(criterion);
        default:
            return find<SquaredRule>(criterion);
    }
}

template <class Rule>
HaarStump HaarSearch::find(StumpCriterion criterion) {
    std::vector<Screen<Rule>> screens;
    for (int worker = 0; worker < team_.size(); ++worker) screens.emplace_back(*this, worker);
    for (std::uint32_t feature : likely_) screens[0].look_at(feature);
    for (Screen<Rule>& screen : screens) screen.best = screens[0].best;

    struct Good {
        typename Rule::Gain gain;
        std::uint32_t feature;
    };
    std::vector<Good> good((features_.size() + kFeatures - 1) / kFeatures);
    team_.run(good.size(), [&](std::size_t task, int worker) {
        std::size_t first = task * kFeatures;
        std::size_t end = std::min(first + kFeatures, features_.size());
        for (std::size_t f = first; f < end; ++f) {
            auto gain = screens[worker].look_at(f);
            if (f == first || gain > good[task].gain)
                good[task] = {gain, static_cast<std::uint32_t>(f)};
        }
    });
    Cut<Rule> best = screens[0].best;
    for (const Screen<Rule>& screen : screens)
        if (screen.best.beats(best)) best = screen.best;

    std::size_t likely = std::min(kLikely, good.size());
    std::partial_sort(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(likely), good.end(),
                      [](const Good& a, const Good& b) { return a.gain > b.gain; });
    likely_.clear();
    for (std::size_t i = 0; i < likely; ++i) likely_.push_back(good[i].feature);

    StumpFinding finding;
    finding.left = best.found ? best.left : total_;
    finding.right = total_ - finding.left;
    finding.stump.feature = best.found ? 0 : Stump::kConstant;
    judge(criterion, {unit_, unit_, static_cast<double>(total_.weight) * unit_}, rows(), finding);
    const Stump& judged = finding.stump;
    return {best.feature,     best.threshold, judged.values[0],
            judged.values[1], judged.merit,   judged.gain};
}

void HaarSearch::values(std::size_t feature, float* out) {
    const float* values = store_.coder(0).values(features_[feature]);
    for (std::size_t i = 0; i < order_.size(); ++i) out[order_[i]] = values[i];
}

}  // namespace bosquet
