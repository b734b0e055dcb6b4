#include "vision/haar_search.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "stump/bucket_split.hpp"
#include "stump/stump_finder.hpp"
#include "stump/units.hpp"

namespace bosquet {

namespace {

// Features per task, and the number of tasks whose best features are tried first in the next round:
// with a good split at the start, few other features have to be searched in detail.
constexpr std::size_t kFeaturesPerTask = 32;
constexpr std::size_t kLikelyTasks = 64;

// Reading windows by number is faster if at most this share of them has a weight.
constexpr double kMaxListedShare = 0.6;

std::vector<std::uint32_t> positive_first(std::span<const std::uint8_t> positive) {
    std::vector<std::uint32_t> order;
    for (int positive_class : {1, 0})
        for (std::uint32_t i = 0; i < positive.size(); ++i)
            if ((positive[i] != 0) == (positive_class == 1)) order.push_back(i);
    return order;
}

bool any_tilted(std::span<const HaarFeature> features) {
    return std::any_of(features.begin(), features.end(),
                       [](const HaarFeature& feature) { return feature.tilted; });
}

// A number t with a < t <= b: the midpoint if it is representable.
float threshold_between(float a, float b) {
    float middle = a / 2 + b / 2;
    return middle > a && middle <= b ? middle : b;
}

// Whether the gain at a corner of the possible sums is below another gain. The corners have all or
// none of the rows of each class; a split with an empty side gains nothing.
template <class Criterion>
bool corner_falls_short(const Criterion& criterion, StumpSums left, typename Criterion::Gain gain) {
    return criterion.falls_short(left, gain);
}
bool corner_falls_short(const SquaredCriterion& criterion, StumpSums left, double gain) {
    if (left.weight <= 0 || left.weight >= criterion.total.weight) return gain > 0;
    return criterion.is_below(left.response, left.weight, kSlack, gain);
}

StumpCriterion criterion_kind(const ErrorCriterion&) { return StumpCriterion::error; }
StumpCriterion criterion_kind(const ExponentialCriterion&) { return StumpCriterion::exponential; }
StumpCriterion criterion_kind(const SquaredCriterion&) { return StumpCriterion::squared; }

// The gain is convex in the weights of the two classes on the left, so that its maximum is where
// each class has none or all of the segment on the left.
template <class Criterion>
bool may_reach(const Criterion& criterion, StumpSums before, std::int64_t positive_sum,
               std::int64_t negative_sum, typename Criterion::Gain gain) {
    StumpSums positive{positive_sum, positive_sum}, negative{-negative_sum, negative_sum};
    return !corner_falls_short(criterion, before + positive, gain) ||
           !corner_falls_short(criterion, before + negative, gain) ||
           !corner_falls_short(criterion, before, gain) ||
           !corner_falls_short(criterion, before + positive + negative, gain);
}

}  // namespace

// A split between buckets, which are codes here.
template <class Criterion>
struct HaarSearch::Split : BucketSplit<Criterion> {
    float threshold = std::numeric_limits<float>::max();
};

template <class Criterion>
class HaarSearch::FeatureSearch {
  public:
    FeatureSearch(HaarSearch& search, int worker)
        : search_(search),
          worker_(worker),
          criterion_(search.total_),
          code_count_(search.store_.code_count()),
          rows_(search.rows() + 1),
          best{{criterion_.constant_gain()}} {}

    // Searches one feature. Returns the gain of its best split if that may reach the best gain so
    // far, and a smaller number otherwise.
    typename Criterion::Gain search_feature(std::size_t feature) {
        feature_ = feature;
        codes_ = search_.store_.codes(feature, worker_);
        sum_by_code();
        if (!search_.kernels_.may_reach(sums_[0], sums_[1], code_count_, criterion_kind(criterion_),
                                        static_cast<double>(best.gain)))
            return std::numeric_limits<typename Criterion::Gain>::lowest();
        Split<Criterion> split{{criterion_.constant_gain()}};
        split.feature = feature;
        search_between_codes(split);
        if (find_promising(std::max(best.gain, split.gain))) search_inside_codes(split);
        if (split.beats(best)) {
            split.threshold =
                split.is_after() ? threshold_after(split.bucket()) : inside_threshold_;
            best = split;
        }
        return split.gain;
    }

