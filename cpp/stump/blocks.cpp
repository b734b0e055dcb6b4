#include "stump/blocks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/error.hpp"
#include "stump/bucket_split.hpp"
#include "stump/quantised.hpp"

namespace bosquet {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A split that also stores the side of missing values.
template <class Criterion>
struct BlockSplit : BucketSplit<Criterion> {
    bool missing_left = false;
    double threshold = kInfinity;
    std::size_t left_rows = 0;

    bool consider(const Criterion& criterion, StumpSums sums, std::uint64_t position,
                  bool missing) {
        if (!BucketSplit<Criterion>::consider(criterion, sums, position)) return false;
        missing_left = missing;
        return true;
    }
};

// Searches one feature after another, each from scratch.
template <class Criterion>
class FeatureSearch {
  public:
    FeatureSearch(RowSums rows, std::size_t count, const Criterion& criterion, Isa isa)
        : rows_(rows),
          criterion_(criterion),
          kernels_(&select_stump_kernels(isa)),
          values_(count),
          bucket_of_(count) {
        scale_.count = static_cast<std::uint16_t>(std::clamp<std::size_t>(count / 8, 16, 512));
        buckets_.resize(scale_.count + 1);
    }

    // `gain_to_reach` is a gain that another feature has reached.
    BlockSplit<Criterion> search(const Column& column, typename Criterion::Gain gain_to_reach) {
        read_column(column, 0, values_.size(), values_.data());
        fill_buckets();
        BlockSplit<Criterion> split{{criterion_.constant_gain()}};
        search_between_buckets(split);
        if (find_promising(std::max(gain_to_reach, split.gain))) search_inside_buckets(split);
        if (split.found && split.gain >= gain_to_reach) set_threshold_and_rows(split);
        return split;
    }

  private:
    std::uint32_t missing_bucket() const { return scale_.count; }
    StumpSums missing_sums() const { return buckets_.back().all; }

    void fill_buckets() {
        has_missing_ = kernels_->find_range(values_.data(), values_.size(), scale_);
        kernels_->find_buckets(values_.data(), values_.size(), scale_, bucket_of_.data());
        // One addition per row: responses by bucket and sign.
        by_sign_.assign(2 * buckets_.size(), 0);
        for (std::size_t i = 0; i < values_.size(); ++i) {
            std::int64_t response = rows_.response[i];
            by_sign_[2 * bucket_of_[i] + (response < 0)] += response;
        }
        for (std::size_t b = 0; b < buckets_.size(); ++b) {
            std::int64_t positive_sum = by_sign_[2 * b], negative_sum = -by_sign_[2 * b + 1];
            buckets_[b] = {{positive_sum - negative_sum, positive_sum + negative_sum},
                           positive_sum,
                           negative_sum};
        }
        if (rows_.weight == nullptr) return;
        for (BinSums& bucket : buckets_) bucket.all.weight = 0;
        for (std::size_t i = 0; i < values_.size(); ++i)
            buckets_[bucket_of_[i]].all.weight += rows_.weight[i];
    }

    void search_between_buckets(BlockSplit<Criterion>& split) const {
        StumpSums left;
        for (std::uint32_t b = 0; b < missing_bucket(); ++b) {
            left = left + buckets_[b].all;
            split.consider(criterion_, left, split.at(b, split.kAfter), false);
            if (has_missing_)
                split.consider(criterion_, left + missing_sums(), split.at(b, split.kAfter), true);
        }
    }

    bool find_promising(typename Criterion::Gain gain_to_reach) {
        promising_.assign(buckets_.size(), 0);
        bool any = false;
        StumpSums left;
        for (std::uint32_t b = 0; b < missing_bucket(); ++b) {
            SumBox box = buckets_[b].box(left);
            left = box.high();
            // Splits inside a bucket without weight are as good as the split before it. Only with
            // missing values on the left there may be no such split.
            if (buckets_[b].all.weight == 0 && !has_missing_) continue;
            promising_[b] = may_reach(box, has_missing_, missing_sums(), criterion_, gain_to_reach);
            any = any || promising_[b];
        }
        return any;
    }

    void search_inside_buckets(BlockSplit<Criterion>& split) {
        chosen_.clear();
        for (std::uint32_t i = 0; i < values_.size(); ++i)
            if (promising_[bucket_of_[i]]) chosen_.push_back(i);
        std::sort(chosen_.begin(), chosen_.end(), [&](std::uint32_t a, std::uint32_t b) {
            return values_[a] != values_[b] ? values_[a] < values_[b] : a < b;
        });
        StumpSums before;
        std::uint32_t next = 0;  // the first bucket that is not in `before`
        for (std::size_t i = 0; i < chosen_.size();) {
            std::uint32_t b = bucket_of_[chosen_[i]];
            for (; next < b; ++next) before = before + buckets_[next].all;
            StumpSums left = before;
            for (std::uint32_t inside = 1; i < chosen_.size() && bucket_of_[chosen_[i]] == b;
                 ++i, ++inside) {
                left = left + rows_.sums_of_row(chosen_[i]);
                bool continues = i + 1 < chosen_.size() && bucket_of_[chosen_[i + 1]] == b;
                if (!continues || values_[chosen_[i]] == values_[chosen_[i + 1]]) continue;
                consider_inside(split, left, BlockSplit<Criterion>::at(b, inside), i);
            }
        }
    }

