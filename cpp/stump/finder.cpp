#include "stump/finder.hpp"

#include <cmath>

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
    : table_(table), grow_kernels_(select_grow_kernels(isa)), team_(team), shares_(team.size()) {}

void StumpFinder::prepare(StumpCriterion criterion, bool own_weights) {
    // Bins of ordered columns need a bound, and that needs both signs apart.
    bool one_sum = criterion == StumpCriterion::error && table_.ordered().empty();
    kept_ = own_weights ? Kept::pairs : one_sum ? Kept::together : Kept::apart;
    if (table_.ordered().empty()) return;
    if (response_.size() == 0) response_ = Buffer<std::int64_t>(table_.rows());
    if (kept_ == Kept::pairs && weight_.size() == 0) weight_ = Buffer<std::int64_t>(table_.rows());
}

StumpFinder::Share& StumpFinder::open(int worker, bool from_nothing) {
    std::unique_ptr<Share>& share = shares_[worker];
    if (share && share->used) return *share;
    if (!share) share = std::make_unique<Share>();
    std::size_t size = table_.binned().layout().histogram_size;
    for (Buffer<std::int64_t>* run : {&share->response, &share->weight, &share->more})
        if (run->size() == 0) *run = Buffer<std::int64_t>(kRunRows);
    std::size_t sums = kept_ == Kept::together ? 1 : kept_ == Kept::apart ? 2 : 3;
    for (std::size_t i = 0; i < sums; ++i) {
        bool is_new = share->sums[i].data() == nullptr;
        if (is_new) share->sums[i] = Buffer<std::int64_t>(size);
        if (is_new || from_nothing || worker != 0)
            std::fill(share->sums[i].begin(), share->sums[i].end(), std::int64_t{0});
    }
    if (from_nothing || worker != 0) share->total = {};
    share->used = true;
    return *share;
}

void StumpFinder::add_all(Range range, const std::int64_t* values, std::int64_t* sums) {
    const BinnedMatrix& matrix = table_.binned();
    const Layout& layout = matrix.layout();
    RowSet run{nullptr, 0, range.size()};
    for (const Tile& tile : layout.tiles)
        grow_kernels_.tile_histogram(matrix.tile(tile) + range.begin * tile.stride, tile.stride,
                                     tile.features, run, values, sums + tile.histogram);
    for (std::uint32_t f : layout.wide) {
        const FeaturePlace& place = layout.features[f];
        grow_kernels_.wide_histogram(matrix.wide_column(place) + range.begin, run, values,
                                     sums + place.histogram);
    }
}

void StumpFinder::add_some(Range range, const std::uint32_t* rows, std::size_t count,
                           const std::int64_t* values, std::int64_t* sums) {
    const BinnedMatrix& matrix = table_.binned();
    const Layout& layout = matrix.layout();
    RowSet some{rows, 0, count};
    // The sums of so many features fit into the first-level cache.
    constexpr std::uint32_t kFeatures = 16;
    for (const Tile& tile : layout.tiles) {
        const std::uint8_t* bins = matrix.tile(tile) + range.begin * tile.stride;
        for (std::uint32_t first = 0; first < tile.features; first += kFeatures)
            grow_kernels_.tile_histogram(bins + first, tile.stride,
                                         std::min(kFeatures, tile.features - first), some, values,
                                         sums + tile.histogram + first * 256);
    }
    for (std::uint32_t f : layout.wide) {
        const FeaturePlace& place = layout.features[f];
        grow_kernels_.wide_histogram(matrix.wide_column(place) + range.begin, some, values,
                                     sums + place.histogram);
    }
}

void StumpFinder::add_by_sign(Range range, const std::int64_t* values, Share& share) {
    RowsBySign& some = share.rows;
    some.count[0] = some.count[1] = 0;
    for (std::uint32_t i = 0; i < range.size(); ++i) {
        std::size_t negative = values[i] < 0;
        some.rows[negative][some.count[negative]++] = i;
    }
    for (int negative = 0; negative < 2; ++negative)
        add_some(range, some.rows[negative], some.count[negative], values,
                 share.sums[negative].data());
}

