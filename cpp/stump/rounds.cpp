#include "stump/rounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.hpp"
#include "base/math.hpp"
#include "stump/units.hpp"

namespace bosquet {

namespace {

// Friedman, Hastie and Tibshirani (2000) recommend to limit the working response to a value between
// 2 and 4, and weights to at least twice the machine precision.
constexpr double kMaxResponse = 4;
constexpr double kMinWeight = 0x1p-51;

// For weights that are multiplied in every round: their sum starts at about 2^kUnitsExponent units.
// If it would leave the bounds below, or the logarithm of a factor would exceed kMaxStep, all
// weights are computed again.
constexpr int kUnitsExponent = 52;
constexpr double kMinUnits = 0x1p46, kMaxUnits = 0x1p60;
constexpr double kMaxStep = 300;

constexpr double kPriorPerOne = 0x1p61;  // units per 1 for row weights, whose sum is 1
constexpr double kFewUnits = 0x1p-20;    // errors below this are summed again, row by row

constexpr double kMaxOdds = 1e150;  // larger odds would overflow the weights

double with_sign_of(double magnitude, double sign) { return std::copysign(magnitude, sign); }

bool is_positive(double signed_weight) { return !std::signbit(signed_weight); }

}  // namespace

StumpBooster::BlockSums& StumpBooster::BlockSums::operator+=(const BlockSums& other) {
    weight += other.weight;
    absolute += other.absolute;
    squares += other.squares;
    potential += other.potential;
    wrong += other.wrong;
    return *this;
}

StumpBooster::StumpBooster(const StumpTable& table, Isa isa, Team& team,
                           std::span<const double> target, std::span<const double> weight,
                           StumpVariant variant, double learning_rate)
    : table_(table),
      isa_(isa),
      kernels_(select_stump_kernels(isa)),
      team_(team),
      variant_(variant),
      learning_rate_(learning_rate),
      finder_(table, isa, team),
      weights_(table.rows()),
      margins_(table.rows()) {
    if (!(learning_rate > 0) || !std::isfinite(learning_rate))
        throw InputError("learning_rate=" + std::to_string(learning_rate) +
                         " must be > 0 and finite");
    check_signs(target);
    set_row_weights(weight, checked_sum(weight, team));
    if (variant == StumpVariant::logit) responses_ = Buffer<double>(table.rows());
    std::vector<std::int64_t> wrong(block_count(table.rows()));
    team.run(wrong.size(), [&](std::size_t index, int) {
        Range rows = block_range(table.rows(), index);
        for (std::size_t i = rows.begin; i < rows.end; ++i) {
            weights_[i] = with_sign_of(row_weight(i), target[i]);
            margins_[i] = 0;
        }
        wrong[index] = count_wrong(rows);
    });
    set_training_error(std::accumulate(wrong.begin(), wrong.end(), std::int64_t{0}));
    if (is_multiplicative()) {
        set_unit(1);
        sum_all_weights();
    } else {
        const double zero_step[2] = {0, 0};
        reweight({}, zero_step);
    }
}

void StumpBooster::set_row_weights(std::span<const double> weight, double sum) {
    equal_weight_ = 1 / static_cast<double>(weight.size());
    bool uneven = false;
    for (double w : weight) uneven |= w != weight[0];
    if (!uneven) return;
    prior_ = Buffer<double>(weight.size());
    for (std::size_t i = 0; i < weight.size(); ++i) prior_[i] = weight[i] / sum;
}

void StumpBooster::set_unit(double sum) {
    unit_.weight = unit_.response = std::ldexp(1.0, std::ilogb(sum) - kUnitsExponent);
}

bool StumpBooster::is_multiplicative() const {
    return variant_ != StumpVariant::logit && variant_ != StumpVariant::mada;
}

StumpCriterion StumpBooster::criterion() const {
    switch (variant_) {
        case StumpVariant::real:
            return StumpCriterion::exponential;
        case StumpVariant::gentle:
        case StumpVariant::logit:
            return StumpCriterion::squared;
        default:
            return StumpCriterion::error;
    }
}

std::int64_t StumpBooster::count_wrong(Range run) const {
    std::int64_t wrong = 0;
    for (std::size_t i = run.begin; i < run.end; ++i) {
        // f = 0 predicts the negative class, so that a row of the positive class is wrong.
        bool is_wrong =
            (margins_[i] < 0) | ((margins_[i] == 0) & static_cast<int>(is_positive(weights_[i])));
        std::int64_t units = prior_.size() > 0 ? in_units(prior_[i], kPriorPerOne) : 1;
        wrong += units * is_wrong;
    }
    return wrong;
}

void StumpBooster::set_training_error(std::int64_t wrong) {
    double unit = prior_.size() > 0 ? 1 / kPriorPerOne : 1 / static_cast<double>(table_.rows());
    training_error_ = static_cast<double>(wrong) * unit;
}

void StumpBooster::weights(double* out) const {
    double sum = 0;
    for (std::size_t i = 0; i < table_.rows(); ++i) sum += std::abs(weights_[i]);
    for (std::size_t i = 0; i < table_.rows(); ++i) out[i] = std::abs(weights_[i]) / sum;
}

void StumpBooster::sum_all_weights() {
    double per_weight = 1 / unit_.weight, per_response = 1 / unit_.response;
    auto fill = [&](Range run, std::int64_t* response, std::int64_t* weight, int) {
        StumpSums sums;
        for (std::size_t i = 0; i < run.size(); ++i) {
            double w = weights_[run.begin + i];
            std::int64_t units = in_units(std::abs(w), per_weight);
            response[i] = is_positive(w) ? units : -units;
            if (weight != nullptr) {
                weight[i] = units;
                response[i] = in_units(responses_[run.begin + i], per_response);
            }
            sums = sums + StumpSums{response[i], units};
        }
        return sums;
    };
    finder_.sum_all_rows(criterion(), variant_ == StumpVariant::logit, fill);
}

// Computes the weights from the margins, relative to the smallest margin, so that nothing
// overflows. Rows whose weights were once too small to represent may have grown again.
void StumpBooster::compute_weights_from_margins() {
    std::size_t blocks = block_count(table_.rows());
    std::vector<double> smallest(blocks, std::numeric_limits<double>::infinity()), sums(blocks);
    team_.run(blocks, [&](std::size_t index, int) {
        Range rows = block_range(table_.rows(), index);
        for (std::size_t i = rows.begin; i < rows.end; ++i)
            if (row_weight(i) > 0) smallest[index] = std::min(smallest[index], margins_[i]);
    });
    double smallest_margin = *std::min_element(smallest.begin(), smallest.end());
    team_.run(blocks, [&](std::size_t index, int) {
        Range rows = block_range(table_.rows(), index);
        for (std::size_t i = rows.begin; i < rows.end; ++i) {
            double weight = row_weight(i) * portable_exp(smallest_margin - margins_[i]);
            weights_[i] = with_sign_of(weight, weights_[i]);
            sums[index] += weight;
        }
    });
    set_unit(std::accumulate(sums.begin(), sums.end(), 0.0));
    sum_all_weights();
}

void StumpBooster::multiply(const Stump& stump, const StumpStep& step) {
    StumpSides sides(table_, stump, isa_);
    struct alignas(64) Wrong {
        std::int64_t rows = 0;
    };
    std::vector<Wrong> wrong(team_.size());
    double per_one = 1 / unit_.weight;
    finder_.update([&](Range run, std::int64_t* response, std::int64_t* response_changes,
                       RowsBySign& changed, int worker) {
        std::uint8_t right[kRunRows];
        sides.fill(run, right);
        MovedRows moved =
            kernels_.move_rows(right, run.size(), step, per_one, weights_.data() + run.begin,
                               margins_.data() + run.begin, response, response_changes, changed);
        wrong[worker].rows +=
            prior_.size() > 0 ? count_wrong(run) : static_cast<std::int64_t>(moved.wrong);
        return StumpSums{moved.response, moved.weight};
    });
    std::int64_t all_wrong = 0;
    for (const Wrong& share : wrong) all_wrong += share.rows;
    set_training_error(all_wrong);
}

// A Newton step for the log loss as weighted least squares. f is half the log-odds, so that the
// odds against the class of a row are e^(-2 y f).
void StumpBooster::set_logit(Range run, const double* exponentials, BlockSums& sums) {
    for (std::size_t i = run.begin; i < run.end; ++i) {
        double odds = exponentials[i - run.begin] * exponentials[i - run.begin];
        double p_of_class = 1 / (1 + odds), p_of_other = 1 / (1 + 1 / odds);
        double weight = row_weight(i) * std::max(p_of_class * p_of_other, kMinWeight);
        double response = std::min(1 / p_of_class, kMaxResponse);
        responses_[i] = with_sign_of(weight * response, weights_[i]);
        weights_[i] = with_sign_of(weight, weights_[i]);
        sums.weight += weight;
        sums.absolute += weight * response;
        sums.squares += weight * response * response;
    }
}

void StumpBooster::set_mada(Range run, const double* exponentials, BlockSums& sums) {
    for (std::size_t i = run.begin; i < run.end; ++i) {
        double weight = row_weight(i) * std::min(1.0, exponentials[i - run.begin]);
        weights_[i] = with_sign_of(weight, weights_[i]);
        sums.weight += weight;
    }
}

StumpBooster::BlockSums StumpBooster::reweight_block(Range rows, const StumpSides& sides,
                                                     const double* by_side) {
    BlockSums sums;
    std::uint8_t right[kRunRows];
    double exponentials[kRunRows];  // e^(-y f)
    for (std::size_t begin = rows.begin; begin < rows.end; begin += kRunRows) {
        Range run{begin, std::min(begin + kRunRows, rows.end)};
        sides.fill(run, right);
        for (std::size_t i = 0; i < run.size(); ++i)
            margins_[begin + i] += by_side[right[i]] * with_sign_of(1, weights_[begin + i]);
        kernels_.exponentials(margins_.data() + begin, run.size(), exponentials);
        for (std::size_t i = 0; i < run.size(); ++i)
            sums.potential += row_weight(begin + i) * exponentials[i];
        if (variant_ == StumpVariant::logit)
            set_logit(run, exponentials, sums);
        else
            set_mada(run, exponentials, sums);
        sums.wrong += count_wrong(run);
    }
    return sums;
}

void StumpBooster::reweight(const Stump& stump, const double* by_side) {
    StumpSides sides(table_, stump, isa_);
    std::vector<BlockSums> blocks(block_count(table_.rows()));
    team_.run(blocks.size(), [&](std::size_t index, int) {
        blocks[index] = reweight_block(block_range(table_.rows(), index), sides, by_side);
    });
    BlockSums sums;
    for (const BlockSums& block_sums : blocks) sums += block_sums;
    potential_ = sums.potential;
    set_training_error(sums.wrong);
    unit_.weight = unit_.response = 1 / units_per_one(sums.weight, table_.rows());
    if (variant_ == StumpVariant::logit)
        unit_.response = 1 / units_per_one(sums.absolute, table_.rows());
    unit_.squares = sums.squares;
    sum_all_weights();
}

double StumpBooster::sum_wrong_weight(const Stump& stump) const {
    StumpSides sides(table_, stump, isa_);
    double sum = 0;
    std::uint8_t right[kRunRows];
    for (std::size_t begin = 0; begin < table_.rows(); begin += kRunRows) {
        Range run{begin, std::min(begin + kRunRows, table_.rows())};
        sides.fill(run, right);
        for (std::size_t i = 0; i < run.size(); ++i) {
            bool predicts_positive = stump.values[right[i]] > 0;
            if (predicts_positive != is_positive(weights_[begin + i]))
                sum += std::abs(weights_[begin + i]);
        }
    }
    return sum;
}

double StumpBooster::error_of(const StumpFinding& finding) const {
    auto all = static_cast<double>(finder_.total().weight);
    const Stump& stump = finding.stump;
    double error = 0;
    if (criterion() == StumpCriterion::error) {
        ErrorCriterion weighted_error(finder_.total());
        std::int64_t gain =
            stump.is_constant() ? weighted_error.constant_gain() : weighted_error(finding.left);
        error = static_cast<double>(finder_.total().weight - gain) / 2 / all;
    } else if (variant_ != StumpVariant::logit) {
        auto wrong = [](StumpSums side, double value) {
            return static_cast<double>(value > 0 ? side.negative() : side.positive());
        };
        error =
            (wrong(finding.left, stump.values[0]) + wrong(finding.right, stump.values[1])) / all;
    }
    // A few units are not precise enough, and rows whose weights are too small for one unit may be
    // misclassified as well.
    if (error < kFewUnits) error = sum_wrong_weight(stump) / (all * unit_.weight);
    return error;
}

StumpStep StumpBooster::step_of(const Stump& stump, double scale) const {
    StumpStep step;
    for (int which = 0; which < 4; ++which) {
        double value = scale * stump.values[which / 2];
        step.margin[which] = which % 2 != 0 ? -value : value;
    }
    return step;
}

// The factors are relative to the rows that are probably most frequent, those that the larger side
// predicts correctly: their weights do not change.
bool StumpBooster::set_factors(const Stump& stump, double z, StumpStep& step) const {
    bool larger = stump.rows > 2 * stump.left_rows;
    double reference = std::abs(step.margin[2 * larger]), longest = 0;
    for (int which = 0; which < 4; ++which) {
        longest = std::max(longest, reference - step.margin[which]);
        step.factor[which] = portable_exp(reference - step.margin[which]);
    }
    double units = static_cast<double>(finder_.total().weight) * (z * portable_exp(reference));
    return longest <= kMaxStep && units >= kMinUnits && units <= kMaxUnits;
}

double StumpBooster::z_of_vote(double error, double alpha) {
    if (alpha <= kMaxStep) return (1 - error) * portable_exp(-alpha) + error * portable_exp(alpha);
    return portable_exp(alpha + portable_log(error));  // the other term is negligible
}

double StumpBooster::z_of(const StumpFinding& finding, const StumpStep& step) const {
    double sum = 0;
    const std::int64_t units[4] = {finding.left.positive(), finding.left.negative(),
                                   finding.right.positive(), finding.right.negative()};
    for (int which = 0; which < 4; ++which)
        sum += static_cast<double>(units[which]) * portable_exp(-step.margin[which]);
    return sum / static_cast<double>(finder_.total().weight);
}

StumpRound StumpBooster::round(Ensemble& ensemble) {
    // The criterion value of a stump refers to weights with sum 1.
    double sum = static_cast<double>(finder_.total().weight) * unit_.weight;
    StumpFinding finding =
        finder_.find_best(criterion(), {unit_.response / sum, unit_.weight / sum,
                                        variant_ == StumpVariant::logit ? unit_.squares / sum : 1});
    const Stump& stump = finding.stump;
    StumpRound report;
    report.stump = stump;
    report.error = error_of(finding);
    report.training_error = training_error_;
    bool votes = criterion() == StumpCriterion::error;
    if (votes) {
        double odds = std::min((1 - report.error) / report.error, kMaxOdds);
        report.alpha = report.error > 0 ? learning_rate_ * 0.5 * portable_log(odds)
                                        : std::numeric_limits<double>::infinity();
        if (report.error == 0) report.z = 0;
        if (report.error == 0 || report.error >= 0.5) return report;
    } else {
        report.alpha = variant_ == StumpVariant::logit ? learning_rate_ / 2 : learning_rate_;
    }
    append_stump(stump, stump.values, report.alpha, ensemble);
    report.taken = true;
    if (is_multiplicative()) {
        StumpStep step = step_of(stump, report.alpha);
        report.z = votes ? z_of_vote(report.error, report.alpha) : z_of(finding, step);
        bool can_multiply = set_factors(stump, report.z, step);
        if (!can_multiply) std::fill_n(step.factor, 4, 1.0);
        multiply(stump, step);
        if (!can_multiply) compute_weights_from_margins();
    } else {
        const double by_side[2] = {report.alpha * stump.values[0], report.alpha * stump.values[1]};
        double before = potential_;
        reweight(stump, by_side);
        report.z = potential_ / before;
    }
    report.training_error = training_error_;
    return report;
}

}  // namespace bosquet