    void consider_inside(BlockSplit<Criterion>& split, StumpSums left, std::uint64_t position,
                         std::size_t i) {
        bool accepted = split.consider(criterion_, left, position, false);
        if (has_missing_ && split.consider(criterion_, left + missing_sums(), position, true))
            accepted = true;
        if (accepted)
            inside_threshold_ = threshold_between(values_[chosen_[i]], values_[chosen_[i + 1]]);
    }

    void set_threshold_and_rows(BlockSplit<Criterion>& split) const {
        split.threshold = inside_threshold_;
        if (split.is_after()) {
            double below = -kInfinity, above = kInfinity;
            bool is_last = true;
            for (std::size_t i = 0; i < values_.size(); ++i) {
                if (bucket_of_[i] == missing_bucket()) continue;
                if (bucket_of_[i] <= split.bucket()) {
                    below = std::max(below, values_[i]);
                } else {
                    above = std::min(above, values_[i]);
                    is_last = false;
                }
            }
            split.threshold = is_last ? kInfinity : threshold_between(below, above);
        }
        split.left_rows = 0;
        for (double value : values_)
            split.left_rows += value != value ? split.missing_left : value <= split.threshold;
        if (!has_missing_) split.missing_left = 2 * split.left_rows > values_.size();
    }

    RowSums rows_;
    Criterion criterion_;
    const StumpKernels* kernels_;
    BucketScale scale_;
    std::vector<double> values_;
    std::vector<std::uint16_t> bucket_of_;
    std::vector<std::int64_t> by_sign_;
    std::vector<BinSums> buckets_;  // the last bucket is for missing values
    std::vector<std::uint8_t> promising_;
    std::vector<std::uint32_t> chosen_;
    double inside_threshold_ = 0;
    bool has_missing_ = false;
};

template <class Criterion>
class Blocks final : public BlockSearch {
  public:
    Blocks(const QuantisedRows& rows, std::size_t count, StumpCriterion criterion, Isa isa,
           Team& team)
        : criterion_(criterion),
          scale_(rows.scale()),
          count_(count),
          team_(team),
          response_(count),
          weight_(criterion == StumpCriterion::squared ? count : 0) {
        total_ = rows.fill({0, count}, response_.data(), weight_.data());
        best_ = BlockSplit<Criterion>{{Criterion(total_).constant_gain()}};
        RowSums sums{response_.data(), weight_.size() > 0 ? weight_.data() : nullptr};
        searches_.assign(team.size(),
                         FeatureSearch<Criterion>(sums, count, Criterion(total_), isa));
    }

    void add(std::uint32_t first, const Table& features) override {
        std::vector<BlockSplit<Criterion>> found(team_.size(), best_);
        team_.run(features.columns.size(), [&](std::size_t f, int worker) {
            BlockSplit<Criterion>& best = found[worker];
            auto split = searches_[worker].search(features.columns[f], best.gain);
            split.feature = first + f;
            if (split.beats(best)) best = split;
        });
        for (const BlockSplit<Criterion>& split : found)
            if (split.beats(best_)) best_ = split;
    }

    Stump best() const override {
        StumpFinding finding;
        Stump& stump = finding.stump;
        stump.rows = stump.left_rows = static_cast<double>(count_);
        finding.left = total_;
        if (best_.found) {
            stump.feature = static_cast<std::int32_t>(best_.feature);
            stump.threshold = best_.threshold;
            stump.missing_left = best_.missing_left;
            stump.left_rows = static_cast<double>(best_.left_rows);
            finding.left = best_.left;
            finding.right = total_ - best_.left;
        }
        evaluate_stump(criterion_, scale_, count_, finding);
        return stump;
    }

  private:
    StumpCriterion criterion_;
    StumpScale scale_;
    std::size_t count_;
    Team& team_;
    Buffer<std::int64_t> response_, weight_;
    StumpSums total_;
    BlockSplit<Criterion> best_{};
    std::vector<FeatureSearch<Criterion>> searches_;
};

}  // namespace

std::unique_ptr<BlockSearch> make_block_search(std::span<const double> target,
                                               std::span<const double> weight,
                                               StumpCriterion criterion, Isa isa, Team& team) {
    QuantisedRows rows(target, weight, criterion, team);
    std::size_t count = target.size();
    if (criterion == StumpCriterion::error)
        return std::make_unique<Blocks<ErrorCriterion>>(rows, count, criterion, isa, team);
    if (criterion == StumpCriterion::exponential)
        return std::make_unique<Blocks<ExponentialCriterion>>(rows, count, criterion, isa, team);
    return std::make_unique<Blocks<SquaredCriterion>>(rows, count, criterion, isa, team);
}

}  // namespace bosquet
