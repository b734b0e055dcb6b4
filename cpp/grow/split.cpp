#include "grow/split.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

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
    least_hessian_ = static_cast<std::int32_t>(std::min(least, 2147483647.0));
}

SplitRequest SplitFinder::request(RowSet rows, const Packed* histogram, Packed total,
                                  const ValueBounds& bounds) const {
    Sums all = real(total);
    double l2 = options_->l2;
    NodeScan scan{};
    scan.total = total;
    scan.gradient_unit = scale_.gradient_unit;
    scan.hessian_unit = scale_.hessian_unit;
    scan.l2 = l2;
    scan.mean = all.g / (all.h + 2 * l2);
    scan.least_hessian = least_hessian_;

    // In units: the root of a score is |t| / sqrt(a c) with t = G_L - mean a. Integers are rounded
    // once (2^-24 of their size), mean * a at most five times, so t is off by less than
    // 2^-21 (|G_L| + |mean a|). As a + c = S, |t| is at most the best root times S / 2, and |mean
    // a| at most |G|. The root is off by t's error over sqrt(a c), which is least where a child is
    // lightest; it counts twice, for the best root is off as well. The rest of the formula is off
    // by less than 2^-18.
    double units = l2 / scale_.hessian_unit;
    double spread = hessian_of(total) + 2 * units;
    double lightest = least_hessian_ + units;
    double least_root = std::sqrt(std::max(1.0, lightest * (spread - lightest)));
    scan.rough_mean = static_cast<float>(gradient_of(total) / spread);
    scan.rough_l2 = static_cast<float>(units);
    scan.off_share = static_cast<float>(0x1p-20 * (spread / 2) / least_root + 0x1p-18);
    scan.off_most =
        static_cast<float>(0x1p-20 * 2 * std::abs(1.0 * gradient_of(total)) / least_root);

    // Rows that are all alike leave a gain of pure rounding: the square of an ulp where values are
    // free, the difference of large terms where they are not.
    double least_gain = (unconstrained() ? 1e-20 : 1e-13) * all.g * all.g / (all.h + l2);
    return {rows, histogram, bounds, scan, least_gain};
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
    Sums all = real(node.total());
    double right_h = (hessian_of(node.total()) - hessian_of(left)) * scale_.hessian_unit;
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
    Sums all = real(node.total());
    double both = all.h + 2 * l2;
    if (l2 == 0) return score * both;
    return score * both + all.g * all.g * (1 / both - 1 / (all.h + options_->l2));
}

bool SplitFinder::admissible(Packed left, Packed total) const {
    std::int32_t h = hessian_of(left);
    return h >= least_hessian_ && hessian_of(total) - h >= least_hessian_;
}

bool SplitFinder::surely_large_enough(const Split& split, Packed total) const {
    std::int64_t enough = std::int64_t{options_->min_samples_leaf - 1} * scale_.greatest_hessian;
    std::int64_t left = hessian_of(split.left);
    // More than the heaviest min_samples_leaf - 1 rows could weigh: at least min_samples_leaf rows.
    return left > enough && hessian_of(total) - left > enough;
}

// Where a node has no missing values, those that come later go with most of its rows.
bool SplitFinder::left_is_heavier(Packed left, Packed total) {
    return 2.0 * hessian_of(left) >= hessian_of(total);
}

void SplitFinder::best_on(std::uint32_t feature, const SplitRequest& node, Split& out) const {
    Split found = search(feature, node, nullptr);
    if (found.found()) out = std::move(found);
}

Split SplitFinder::search(std::uint32_t feature, const SplitRequest& node,
                          const std::uint32_t* counts) const {
    return matrix_->layout().features[feature].categorical
               ? search_categories(feature, node, counts)
               : search_ordered(feature, node, counts);
}

// The bins after which a split leaves enough rows on both sides; `before` rows go left with bin 1.
BinRange SplitFinder::with_enough_rows(const std::uint32_t* counts, std::uint32_t bins,
                                       std::size_t before, std::size_t rows) const {
    std::size_t least = options_->min_samples_leaf, left = before;
    BinRange range{bins, 0};
    for (std::uint32_t bin = 1; bin < bins; ++bin) {
        left += counts[bin];
        if (left < least) continue;
        if (rows - left < least) break;
        range.first = std::min(range.first, bin);
        range.last = bin;
    }
    return range;
}