void StumpFinder::merge() {
    Share& all = *shares_[0];
    all.used = false;
    constexpr std::size_t kSlice = 16'384;
    std::size_t size = table_.binned().layout().histogram_size;
    std::vector<const Share*> others;
    for (std::size_t worker = 1; worker < shares_.size(); ++worker) {
        if (!shares_[worker] || !shares_[worker]->used) continue;
        shares_[worker]->used = false;
        others.push_back(shares_[worker].get());
        all.total = all.total + shares_[worker]->total;
    }
    total_ = all.total;
    if (others.empty()) return;
    int sums = kept_ == Kept::together ? 1 : kept_ == Kept::apart ? 2 : 3;
    team_.run((size + kSlice - 1) / kSlice, [&](std::size_t slice, int) {
        std::size_t begin = slice * kSlice, count = std::min(kSlice, size - begin);
        for (const Share* share : others)
            for (int i = 0; i < sums; ++i)
                grow_kernels_.add(all.sums[i].data() + begin, share->sums[i].data() + begin, count);
    });
}

void StumpFinder::read_bins(std::uint32_t feature, std::vector<BinSums>& bins) const {
    const FeaturePlace& place = table_.binned().layout().features[feature];
    const Share& all = *shares_[0];
    bins.resize(place.bins);
    const std::int64_t* positive = all.sums[0].data() + place.histogram;
    if (kept_ == Kept::together) {
        for (std::uint32_t bin = 0; bin < place.bins; ++bin) bins[bin].all = {positive[bin], 0};
        return;
    }
    const std::int64_t* negative = all.sums[1].data() + place.histogram;
    const std::int64_t* weight =
        kept_ == Kept::pairs ? all.sums[2].data() + place.histogram : nullptr;
    for (std::uint32_t bin = 0; bin < place.bins; ++bin) {
        std::int64_t up = positive[bin], down = -negative[bin];
        bins[bin] = {{up - down, weight != nullptr ? weight[bin] : up + down}, up, down};
    }
}

StumpFinding StumpFinder::best(StumpCriterion criterion, const StumpScale& scale) {
    StumpFinding finding = criterion == StumpCriterion::error ? find(ErrorRule(total_))
                           : criterion == StumpCriterion::exponential
                               ? find(ExponentialRule(total_))
                               : find(SquaredRule(total_));
    judge(criterion, scale, table_.rows(), finding);
    return finding;
}

// Splits between bins.
template <class Rule>
void StumpFinder::search_bins(const Rule& rule, std::vector<FoundCut<Rule>>& cuts) {
    const Layout& layout = table_.binned().layout();
    constexpr std::size_t kFeatures = 16;  // of a task: some ten microseconds
    team_.run((layout.active.size() + kFeatures - 1) / kFeatures, [&](std::size_t task, int) {
        std::vector<BinSums> bins;
        std::size_t end = std::min((task + 1) * kFeatures, layout.active.size());
        for (std::size_t i = task * kFeatures; i < end; ++i) {
            std::uint32_t f = layout.active[i];
            read_bins(f, bins);
            if (layout.features[f].categorical)
                scan_levels<Rule>(bins, rule, cuts[f]);
            else
                scan_bins<Rule>(bins, table_.has_missing(f), rule, cuts[f]);
        }
    });
}

// Splits inside bins, where one may reach what the best split so far gains; the columns that have
// gained most come first.
template <class Rule>
void StumpFinder::search_rows(const Rule& rule, std::vector<FoundCut<Rule>>& cuts) {
    const std::vector<OrderedColumn>& ordered = table_.ordered();
    if (ordered.empty()) return;
    auto bar = rule.alone();
    for (const FoundCut<Rule>& cut : cuts) bar = std::max(bar, cut.gain);
    std::vector<const OrderedColumn*> columns;
    for (const OrderedColumn& column : ordered) columns.push_back(&column);
    std::sort(columns.begin(), columns.end(), [&](const auto* a, const auto* b) {
        return cuts[a->feature].gain > cuts[b->feature].gain;
    });
    RowSums rows{response_.data(), kept_ == Kept::pairs ? weight_.data() : nullptr};
    std::vector<typename Rule::Gain> bars(team_.size(), bar);
    team_.run(columns.size(), [&](std::size_t task, int worker) {
        std::uint32_t feature = columns[task]->feature;
        std::vector<BinSums> bins;
        read_bins(feature, bins);
        scan_ordered<Rule>(*columns[task], bins, bars[worker], rows, rule, cuts[feature]);
    });
}

template <class Rule>
StumpFinding StumpFinder::find(const Rule& rule) {
    std::vector<FoundCut<Rule>> cuts(table_.features(), FoundCut<Rule>(rule));
    search_bins(rule, cuts);
    search_rows(rule, cuts);
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
    if (table_.bins(feature).categorical) {
        std::vector<BinSums> bins;
        read_bins(feature, bins);
        place.left_bins = left_levels<Rule>(bins, best);
    }
    table_.describe(place, finding.stump);
    return finding;
}

}  // namespace bosquet