  private:
    void sum_by_code() {
        for (int negative = 0; negative < 2; ++negative) {
            const ClassWindows& windows = search_.class_windows_[negative];
            std::int64_t* sums = sums_[negative];
            std::fill_n(sums, code_count_, 0);
            const std::uint8_t* codes = codes_ + windows.first;
            if (windows.is_listed)
                search_.kernels_.add_some(codes, windows.rows.data(), windows.units.data(),
                                          windows.rows.size(), sums);
            else
                search_.kernels_.add(codes, windows.units.data(), windows.count, sums);
        }
    }

    StumpSums sums_of_code(std::size_t code) const {
        return {sums_[0][code] - sums_[1][code], sums_[0][code] + sums_[1][code]};
    }

    void search_between_codes(Split<Criterion>& split) const {
        StumpSums left;
        for (std::size_t code = 0; code + 1 < code_count_; ++code) {
            StumpSums code_sums = sums_of_code(code);
            if (code_sums.weight == 0) continue;
            left = left + code_sums;
            if (left.weight == criterion_.total.weight)
                break;  // nothing is left for the right side
            split.consider(criterion_, left, split.at(code, split.kAfter));
        }
    }

    bool find_promising(typename Criterion::Gain gain_to_reach) {
        bool any = false;
        StumpSums left;
        for (std::size_t code = 0; code < code_count_; ++code) {
            std::int64_t positive_sum = sums_[0][code], negative_sum = sums_[1][code];
            promising_[code] = 0;
            if (positive_sum + negative_sum == 0) continue;
            promising_[code] =
                may_reach(criterion_, left, positive_sum, negative_sum, gain_to_reach);
            any = any || promising_[code];
            left = left + sums_of_code(code);
        }
        return any;
    }

    struct ValuedWindow {
        float value;
        std::uint32_t row;
    };

    // Sorts the windows of a code by their values.
    void collect_windows(std::size_t code) {
        std::size_t count = search_.kernels_.find(codes_, search_.rows(),
                                                  static_cast<std::uint8_t>(code), rows_.data());
        chosen_.resize(count);
        for (std::size_t i = 0; i < count; ++i)
            chosen_[i] = {WindowPlanes::value(corners_, search_.planes_.factors(), rows_[i]),
                          rows_[i]};
        std::sort(chosen_.begin(), chosen_.end(),
                  [](ValuedWindow a, ValuedWindow b) { return a.value < b.value; });
    }

    void search_inside_codes(Split<Criterion>& split) {
        corners_ = search_.planes_.corners(search_.features_[feature_]);
        StumpSums before;
        for (std::size_t code = 0; code < code_count_; ++code) {
            if (promising_[code]) search_inside_code(code, before, split);
            before = before + sums_of_code(code);
        }
    }

    void search_inside_code(std::size_t code, StumpSums left, Split<Criterion>& split) {
        collect_windows(code);
        for (std::uint32_t i = 0; i + 1 < chosen_.size(); ++i) {
            std::int64_t units = search_.units_[chosen_[i].row];
            bool positive = chosen_[i].row < search_.class_windows_[0].count;
            left = left + StumpSums{positive ? units : -units, units};
            if (chosen_[i].value == chosen_[i + 1].value) continue;
            if (left.weight == 0 || left.weight == criterion_.total.weight) continue;
            if (split.consider(criterion_, left, split.at(code, i + 1)))
                inside_threshold_ = threshold_between(chosen_[i].value, chosen_[i + 1].value);
        }
    }

    // The midpoint between the values of the windows on both sides.
    float threshold_after(std::size_t code) {
        const float* values = search_.store_.coder(worker_).values(search_.features_[feature_]);
        float below = -std::numeric_limits<float>::max();
        float above = std::numeric_limits<float>::max();
        for (std::size_t i = 0; i < search_.rows(); ++i)
            if (codes_[i] <= code)
                below = std::max(below, values[i]);
            else
                above = std::min(above, values[i]);
        return threshold_between(below, above);
    }

    HaarSearch& search_;
    int worker_;
    Criterion criterion_;
    std::size_t code_count_;
    std::size_t feature_ = 0;
    const std::uint8_t* codes_ = nullptr;
    alignas(
        64) std::int64_t sums_[2][kMaxCodes];  // weights of the positive and of the negative class
    std::uint8_t promising_[kMaxCodes];
    CornerPlanes corners_{};
    std::vector<ValuedWindow> chosen_;
    std::vector<std::uint32_t> rows_;
    float inside_threshold_ = 0;