Split SplitFinder::search_ordered(std::uint32_t feature, const SplitRequest& node,
                                  const std::uint32_t* counts) const {
    const FeaturePlace& place = matrix_->layout().features[feature];
    const Packed* sums = node.histogram + place.histogram;
    BinRange right{1, place.bins - 1}, left = right;
    if (counts != nullptr) {
        right = with_enough_rows(counts, place.bins, 0, node.rows.count);
        left = with_enough_rows(counts, place.bins, counts[0], node.rows.count);
    }
    ScanResult best;
    double reduced;
    if (unconstrained()) {
        best = kernels_->scan(sums, right, left, node.scan);
        reduced = reduction_from(best.score, node, options_->l2);
    } else {
        best = scan_constrained(feature, sums, right, left, node);
        reduced = best.score;
    }
    double gain = reduced / 2 - options_->min_split_gain;
    Split split;
    if (best.score < 0 || !(gain > node.least_gain)) return split;
    split.gain = gain;
    split.feature = feature;
    split.bin = best.bin;
    split.left = best.left;
    // Missing rows that weigh nothing stay where they were counted.
    bool no_missing = sums[0] == 0 && (counts == nullptr || counts[0] == 0);
    split.missing_left = no_missing ? left_is_heavier(best.left, node.total()) : best.missing_left;
    return split;
}

// The scan of grow_kernel.cpp where values are bounded: a split's score is then its reduction.
ScanResult SplitFinder::scan_constrained(std::uint32_t feature, const Packed* sums,
                                         BinRange missing_right, BinRange missing_left,
                                         const SplitRequest& node) const {
    ScanResult best;
    for (bool with_missing : {false, true}) {
        if (with_missing && sums[0] == 0) break;
        BinRange range = with_missing ? missing_left : missing_right;
        for (std::uint32_t bin = range.first; bin <= range.last; ++bin) {
            Packed left = sums[bin] + (with_missing ? sums[0] : 0);
            if (!admissible(left, node.total())) continue;
            double reduced = reduction(feature, left, node, options_->l2);
            if (reduced > best.score) best = {reduced, bin, with_missing, left};
        }
    }
    return best;
}

// Levels in the order of their mean gradient: for one output the best of all subsets is a run of
// that order (Fisher 1958). Missing values take part as a level of their own. Levels with too few
// rows to have a mean worth sorting stay together, on the right.
Split SplitFinder::search_categories(std::uint32_t feature, const SplitRequest& node,
                                     const std::uint32_t* counts) const {
    const FeaturePlace& place = matrix_->layout().features[feature];
    const Packed* entries = node.histogram + place.histogram;
    double l2 = options_->l2 + options_->category_l2;
    struct Level {
        double mean;
        std::uint32_t bin;
    };
    std::vector<Level> levels;
    double mean_hessian = real(node.total()).h / static_cast<double>(node.rows.count);
    double least = options_->min_samples_category * mean_hessian;
    for (std::uint32_t bin = 0; bin < place.bins; ++bin) {
        Sums s = real(entries[bin]);
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
            left += entries[bin];
            if (counts != nullptr) {
                left_rows += counts[bin];
                if (left_rows < least_rows || node.rows.count - left_rows < least_rows) continue;
            }
            if (!admissible(left, node.total())) continue;
            double s = reduction(feature, left, node, l2);
            if (s > best) {
                best = s;
                best_length = length;
                best_from_end = from_end;
                best_left = left;
            }
        }
    }
    double gain = best / 2 - options_->min_split_gain;
    if (best < 0 || !(gain > node.least_gain)) return {};
    Split split;
    split.gain = gain;
    split.feature = feature;
    split.left = best_left;
    for (std::size_t i = 0; i < best_length; ++i)
        split.left_bins.push_back(levels[best_from_end ? levels.size() - 1 - i : i].bin);
    std::sort(split.left_bins.begin(), split.left_bins.end());
    bool no_missing = entries[0] == 0 && (counts == nullptr || counts[0] == 0);
    split.missing_left =
        no_missing ? left_is_heavier(best_left, node.total()) : split.left_bins.front() == 0;
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

std::size_t SplitFinder::count_left(const Split& split, std::span<const std::uint32_t> counts) {
    std::size_t lefts = split.missing_left ? counts[0] : 0;
    if (split.left_bins.empty())
        return std::accumulate(counts.begin() + 1, counts.begin() + split.bin + 1, lefts);
    for (std::uint32_t bin : split.left_bins)
        if (bin > 0) lefts += counts[bin];
    return lefts;
}

Split SplitFinder::choose(std::span<Split> candidates, const SplitRequest& node) const {
    std::vector<std::uint8_t> counted;
    std::size_t least_rows = options_->min_samples_leaf;
    while (true) {
        std::size_t best = candidates.size();
        for (std::size_t i = 0; i < candidates.size(); ++i)
            if (candidates[i].found() &&
                (best == candidates.size() || candidates[i].gain > candidates[best].gain))
                best = i;
        if (best == candidates.size()) return {};
        Split& split = candidates[best];
        if (surely_large_enough(split, node.total()) || (!counted.empty() && counted[best]))
            return std::move(split);
        std::vector<std::uint32_t> counts = count_bins(split.feature, node.rows);
        std::size_t lefts = count_left(split, counts);
        if (lefts >= least_rows && node.rows.count - lefts >= least_rows) return std::move(split);
        split = search(split.feature, node, counts.data());
        counted.resize(candidates.size());
        counted[best] = 1;
    }
}

}  // namespace bosquet
