#include "stump/finder.hpp"

#include <cmath>
#include <limits>

#include "base/math.hpp"

namespace bosquet {

namespace {

double sign_of(std::int64_t response) { return response > 0 ? 1 : -1; }

// Half the logarithm of the odds, each weight raised by half the weight of an average row: a side
// of one class alone would otherwise say infinity.
double half_log_odds(StumpSums side, double smoothing) {
    return 0.5 * exact_log((static_cast<double>(side.positive()) + smoothing) /
                           (static_cast<double>(side.negative()) + smoothing));
}

double mean_response(StumpSums side, const StumpScale& scale) {
    return static_cast<double>(side.response) / static_cast<double>(side.weight) *
           (scale.response / scale.weight);
}

template <class Rule>
double reached(const Rule& rule, const StumpFinding& finding) {
    return static_cast<double>(finding.stump.is_constant() ? rule.alone() : rule(finding.left));
}

}  // namespace

void judge(StumpCriterion criterion, const StumpScale& scale, std::size_t rows,
           StumpFinding& finding) {
    Stump& stump = finding.stump;
    StumpSums total = finding.left + finding.right;
    auto weight = static_cast<double>(total.weight);
    auto say = [&](auto of_side) {
        double left = of_side(finding.left);
        stump.values = {left, stump.is_constant() ? left : of_side(finding.right)};
    };
    if (criterion == StumpCriterion::error) {
        ErrorRule rule(total);
        std::int64_t right_less_wrong = stump.is_constant() ? rule.alone() : rule(finding.left);
        stump.merit = static_cast<double>(total.weight - right_less_wrong) / 2 * scale.weight;
        stump.gain =
            (reached(rule, finding) - static_cast<double>(rule.alone())) / 2 * scale.weight;
        say([](StumpSums side) { return sign_of(side.response); });
    } else if (criterion == StumpCriterion::exponential) {
        ExponentialRule rule(total);
        double gain = reached(rule, finding);
        stump.merit = -2 * gain * scale.weight;
        stump.gain = 2 * (gain - rule.alone()) * scale.weight;
        double smoothing = weight / (2 * static_cast<double>(rows));
        say([&](StumpSums side) { return half_log_odds(side, smoothing); });
    } else {
        SquaredRule rule(total);
        double response = static_cast<double>(total.response) * scale.response;
        double alone = scale.squares - response * response / (weight * scale.weight);
        stump.gain =
            reached(rule, finding) * weight * scale.response * scale.response / scale.weight;
        stump.merit = std::max(0.0, alone - stump.gain);
        say([&](StumpSums side) { return mean_response(side, scale); });
    }
}

StumpFinder::StumpFinder(const StumpTable& table, Isa isa, Team& team)
    : table_(table),
      grow_kernels_(select_grow_kernels(isa)),
      kernels_(select_stump_kernels(isa)),
      team_(team),
      shares_(team.size()) {}

void StumpFinder::prepare(RowKind kind) {
    kind_ = kind;
    for (Share& share : shares_) share.used = false;
    if (table_.ordered().empty()) return;
    if (response_.size() == 0) response_ = Buffer<std::int64_t>(table_.rows());
    if (kind == RowKind::pairs && weight_.size() == 0)
        weight_ = Buffer<std::int64_t>(table_.rows());
}

void StumpFinder::open(Share& share) {
    std::size_t size = table_.binned().layout().histogram_size;
    auto clear = [&](Buffer<std::int64_t>& sums, Buffer<std::int64_t>& run) {
        if (sums.data() == nullptr) {
            sums = Buffer<std::int64_t>(size);
            run = Buffer<std::int64_t>(kRunRows);
        }
        std::fill(sums.begin(), sums.end(), std::int64_t{0});
    };
    clear(share.response, share.run_response);
    if (kind_ != RowKind::responses) clear(share.weight, share.run_weight);
    share.total = {};
    share.used = true;
}

void StumpFinder::add_run(Range range, const std::int64_t* response, const std::int64_t* weight,
                          Share& share) {
    const BinnedMatrix& matrix = table_.binned();
    const Layout& layout = matrix.layout();
    RowSet rows{nullptr, 0, range.size()};
    auto add = [&](const std::int64_t* values, std::int64_t* sums) {
        for (const Tile& tile : layout.tiles)
            grow_kernels_.tile_histogram(matrix.tile(tile) + range.begin * tile.stride, tile.stride,
                                         tile.features, rows, values, sums + tile.histogram);
        for (std::uint32_t f : layout.wide) {
            const FeaturePlace& place = layout.features[f];
            grow_kernels_.wide_histogram(matrix.wide_column(place) + range.begin, rows, values,
                                         sums + place.histogram);
        }
    };
    add(response, share.response.data());
    if (kind_ == RowKind::responses) return;
    if (kind_ == RowKind::signs) {
        std::int64_t* magnitudes = share.run_weight.data();
        for (std::size_t i = 0; i < range.size(); ++i) magnitudes[i] = magnitude(response[i]);
        weight = magnitudes;
    }
    add(weight, share.weight.data());
}

void StumpFinder::merge() {
    std::vector<std::size_t> used;
    for (std::size_t worker = 0; worker < shares_.size(); ++worker)
        if (shares_[worker].used) used.push_back(worker);
    merged_ = used.front();
    Share& all = shares_[merged_];
    total_ = all.total;
    for (std::size_t i = 1; i < used.size(); ++i) total_ = total_ + shares_[used[i]].total;
    constexpr std::size_t kSlice = 16'384;
    std::size_t size = table_.binned().layout().histogram_size;
    if (used.size() == 1) return;
    team_.run((size + kSlice - 1) / kSlice, [&](std::size_t slice, int) {
        std::size_t begin = slice * kSlice, count = std::min(kSlice, size - begin);
        for (std::size_t i = 1; i < used.size(); ++i) {
            const Share& share = shares_[used[i]];
            grow_kernels_.add(all.response.data() + begin, share.response.data() + begin, count);
            if (kind_ != RowKind::responses)
                grow_kernels_.add(all.weight.data() + begin, share.weight.data() + begin, count);
        }
    });
}

BinSums StumpFinder::bin_sums(std::uint32_t feature) const {
    const Share& all = shares_[merged_];
    std::size_t at = table_.binned().layout().features[feature].histogram;
    return {all.response.data() + at,
            kind_ != RowKind::responses ? all.weight.data() + at : nullptr};
}

StumpFinding StumpFinder::best(StumpCriterion criterion, const StumpScale& scale) {
    StumpFinding finding = criterion == StumpCriterion::error ? find(ErrorRule(total_))
                           : criterion == StumpCriterion::exponential
                               ? find(ExponentialRule(total_))
                               : find(SquaredRule(total_));
    judge(criterion, scale, table_.rows(), finding);
    return finding;
}

template <class Rule>
StumpFinding StumpFinder::find(const Rule& rule) {
    std::vector<FoundCut<Rule>> cuts(table_.features(), FoundCut<Rule>(rule));
    const Layout& layout = table_.binned().layout();
    constexpr std::size_t kFeatures = 32;  // of a task: some ten microseconds
    team_.run((layout.active.size() + kFeatures - 1) / kFeatures, [&](std::size_t task, int) {
        std::size_t end = std::min((task + 1) * kFeatures, layout.active.size());
        for (std::size_t i = task * kFeatures; i < end; ++i) {
            std::uint32_t f = layout.active[i];
            std::uint32_t bins = layout.features[f].bins;
            if (layout.features[f].categorical)
                scan_levels(bin_sums(f), bins, rule, cuts[f]);
            else
                scan_bins(bin_sums(f), bins, table_.counts(f)[0] > 0, rule, cuts[f]);
        }
    });
    RowSums rows{response_.data(), kind_ == RowKind::pairs ? weight_.data() : nullptr};
    team_.run(table_.ordered().size(), [&](std::size_t index, int) {
        const OrderedColumn& column = table_.ordered()[index];
        scan_order(column.order, rows, kernels_, rule, cuts[column.feature]);
    });
    FoundCut<Rule> best(rule);
    std::uint32_t feature = 0;
    for (std::uint32_t f = 0; f < cuts.size(); ++f)
        if (cuts[f].found && cuts[f].gain > best.gain) {
            best = cuts[f];
            feature = f;
        }
    StumpFinding finding;
    finding.stump.rows = finding.stump.left_rows = static_cast<double>(table_.rows());
    finding.left = total_;
    if (!best.found) return finding;
    finding.left = best.left;
    finding.right = total_ - best.left;
    CutPlace place{feature, best.position, best.missing_left, {}};
    if (table_.ordered(feature) == nullptr && table_.bins(feature).categorical)
        place.left_bins = left_levels(bin_sums(feature), table_.bins(feature).bins(), best);
    table_.describe(place, finding.stump);
    return finding;
}

}  // namespace bosquet
