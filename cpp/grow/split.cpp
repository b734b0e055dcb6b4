#include "grow/split.hpp"

#include <algorithm>
#include <cmath>

namespace bosquet {

namespace {

double clipped_value(double g, double h, double l2, double max_step, const ValueBounds& bounds) {
    double value = -g / (h + l2);
    if (max_step > 0) value = std::clamp(value, -max_step, max_step);
    return std::clamp(value, bounds.lower, bounds.upper);
}

// Twice what the loss falls by when a node takes this value: -2gv - (h + l2)v^2, which is
// g^2 / (h + l2) at the best v.
double twice_fall(double g, double h, double l2, double value) {
    return -(2 * g + (h + l2) * value) * value;
}

}  // namespace

void SplitFinder::set_scale(const GradientScale& scale) {
    scale_ = scale;
    // A child lighter than min_samples_leaf of the lightest rows has too few rows for certain.
    double by_rows = static_cast<double>(options_->min_samples_leaf) * scale.least_hessian;
    double by_weight = std::ceil(options_->min_child_weight / scale.hessian_unit);
    double least = std::max({1.0, by_rows, by_weight});
    scan_scale_ = {scale.gradient_unit, scale.hessian_unit, options_->l2,
                   static_cast<std::int32_t>(std::min(least, 2147483647.0))};
}

double SplitFinder::leaf_value(Packed sum, const ValueBounds& bounds) const {
    Sums s = real(sum);
    return clipped_value(s.g, s.h, options_->l2, options_->max_delta_step, bounds);
}

// Twice what the loss falls by when a node is split so; negative where a constraint forbids it. The
// node itself is held to l2, its children to `l2`, which is more for categories.
double SplitFinder::reduction(std::uint32_t feature, Packed left, const SplitRequest& node,
                              double l2) const {
    Sums l = real(left);
    Sums all = real(node.total);
    double right_h = (hessian_of(node.total) - hessian_of(left)) * scale_.hessian_unit;
    if (unconstrained()) {
        double mean = all.g / (all.h + 2 * l2);
        return reduction_from(split_score(l.g, l.h + l2, right_h + l2, mean), node, l2);
    }
    double right_g = all.g - l.g;
    double step = options_->max_delta_step;
    double left_value = clipped_value(l.g, l.h, l2, step, node.bounds);
    double right_value = clipped_value(right_g, right_h, l2, step, node.bounds);
    int direction = options_->monotone.empty() ? 0 : options_->monotone[feature];
    if ((right_value - left_value) * direction < 0) return -1;
    double own_value = clipped_value(all.g, all.h, options_->l2, step, node.bounds);
    return twice_fall(l.g, l.h, l2, left_value) + twice_fall(right_g, right_h, l2, right_value) -
           twice_fall(all.g, all.h, options_->l2, own_value);
}

double SplitFinder::reduction_from(double score, const SplitRequest& node, double l2) const {
    Sums all = real(node.total);
    double both = all.h + 2 * l2;
    if (l2 == 0) return score * both;
    return score * both + all.g * all.g * (1 / both - 1 / (all.h + options_->l2));
}

bool SplitFinder::admissible(Packed left, Packed total) const {
    std::int32_t h = hessian_of(left);
    return h >= scan_scale_.least_hessian && hessian_of(total) - h >= scan_scale_.least_hessian;
}

bool SplitFinder::surely_large_enough(const Split& split, Packed total) const {
    std::int64_t enough = std::int64_t{options_->min_samples_leaf - 1} * scale_.greatest_hessian;
    std::int64_t left = hessian_of(split.left);
    // More than the heaviest min_samples_leaf - 1 rows could weigh: at least min_samples_leaf rows.
    return left > enough && hessian_of(total) - left > enough;
}

Split SplitFinder::finished(Split split, double reduction, const SplitRequest& node,
                            const std::uint32_t* counts) const {
    double gain = reduction / 2 - options_->min_split_gain;
    if (!(gain > rounding_error(node.total))) return {};
    split.gain = gain;
    // Missing rows that weigh nothing stay where they were counted.
    if (node.histogram[0] == 0 && (counts == nullptr || counts[0] == 0))
        split.missing_left = left_is_heavier(split.left, node.total);
    return split;
}

// Rows that are all alike leave a gain of pure rounding: the square of an ulp where values are
// free, the difference of large terms where they are not.
double SplitFinder::rounding_error(Packed total) const {
    Sums all = real(total);
    return (unconstrained() ? 1e-20 : 1e-13) * all.g * all.g / (all.h + options_->l2);
}

// Where a node has no missing values, those that come later go with most of its rows.
bool SplitFinder::left_is_heavier(Packed left, Packed total) {
    return 2.0 * hessian_of(left) >= hessian_of(total);
}

void SplitFinder::best_on(std::uint32_t feature, const SplitRequest& node, Split& out) const {
    const FeaturePlace& place = matrix_->layout().features[feature];
    if (place.categorical || !unconstrained()) {
        SplitRequest here = node;
        here.histogram += place.histogram;
        out = search(feature, here, nullptr);
        return;
    }
    const Packed* histogram = node.histogram + place.histogram;
    ScanResult found = kernels_->scan(histogram, place.bins, node.total, scan_scale_);
    if (found.score < 0) return;
    double gain = reduction_from(found.score, node, options_->l2) / 2 - options_->min_split_gain;
    if (!(gain > rounding_error(node.total))) return;
    out.gain = gain;
    out.feature = feature;
    out.bin = found.bin;
    out.missing_left =
        histogram[0] != 0 ? found.missing_left : left_is_heavier(found.left, node.total);
    out.left = found.left;
}

Split SplitFinder::search(std::uint32_t feature, const SplitRequest& node,
                          const std::uint32_t* counts) const {
    return matrix_->layout().features[feature].categorical
               ? search_categories(feature, node, counts)
               : search_ordered(feature, node, counts);
}

// The plain form of the scan in grow_kernel.cpp, with room for constraints and counts.
Split SplitFinder::search_ordered(std::uint32_t feature, const SplitRequest& node,
                                  const std::uint32_t* counts) const {
    std::uint32_t bins = matrix_->layout().features[feature].bins;
    std::size_t least_rows = options_->min_samples_leaf;
    double best = -1;
    Split split;
    split.feature = feature;
    for (bool missing_left : {false, true}) {
        if (missing_left && node.histogram[0] == 0) break;
        Packed left = missing_left ? node.histogram[0] : 0;
        std::size_t left_rows = counts != nullptr && missing_left ? counts[0] : 0;
        for (std::uint32_t bin = 1; bin < bins; ++bin) {
            left += node.histogram[bin];
            if (counts != nullptr) {
                left_rows += counts[bin];
                if (left_rows < least_rows || node.rows.count - left_rows < least_rows) continue;
            }
            if (!admissible(left, node.total)) continue;
            double s = reduction(feature, left, node, options_->l2);
            if (s > best) {
                best = s;
                split.bin = bin;
                split.missing_left = missing_left;
                split.left = left;
            }
        }
    }
    return best < 0 ? Split{} : finished(std::move(split), best, node, counts);
}

// Levels in the order of their mean gradient: for one output the best of all subsets is a run of
// that order (Fisher 1958). Missing values take part as a level of their own. Levels with too few
// rows to have a mean worth sorting stay together, on the right.
Split SplitFinder::search_categories(std::uint32_t feature, const SplitRequest& node,
                                     const std::uint32_t* counts) const {
    std::uint32_t bins = matrix_->layout().features[feature].bins;
    double l2 = options_->l2 + options_->category_l2;
    struct Level {
        double mean;
        std::uint32_t bin;
    };
    std::vector<Level> levels;
    double mean_hessian = real(node.total).h / static_cast<double>(node.rows.count);
    double least = options_->min_samples_category * mean_hessian;
    for (std::uint32_t bin = 0; bin < bins; ++bin) {
        Sums s = real(node.histogram[bin]);
        if (s.h > 0 && s.h >= least)
            levels.push_back({s.g / (s.h + options_->category_smoothing * mean_hessian), bin});
    }
    std::sort(levels.begin(), levels.end(), [](const Level& a, const Level& b) {
        return a.mean != b.mean ? a.mean < b.mean : a.bin < b.bin;
    });
    std::size_t longest = std::min<std::size_t>(levels.size(), options_->max_category_threshold);
    std::size_t least_rows = options_->min_samples_leaf;
    double best = -1;
    std::size_t best_length = 0;
    bool best_from_end = false;
    Packed best_left = 0;
    for (bool from_end : {false, true}) {
        Packed left = 0;
        std::size_t left_rows = 0;
        for (std::size_t length = 1; length <= longest; ++length) {
            std::uint32_t bin = levels[from_end ? levels.size() - length : length - 1].bin;
            left += node.histogram[bin];
            if (counts != nullptr) {
                left_rows += counts[bin];
                if (left_rows < least_rows || node.rows.count - left_rows < least_rows) continue;
            }
            if (!admissible(left, node.total)) continue;
            double s = reduction(feature, left, node, l2);
            if (s > best) {
                best = s;
                best_length = length;
                best_from_end = from_end;
                best_left = left;
            }
        }
    }
    if (best < 0) return {};
    Split split;
    split.feature = feature;
    split.left = best_left;
    for (std::size_t i = 0; i < best_length; ++i)
        split.left_bins.push_back(levels[best_from_end ? levels.size() - 1 - i : i].bin);
    std::sort(split.left_bins.begin(), split.left_bins.end());
    bool missing_left = split.left_bins.front() == 0;
    split = finished(std::move(split), best, node, counts);
    if (split.found() && (node.histogram[0] != 0 || (counts != nullptr && counts[0] != 0)))
        split.missing_left = missing_left;
    return split;
}

std::vector<std::uint32_t> SplitFinder::count_bins(std::uint32_t feature, RowSet rows) const {
    const FeaturePlace& place = matrix_->layout().features[feature];
    std::vector<std::uint32_t> counts(place.bins);
    auto count = [&](const auto* column) {
        for (std::size_t i = 0; i < rows.count; ++i)
            ++counts[column[rows.rows != nullptr ? rows.rows[i] : rows.first + i]];
    };
    if (place.wide)
        count(matrix_->wide_column(place));
    else
        count(matrix_->column(place));
    return counts;
}

std::size_t SplitFinder::count_left(const Split& split, RowSet rows) const {
    const FeaturePlace& place = matrix_->layout().features[split.feature];
    auto count = [&](const auto* column, auto goes_left) {
        std::size_t lefts = 0;
        for (std::size_t i = 0; i < rows.count; ++i)
            lefts += goes_left(column[rows.rows != nullptr ? rows.rows[i] : rows.first + i]);
        return lefts;
    };
    if (split.left_bins.empty())
        return count(matrix_->column(place), [&](std::uint32_t bin) {
            return bin == 0 ? split.missing_left : bin <= split.bin;
        });
    std::vector<std::uint8_t> table(place.bins);
    for (std::uint32_t bin : split.left_bins) table[bin] = 1;
    table[0] = split.missing_left;
    auto in_table = [&](std::uint32_t bin) { return table[bin]; };
    return place.wide ? count(matrix_->wide_column(place), in_table)
                      : count(matrix_->column(place), in_table);
}

Split SplitFinder::choose(std::span<Split> candidates, const SplitRequest& node) const {
    std::vector<std::uint8_t> searched;
    std::size_t least_rows = options_->min_samples_leaf;
    while (true) {
        std::size_t best = candidates.size();
        for (std::size_t i = 0; i < candidates.size(); ++i)
            if (candidates[i].found() &&
                (best == candidates.size() || candidates[i].gain > candidates[best].gain))
                best = i;
        if (best == candidates.size()) return {};
        Split& split = candidates[best];
        if (surely_large_enough(split, node.total) || (!searched.empty() && searched[best]))
            return std::move(split);
        std::size_t lefts = count_left(split, node.rows);
        if (lefts >= least_rows && node.rows.count - lefts >= least_rows) return std::move(split);
        std::vector<std::uint32_t> counts = count_bins(split.feature, node.rows);
        SplitRequest here = node;
        here.histogram += matrix_->layout().features[split.feature].histogram;
        split = search(split.feature, here, counts.data());
        searched.resize(candidates.size());
        searched[best] = 1;
    }
}

}  // namespace bosquet
