#include "grow/split_finder.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.hpp"

namespace bosquet {

namespace {

double compute_clipped_value(double g, double h, double l2, double max_step,
                             const ValueBounds& bounds) {
    double value = -g / (h + l2);
    if (max_step > 0) value = std::clamp(value, -max_step, max_step);
    return std::clamp(value, bounds.lower, bounds.upper);
}

// Twice the decrease of the loss if a node gets this value: -2gv - (h + l2)v^2, which is g^2 / (h +
// l2) at the best v.
double twice_decrease(double g, double h, double l2, double value) {
    return -(2 * g + (h + l2) * value) * value;
}

}  // namespace

void SplitFinder::set_scale(const GradientScale& scale) {
    scale_ = scale;
    // A child with a smaller Hessian than min_samples_leaf rows of the smallest Hessian certainly
    // has too few rows.
    double by_rows = static_cast<double>(options_->min_samples_leaf) * scale.min_hessian;
    double by_weight = std::ceil(options_->min_child_weight / scale.hessian_unit);
    double minimum = std::max({1.0, by_rows, by_weight});
    min_hessian_ = static_cast<std::int32_t>(std::min(minimum, 2147483647.0));
    noise_ = options_->split_noise * std::sqrt(scale.random_decrease);
}

NodeToSplit SplitFinder::prepare_node(RowSet rows, std::uint64_t all_rows,
                                      const PackedGradient* histogram, PackedGradient total,
                                      const ValueBounds& bounds, std::uint64_t key) const {
    Sums all = dequantise(total);
    double l2 = options_->l2;
    NodeScan scan{};
    scan.total = total;
    scan.gradient_unit = scale_.gradient_unit;
    scan.hessian_unit = scale_.hessian_unit;
    scan.l2 = l2;
    scan.mean = all.g / (all.h + 2 * l2);
    scan.min_hessian = min_hessian_;

    // Error analysis, in units of the histogram. The square root of a score is |t| / sqrt(a c) with
    // t = G_L - mean a. Integers are rounded once (relative error 2^-24) and mean * a at most five
    // times, so that the error of t is below 2^-21 (|G_L| + |mean a|). Since a + c = S, |t| is at
    // most the best root times S / 2, and |mean a| at most |G|. The error of the root is the error
    // of t divided by sqrt(a c), which is smallest for the lightest child. It counts twice, because
    // the best root has an error as well. The rest of the formula has an error below 2^-18.
    double units = l2 / scale_.hessian_unit;
    double spread = hessian_of(total) + 2 * units;
    double lightest = min_hessian_ + units;
    double min_root = std::sqrt(std::max(1.0, lightest * (spread - lightest)));
    scan.float_mean = static_cast<float>(gradient_of(total) / spread);
    scan.float_l2 = static_cast<float>(units);
    scan.relative_error = static_cast<float>(0x1p-20 * (spread / 2) / min_root + 0x1p-18);
    scan.absolute_error =
        static_cast<float>(0x1p-20 * 2 * std::abs(1.0 * gradient_of(total)) / min_root);

    // If all rows are equal, the gain consists of rounding errors only: the square of an ulp
    // without constraints on values, a difference of large terms with constraints.
    double min_gain = (is_unconstrained() ? 1e-20 : 1e-13) * all.g * all.g / (all.h + l2);
    return {rows, all_rows, histogram, bounds, scan, key, min_gain};
}

double SplitFinder::leaf_value(PackedGradient sum, const ValueBounds& bounds) const {
    Sums s = dequantise(sum);
    return compute_clipped_value(s.g, s.h, options_->l2, options_->max_delta_step, bounds);
}

// Twice the decrease of the loss by this split; negative if a constraint forbids it. The node
// itself uses the option l2, its children the argument `l2`, which is larger for categories.
double SplitFinder::loss_decrease(std::uint32_t feature, PackedGradient left,
                                  const NodeToSplit& node, double l2) const {
    Sums l = dequantise(left);
    Sums all = dequantise(node.total());
    double right_h = (hessian_of(node.total()) - hessian_of(left)) * scale_.hessian_unit;
    if (is_unconstrained()) {
        double mean = all.g / (all.h + 2 * l2);
        return decrease_from_score(split_score(l.g, l.h + l2, right_h + l2, mean), node, l2);
    }
    double right_g = all.g - l.g;
    double step = options_->max_delta_step;
    double left_value = compute_clipped_value(l.g, l.h, l2, step, node.bounds);
    double right_value = compute_clipped_value(right_g, right_h, l2, step, node.bounds);
    int direction = options_->monotone.empty() ? 0 : options_->monotone[feature];
    if ((right_value - left_value) * direction < 0) return -1;
    double own_value = compute_clipped_value(all.g, all.h, options_->l2, step, node.bounds);
    return twice_decrease(l.g, l.h, l2, left_value) +
           twice_decrease(right_g, right_h, l2, right_value) -
           twice_decrease(all.g, all.h, options_->l2, own_value);
}

double SplitFinder::decrease_from_score(double score, const NodeToSplit& node, double l2) const {
    Sums all = dequantise(node.total());
    double both = all.h + 2 * l2;
    if (l2 == 0) return score * both;
    return score * both + all.g * all.g * (1 / both - 1 / (all.h + options_->l2));
}

bool SplitFinder::is_admissible(PackedGradient left, PackedGradient total) const {
    std::int32_t h = hessian_of(left);
    return h >= min_hessian_ && hessian_of(total) - h >= min_hessian_;
}

bool SplitFinder::is_surely_large_enough(const Split& split, PackedGradient total) const {
    std::int64_t enough = (std::int64_t{options_->min_samples_leaf} - 1) * scale_.max_hessian;
    std::int64_t left = hessian_of(split.left_sum);
    // More than min_samples_leaf - 1 rows with the largest Hessian can have, so at least
    // min_samples_leaf rows.
    return left > enough && hessian_of(total) - left > enough;
}

// If a node has no missing values, missing values in later data go to the heavier child.
bool SplitFinder::left_is_heavier(PackedGradient left, PackedGradient total) {
    return 2.0 * hessian_of(left) >= hessian_of(total);
}

void SplitFinder::find_best_split_on(std::uint32_t feature, const NodeToSplit& node,
                                     Split& out) const {
    Split found = search(feature, node, nullptr);
    if (found.found()) out = std::move(found);
}

Split SplitFinder::search(std::uint32_t feature, const NodeToSplit& node,
                          const std::int64_t* counts) const {
    return matrix_->layout().features[feature].categorical
               ? search_categories(feature, node, counts)
               : search_ordered(feature, node, counts);
}

// The bins after which a split leaves enough rows on both sides. `before` rows go left in every
// split.
BinRange SplitFinder::bins_with_enough_rows(const std::int64_t* counts, std::uint32_t bins,
                                            std::int64_t before, std::int64_t rows) const {
    std::int64_t minimum = options_->min_samples_leaf, left = before;
    BinRange range{bins, 0};
    for (std::uint32_t bin = 1; bin < bins; ++bin) {
        left += counts[bin];
        if (left < minimum) continue;
        if (rows - left < minimum) break;
        range.first = std::min(range.first, bin);
        range.last = bin;
    }
    return range;
}

Split SplitFinder::search_ordered(std::uint32_t feature, const NodeToSplit& node,
                                  const std::int64_t* counts) const {
    const FeaturePlace& place = matrix_->layout().features[feature];
    const PackedGradient* sums = node.histogram + place.histogram;
    BinRange right{1, place.bins - 1}, left = right;
    if (counts != nullptr) {
        auto rows = static_cast<std::int64_t>(node.all_rows);
        right = bins_with_enough_rows(counts, place.bins, 0, rows);
        left = bins_with_enough_rows(counts, place.bins, counts[0], rows);
    }
    ScanResult best;
    double decrease;
    if (is_unconstrained()) {
        best = kernels_->scan(sums, right, left, node.scan);
        decrease = decrease_from_score(best.score, node, options_->l2);
    } else {
        best = scan_constrained(feature, sums, right, left, node);
        decrease = best.score;
    }
    double gain = decrease / 2 - options_->min_split_gain;
    Split split;
    if (best.score < 0 || !(gain > node.min_gain)) return split;
    split.gain = gain;
    split.feature = feature;
    split.bin = best.bin;
    split.left_sum = best.left;
    // Rows with missing values and weight 0 stay on the side where they were counted.
    bool no_missing = sums[0] == 0 && (counts == nullptr || counts[0] == 0);
    split.missing_left = no_missing ? left_is_heavier(best.left, node.total()) : best.missing_left;
    return split;
}

// The scan of grow_kernel.cpp for bounded values; the score of a split is then its reduction.
ScanResult SplitFinder::scan_constrained(std::uint32_t feature, const PackedGradient* sums,
                                         BinRange missing_right, BinRange missing_left,
                                         const NodeToSplit& node) const {
    ScanResult best;
    for (bool with_missing : {false, true}) {
        if (with_missing && sums[0] == 0) break;
        BinRange range = with_missing ? missing_left : missing_right;
        for (std::uint32_t bin = range.first; bin <= range.last; ++bin) {
            PackedGradient left = sums[bin] + (with_missing ? sums[0] : 0);
            if (!is_admissible(left, node.total())) continue;
            double decrease = loss_decrease(feature, left, node, options_->l2);
            if (decrease > best.score) best = {decrease, bin, with_missing, left};
        }
    }
    return best;
}

// Scans the levels in the order of their mean gradient: for one output the best of all subsets is
// contiguous in that order (Fisher 1958). Missing values take part as a level of their own. Levels
// with too few rows for a reliable mean stay together on the right.
Split SplitFinder::search_categories(std::uint32_t feature, const NodeToSplit& node,
                                     const std::int64_t* counts) const {
    const FeaturePlace& place = matrix_->layout().features[feature];
    const PackedGradient* entries = node.histogram + place.histogram;
    double l2 = options_->l2 + options_->category_l2;
    struct Level {
        double mean;
        std::uint32_t bin;
    };
    std::vector<Level> levels;
    double mean_hessian = dequantise(node.total()).h / static_cast<double>(node.all_rows);
    double minimum = options_->min_samples_category * mean_hessian;
    for (std::uint32_t bin = 0; bin < place.bins; ++bin) {
        Sums s = dequantise(entries[bin]);
        if (s.h > 0 && s.h >= minimum)
            levels.push_back({s.g / (s.h + options_->category_smoothing * mean_hessian), bin});
    }
    std::sort(levels.begin(), levels.end(), [](const Level& a, const Level& b) {
        return a.mean != b.mean ? a.mean < b.mean : a.bin < b.bin;
    });
    std::size_t longest = std::min<std::size_t>(levels.size(), options_->max_category_threshold);
    std::int64_t min_rows = options_->min_samples_leaf;
    auto rows = static_cast<std::int64_t>(node.all_rows);
    double best = -1;
    std::size_t best_length = 0;
    bool best_from_end = false;
    PackedGradient best_left = 0;
    for (bool from_end : {false, true}) {
        PackedGradient left = 0;
        std::int64_t left_rows = 0;
        for (std::size_t length = 1; length <= longest; ++length) {
            std::uint32_t bin = levels[from_end ? levels.size() - length : length - 1].bin;
            left += entries[bin];
            if (counts != nullptr) {
                left_rows += counts[bin];
                if (left_rows < min_rows || rows - left_rows < min_rows) continue;
            }
            if (!is_admissible(left, node.total())) continue;
            double s = loss_decrease(feature, left, node, l2);
            if (s > best) {
                best = s;
                best_length = length;
                best_from_end = from_end;
                best_left = left;
            }
        }
    }
    double gain = best / 2 - options_->min_split_gain;
    if (best < 0 || !(gain > node.min_gain)) return {};
    Split split;
    split.gain = gain;
    split.feature = feature;
    split.left_sum = best_left;
    for (std::size_t i = 0; i < best_length; ++i)
        split.left_bins.push_back(levels[best_from_end ? levels.size() - 1 - i : i].bin);
    std::sort(split.left_bins.begin(), split.left_bins.end());
    bool no_missing = entries[0] == 0 && (counts == nullptr || counts[0] == 0);
    split.missing_left =
        no_missing ? left_is_heavier(best_left, node.total()) : split.left_bins.front() == 0;
    return split;
}

// The rows of all parts by bin.
std::vector<std::int64_t> SplitFinder::count_bins(std::uint32_t feature, RowSet rows) const {
    const FeaturePlace& place = matrix_->layout().features[feature];
    std::vector<std::int64_t> counts(place.bins);
    auto count = [&](auto column) {
        for (std::size_t i = 0; i < rows.count; ++i) ++counts[column[rows.row(i)]];
    };
    if (place.wide)
        count(matrix_->wide_column(place));
    else
        count(matrix_->column(place));
    reducer_->add(counts);
    return counts;
}

std::int64_t SplitFinder::count_left(const Split& split, std::span<const std::int64_t> counts) {
    std::int64_t n_left = split.missing_left ? counts[0] : 0;
    if (split.left_bins.empty())
        return std::accumulate(counts.begin() + 1, counts.begin() + split.bin + 1, n_left);
    for (std::uint32_t bin : split.left_bins)
        if (bin > 0) n_left += counts[bin];
    return n_left;
}

// The value by which the splits of a node on different features are compared: the gain, or, with
// noise, the root of twice the decrease of the loss. The root of a split at random is distributed
// like the absolute value of a normal variable, so that the noise has the same scale.
double SplitFinder::priority(const Split& split, const NodeToSplit& node) const {
    if (noise_ == 0) return split.gain;
    double decrease = 2 * (split.gain + options_->min_split_gain);
    return std::sqrt(decrease) + noise_ * standard_normal(node.key, 1, split.feature);
}

Split SplitFinder::choose_split(std::span<Split> candidates, const NodeToSplit& node) const {
    std::vector<std::uint8_t> counted;
    std::int64_t min_rows = options_->min_samples_leaf;
    auto rows = static_cast<std::int64_t>(node.all_rows);
    while (true) {
        std::size_t best = candidates.size();
        double highest = 0;
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            if (!candidates[i].found()) continue;
            double value = priority(candidates[i], node);
            if (best < candidates.size() && !(value > highest)) continue;
            best = i;
            highest = value;
        }
        if (best == candidates.size()) return {};
        Split& split = candidates[best];
        if (is_surely_large_enough(split, node.total()) || (!counted.empty() && counted[best]))
            return std::move(split);
        std::vector<std::int64_t> counts = count_bins(split.feature, node.rows);
        std::int64_t n_left = count_left(split, counts);
        if (n_left >= min_rows && rows - n_left >= min_rows) return std::move(split);
        split = search(split.feature, node, counts.data());
        counted.resize(candidates.size());
        counted[best] = 1;
    }
}

}  // namespace bosquet
