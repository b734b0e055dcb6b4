#include "stump/stump_finder.hpp"

#include <cmath>

#include "base/math.hpp"

namespace bosquet {

namespace {

double sign_of(std::int64_t response) { return response > 0 ? 1 : -1; }

// Half the log-odds. Each weight is increased by half the weight of an average row, because a side
// with a single class would otherwise predict infinity.
double half_log_odds(StumpSums side, double smoothing) {
    return 0.5 * portable_log((static_cast<double>(side.positive()) + smoothing) /
                              (static_cast<double>(side.negative()) + smoothing));
}

double mean_response(StumpSums side, const StumpScale& scale) {
    return static_cast<double>(side.response) / static_cast<double>(side.weight) *
           (scale.response / scale.weight);
}

template <class Criterion>
double gain_of(const Criterion& criterion, const StumpFinding& finding) {
    return static_cast<double>(finding.stump.is_constant() ? criterion.constant_gain()
                                                           : criterion(finding.left));
}

}  // namespace

void evaluate_stump(StumpCriterion criterion, const StumpScale& scale, std::size_t rows,
                    StumpFinding& finding) {
    Stump& stump = finding.stump;
    StumpSums total = finding.left + finding.right;
    auto weight = static_cast<double>(total.weight);
    auto set_values = [&](auto value_of) {
        double left = value_of(finding.left);
        stump.values = {left, stump.is_constant() ? left : value_of(finding.right)};
    };
    if (criterion == StumpCriterion::error) {
        ErrorCriterion error(total);
        std::int64_t signed_gain =
            stump.is_constant() ? error.constant_gain() : error(finding.left);
        stump.criterion_value = static_cast<double>(total.weight - signed_gain) / 2 * scale.weight;
        stump.gain = (gain_of(error, finding) - static_cast<double>(error.constant_gain())) / 2 *
                     scale.weight;
        set_values([](StumpSums side) { return sign_of(side.response); });
    } else if (criterion == StumpCriterion::exponential) {
        ExponentialCriterion exponential(total);
        double gain = gain_of(exponential, finding);
        stump.criterion_value = -2 * gain * scale.weight;
        stump.gain = 2 * (gain - exponential.constant_gain()) * scale.weight;
        double smoothing = weight / (2 * static_cast<double>(rows));
        set_values([&](StumpSums side) { return half_log_odds(side, smoothing); });
    } else {
        SquaredCriterion squared(total);
        double response = static_cast<double>(total.response) * scale.response;
        double constant_error = scale.squares - response * response / (weight * scale.weight);
        stump.gain =
            gain_of(squared, finding) * weight * scale.response * scale.response / scale.weight;
        stump.criterion_value = std::max(0.0, constant_error - stump.gain);
        set_values([&](StumpSums side) { return mean_response(side, scale); });
    }
}

StumpFinder::StumpFinder(const StumpTable& table, Isa isa, Team& team)
    : table_(table),
      grow_kernels_(select_grow_kernels(isa)),
      team_(team),
      thread_sums_(team.size()) {}

void StumpFinder::prepare_sums(StumpCriterion criterion, bool own_weights) {
    // Bins of ordered columns need bounds, which need the sums of both signs separately.
    bool one_sum = criterion == StumpCriterion::error && table_.ordered().empty();
    content_ = own_weights ? BinContent::with_weights
               : one_sum   ? BinContent::signed_weights
                           : BinContent::by_sign;
    if (table_.ordered().empty()) return;
    if (response_.size() == 0) response_ = Buffer<std::int64_t>(table_.rows());
    if (content_ == BinContent::with_weights && weight_.size() == 0)
        weight_ = Buffer<std::int64_t>(table_.rows());
}

StumpFinder::ThreadSums& StumpFinder::open_thread_sums(int worker, bool restart) {
    std::unique_ptr<ThreadSums>& sums_of_thread = thread_sums_[worker];
    if (sums_of_thread && sums_of_thread->used) return *sums_of_thread;
    if (!sums_of_thread) sums_of_thread = std::make_unique<ThreadSums>();
    std::size_t size = table_.binned().layout().histogram_size;
    for (Buffer<std::int64_t>* run :
         {&sums_of_thread->response, &sums_of_thread->weight, &sums_of_thread->response_changes})
        if (run->size() == 0) *run = Buffer<std::int64_t>(kRunRows);
    std::size_t sums = content_ == BinContent::signed_weights ? 1
                       : content_ == BinContent::by_sign      ? 2
                                                              : 3;
    for (std::size_t i = 0; i < sums; ++i) {
        bool is_new = sums_of_thread->sums[i].data() == nullptr;
        if (is_new) sums_of_thread->sums[i] = Buffer<std::int64_t>(size);
        if (is_new || restart || worker != 0)
            std::fill(sums_of_thread->sums[i].begin(), sums_of_thread->sums[i].end(),
                      std::int64_t{0});
    }
    if (restart || worker != 0) sums_of_thread->total = {};
    sums_of_thread->used = true;
    return *sums_of_thread;
}

void StumpFinder::add_all_rows(Range range, const std::int64_t* values, std::int64_t* sums) {
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

void StumpFinder::add_listed_rows(Range range, const std::uint32_t* rows, std::size_t count,
                                  const std::int64_t* values, std::int64_t* sums) {
    const BinnedMatrix& matrix = table_.binned();
    const Layout& layout = matrix.layout();
    RowSet listed_rows{rows, 0, count};
    // The sums of this many features fit into the first-level cache.
    constexpr std::uint32_t kFeatures = 16;
    for (const Tile& tile : layout.tiles) {
        const std::uint8_t* bins = matrix.tile(tile) + range.begin * tile.stride;
        for (std::uint32_t first = 0; first < tile.features; first += kFeatures)
            grow_kernels_.tile_histogram(bins + first, tile.stride,
                                         std::min(kFeatures, tile.features - first), listed_rows,
                                         values, sums + tile.histogram + first * 256);
    }
    for (std::uint32_t f : layout.wide) {
        const FeaturePlace& place = layout.features[f];
        grow_kernels_.wide_histogram(matrix.wide_column(place) + range.begin, listed_rows, values,
                                     sums + place.histogram);
    }
}

void StumpFinder::add_by_sign(Range range, const std::int64_t* values, ThreadSums& sums_of_thread) {
    RowsBySign& listed_rows = sums_of_thread.rows;
    listed_rows.count[0] = listed_rows.count[1] = 0;
    for (std::uint32_t i = 0; i < range.size(); ++i) {
        std::size_t negative = values[i] < 0;
        listed_rows.rows[negative][listed_rows.count[negative]++] = i;
    }
    for (int negative = 0; negative < 2; ++negative)
        add_listed_rows(range, listed_rows.rows[negative], listed_rows.count[negative], values,
                        sums_of_thread.sums[negative].data());
}

void StumpFinder::merge_thread_sums() {
    ThreadSums& all = *thread_sums_[0];
    all.used = false;
    constexpr std::size_t kSlice = 16'384;
    std::size_t size = table_.binned().layout().histogram_size;
    std::vector<const ThreadSums*> others;
    for (std::size_t worker = 1; worker < thread_sums_.size(); ++worker) {
        if (!thread_sums_[worker] || !thread_sums_[worker]->used) continue;
        thread_sums_[worker]->used = false;
        others.push_back(thread_sums_[worker].get());
        all.total = all.total + thread_sums_[worker]->total;
    }
    total_ = all.total;
    if (others.empty()) return;
    int sums = content_ == BinContent::signed_weights ? 1 : content_ == BinContent::by_sign ? 2 : 3;
    team_.run((size + kSlice - 1) / kSlice, [&](std::size_t slice, int) {
        std::size_t begin = slice * kSlice, count = std::min(kSlice, size - begin);
        for (const ThreadSums* sums_of_thread : others)
            for (int i = 0; i < sums; ++i)
                grow_kernels_.add(all.sums[i].data() + begin,
                                  sums_of_thread->sums[i].data() + begin, count);
    });
}

void StumpFinder::read_bins(std::uint32_t feature, std::vector<BinSums>& bins) const {
    const FeaturePlace& place = table_.binned().layout().features[feature];
    const ThreadSums& all = *thread_sums_[0];
    bins.resize(place.bins);
    const std::int64_t* positive = all.sums[0].data() + place.histogram;
    if (content_ == BinContent::signed_weights) {
        for (std::uint32_t bin = 0; bin < place.bins; ++bin) bins[bin].all = {positive[bin], 0};
        return;
    }
    const std::int64_t* negative = all.sums[1].data() + place.histogram;
    const std::int64_t* weight =
        content_ == BinContent::with_weights ? all.sums[2].data() + place.histogram : nullptr;
    for (std::uint32_t bin = 0; bin < place.bins; ++bin) {
        std::int64_t positive_sum = positive[bin], negative_sum = -negative[bin];
        bins[bin] = {{positive_sum - negative_sum,
                      weight != nullptr ? weight[bin] : positive_sum + negative_sum},
                     positive_sum,
                     negative_sum};
    }
}

StumpFinding StumpFinder::find_best(StumpCriterion criterion, const StumpScale& scale) {
    StumpFinding finding = criterion == StumpCriterion::error ? find_best(ErrorCriterion(total_))
                           : criterion == StumpCriterion::exponential
                               ? find_best(ExponentialCriterion(total_))
                               : find_best(SquaredCriterion(total_));
    evaluate_stump(criterion, scale, table_.rows(), finding);
    return finding;
}

// Searches the splits between bins.
template <class Criterion>
void StumpFinder::search_bins(const Criterion& criterion,
                              std::vector<FoundSplit<Criterion>>& splits) {
    const Layout& layout = table_.binned().layout();
    constexpr std::size_t kFeatures = 16;  // features per task, which takes about ten microseconds
    team_.run((layout.active.size() + kFeatures - 1) / kFeatures, [&](std::size_t task, int) {
        std::vector<BinSums> bins;
        std::size_t end = std::min((task + 1) * kFeatures, layout.active.size());
        for (std::size_t i = task * kFeatures; i < end; ++i) {
            std::uint32_t f = layout.active[i];
            read_bins(f, bins);
            if (layout.features[f].categorical)
                scan_levels<Criterion>(bins, criterion, splits[f]);
            else
                scan_bins<Criterion>(bins, table_.has_missing(f), criterion, splits[f]);
        }
    });
}

// Searches the splits inside those bins that may reach the gain of the best split so far. The
// columns with the largest gains come first.
template <class Criterion>
void StumpFinder::search_rows(const Criterion& criterion,
                              std::vector<FoundSplit<Criterion>>& splits) {
    const std::vector<OrderedColumn>& ordered = table_.ordered();
    if (ordered.empty()) return;
    auto gain_to_reach = criterion.constant_gain();
    for (const FoundSplit<Criterion>& split : splits)
        gain_to_reach = std::max(gain_to_reach, split.gain);
    std::vector<const OrderedColumn*> columns;
    for (const OrderedColumn& column : ordered) columns.push_back(&column);
    std::sort(columns.begin(), columns.end(), [&](const auto* a, const auto* b) {
        return splits[a->feature].gain > splits[b->feature].gain;
    });
    RowSums rows{response_.data(), content_ == BinContent::with_weights ? weight_.data() : nullptr};
    std::vector<typename Criterion::Gain> gains_to_reach(team_.size(), gain_to_reach);
    team_.run(columns.size(), [&](std::size_t task, int worker) {
        std::uint32_t feature = columns[task]->feature;
        std::vector<BinSums> bins;
        read_bins(feature, bins);
        scan_ordered<Criterion>(*columns[task], bins, gains_to_reach[worker], rows, criterion,
                                splits[feature]);
    });
}

template <class Criterion>
StumpFinding StumpFinder::find_best(const Criterion& criterion) {
    std::vector<FoundSplit<Criterion>> splits(table_.features(), FoundSplit<Criterion>(criterion));
    search_bins(criterion, splits);
    search_rows(criterion, splits);
    FoundSplit<Criterion> best(criterion);
    std::uint32_t feature = 0;
    for (std::uint32_t f = 0; f < splits.size(); ++f)
        if (splits[f].found && splits[f].gain > best.gain) {
            best = splits[f];
            feature = f;
        }
    StumpFinding finding;
    finding.stump.rows = finding.stump.left_rows = static_cast<double>(table_.rows());
    finding.left = total_;
    if (!best.found) return finding;
    finding.left = best.left;
    finding.right = total_ - best.left;
    SplitPosition split{feature, best.position, best.missing_left, {}};
    if (table_.bins(feature).categorical) {
        std::vector<BinSums> bins;
        read_bins(feature, bins);
        split.left_bins = left_levels<Criterion>(bins, best);
    }
    table_.describe(split, finding.stump);
    return finding;
}

}  // namespace bosquet