  public:
    Split<Criterion> best;
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
    class_windows_[0].count = class_windows_[1].first = count;
    class_windows_[1].count = order_.size() - count;
}

void HaarSearch::list_rows(ClassWindows& windows) {
    const std::int64_t* units = units_.data() + windows.first;
    windows.rows.clear();
    windows.units.clear();
    for (std::uint32_t i = 0; i < windows.count; ++i)
        if (units[i] != 0) {
            windows.rows.push_back(i);
            windows.units.push_back(units[i]);
        }
    windows.is_listed = static_cast<double>(windows.rows.size()) <=
                        kMaxListedShare * static_cast<double>(windows.count);
    if (!windows.is_listed) windows.units.assign(units, units + windows.count);
}

void HaarSearch::quantise(std::span<const double> weight) {
    double per_one = units_per_one(checked_sum(weight, team_), weight.size());
    unit_ = 1 / per_one;
    total_ = {};
    for (std::size_t i = 0; i < order_.size(); ++i) {
        std::int64_t units = in_units(weight[order_[i]], per_one);
        units_[i] = units;
        total_ = total_ + StumpSums{i < class_windows_[0].count ? units : -units, units};
    }
    for (ClassWindows& windows : class_windows_) list_rows(windows);
}

HaarStump HaarSearch::find_best(std::span<const double> weight, StumpCriterion criterion) {
    quantise(weight);
    switch (criterion) {
        case StumpCriterion::error:
            return find<ErrorCriterion>(criterion);
        case StumpCriterion::exponential:
            return find<ExponentialCriterion>(criterion);
        default:
            return find<SquaredCriterion>(criterion);
    }
}

template <class Criterion>
HaarStump HaarSearch::find(StumpCriterion criterion) {
    std::vector<FeatureSearch<Criterion>> searches;
    for (int worker = 0; worker < team_.size(); ++worker) searches.emplace_back(*this, worker);
    for (std::uint32_t feature : likely_) searches[0].search_feature(feature);
    for (FeatureSearch<Criterion>& search : searches) search.best = searches[0].best;

    struct Candidate {
        typename Criterion::Gain gain;
        std::uint32_t feature;
    };
    std::vector<Candidate> candidates((features_.size() + kFeaturesPerTask - 1) / kFeaturesPerTask);
    team_.run(candidates.size(), [&](std::size_t task, int worker) {
        std::size_t first = task * kFeaturesPerTask;
        std::size_t end = std::min(first + kFeaturesPerTask, features_.size());
        for (std::size_t f = first; f < end; ++f) {
            auto gain = searches[worker].search_feature(f);
            if (f == first || gain > candidates[task].gain)
                candidates[task] = {gain, static_cast<std::uint32_t>(f)};
        }
    });
    Split<Criterion> best = searches[0].best;
    for (const FeatureSearch<Criterion>& search : searches)
        if (search.best.beats(best)) best = search.best;

    std::size_t likely = std::min(kLikelyTasks, candidates.size());
    std::partial_sort(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(likely),
                      candidates.end(),
                      [](const Candidate& a, const Candidate& b) { return a.gain > b.gain; });
    likely_.clear();
    for (std::size_t i = 0; i < likely; ++i) likely_.push_back(candidates[i].feature);

    StumpFinding finding;
    finding.left = best.found ? best.left : total_;
    finding.right = total_ - finding.left;
    finding.stump.feature = best.found ? 0 : Stump::kConstant;
    evaluate_stump(criterion, {unit_, unit_, static_cast<double>(total_.weight) * unit_}, rows(),
                   finding);
    const Stump& evaluated = finding.stump;
    return {best.feature,
            best.threshold,
            evaluated.values[0],
            evaluated.values[1],
            evaluated.criterion_value,
            evaluated.gain};
}

void HaarSearch::values(std::size_t feature, float* out) {
    const float* values = store_.coder(0).values(features_[feature]);
    for (std::size_t i = 0; i < order_.size(); ++i) out[order_[i]] = values[i];
}

}  // namespace bosquet
