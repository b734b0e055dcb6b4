#include "stump/rounds.hpp"

#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/math.hpp"
#include "stump/units.hpp"

namespace bosquet {

namespace {

// Friedman, Hastie and Tibshirani (2000) advise to cap the working response between 2 and 4, and to
// keep weights above twice the machine's precision.
constexpr double kMostResponse = 4;
constexpr double kLeastWeight = 0x1p-51;

// With weights that add up to 1; units_per_one(1, rows) for any number of rows there can be.
constexpr double kPerOne = 0x1p61;

constexpr double kFewUnits = 0x1p-20;  // an error that is worth adding up once more, row by row

double with_sign_of(double magnitude, double sign) { return std::copysign(magnitude, sign); }

bool is_positive(double signed_weight) { return !std::signbit(signed_weight); }

}  // namespace

StumpBoost::BlockSums& StumpBoost::BlockSums::operator+=(const BlockSums& other) {
    weight += other.weight;
    absolute += other.absolute;
    squares += other.squares;
    potential += other.potential;
    wrong += other.wrong;
    return *this;
}

StumpBoost::StumpBoost(const StumpTable& table, Isa isa, Team& team, std::span<const double> target,
                       std::span<const double> weight, StumpVariant variant, double learning_rate)
    : table_(table),
      kernels_(select_stump_kernels(isa)),
      team_(team),
      variant_(variant),
      learning_rate_(learning_rate),
      finder_(table, isa, team),
      weights_(table.rows()),
      margins_(table.rows()) {
    if (!(learning_rate > 0) || !std::isfinite(learning_rate))
        throw InputError("the learning rate must be above 0");
    check_signs(target);
    double sum = checked_sum(weight, team);
    std::size_t rows = table.rows();
    even_ = 1 / static_cast<double>(rows);
    bool uneven = false;
    for (double w : weight) uneven |= w != weight[0];
    if (uneven) {
        prior_ = Buffer<double>(rows);
        for (std::size_t i = 0; i < rows; ++i) prior_[i] = weight[i] / sum;
    }
    for (std::size_t i = 0; i < rows; ++i) weights_[i] = with_sign_of(row_weight(i), target[i]);
    std::fill(margins_.begin(), margins_.end(), 0.0);
    if (variant == StumpVariant::logit) responses_ = Buffer<double>(rows);
    if (is_multiplicative()) {
        scale_ = {1 / kPerOne, 1 / kPerOne, 1};
        sweep_weights();
        std::int64_t wrong = 0;
        for (std::size_t index = 0; index < block_count(rows); ++index)
            wrong += count_wrong(block(rows, index));
        set_training_error(wrong);
    } else {
        const double nothing[2] = {0, 0};
        reweigh({}, nothing);
    }
}

bool StumpBoost::is_multiplicative() const {
    return variant_ != StumpVariant::logit && variant_ != StumpVariant::mada;
}

StumpCriterion StumpBoost::criterion() const {
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

RowKind StumpBoost::row_kind() const {
    if (variant_ == StumpVariant::logit) return RowKind::pairs;
    return criterion() == StumpCriterion::error ? RowKind::responses : RowKind::signs;
}

std::int64_t StumpBoost::count_wrong(Range run) const {
    std::int64_t wrong = 0;
    for (std::size_t i = run.begin; i < run.end; ++i) {
        // f = 0 is the negative class: a row of the positive one is wrong there.
        bool is_wrong = is_positive(weights_[i]) ? margins_[i] <= 0 : margins_[i] < 0;
        if (is_wrong) wrong += prior_.size() > 0 ? in_units(prior_[i], kPerOne) : 1;
    }
    return wrong;
}

void StumpBoost::set_training_error(std::int64_t wrong) {
    training_error_ = static_cast<double>(wrong) *
                      (prior_.size() > 0 ? 1 / kPerOne : 1 / static_cast<double>(table_.rows()));
}

void StumpBoost::weights(double* out) const {
    double sum = 0;
    for (std::size_t i = 0; i < table_.rows(); ++i) sum += std::abs(weights_[i]);
    for (std::size_t i = 0; i < table_.rows(); ++i) out[i] = std::abs(weights_[i]) / sum;
}

void StumpBoost::sweep_weights() {
    double per_weight = 1 / scale_.weight, per_response = 1 / scale_.response;
    finder_.sweep(row_kind(), [&](Range run, std::int64_t* response, std::int64_t* weight, int) {
        StumpSums sums;
        for (std::size_t i = 0; i < run.size(); ++i) {
            double w = weights_[run.begin + i];
            std::int64_t units = in_units(std::abs(w), per_weight);
            response[i] = responses_.size() > 0 ? in_units(responses_[run.begin + i], per_response)
                          : is_positive(w)      ? units
                                                : -units;
            if (weight != nullptr) weight[i] = units;
            sums = sums + StumpSums{response[i], units};
        }
        return sums;
    });
}

void StumpBoost::multiply(const Stump& stump, const StumpStep& step) {
    StumpSides sides(table_, stump, team_);
    struct alignas(64) Wrong {
        std::int64_t rows = 0;
    };
    std::vector<Wrong> wrong(team_.size());
    finder_.sweep(row_kind(), [&](Range run, std::int64_t* response, std::int64_t*, int worker) {
        std::uint8_t right[StumpFinder::kRunRows];
        sides.fill(run, right);
        MovedRows moved =
            kernels_.move_rows(right, run.size(), step, kPerOne, weights_.data() + run.begin,
                               margins_.data() + run.begin, response);
        wrong[worker].rows +=
            prior_.size() > 0 ? count_wrong(run) : static_cast<std::int64_t>(moved.wrong);
        return StumpSums{moved.response, moved.weight};
    });
    std::int64_t all = 0;
    for (const Wrong& share : wrong) all += share.rows;
    set_training_error(all);
}

StumpBoost::BlockSums StumpBoost::reweigh_block(Range rows, const StumpSides& sides,
                                                const double* by_side) {
    BlockSums sums;
    std::uint8_t right[StumpFinder::kRunRows];
    double falls[StumpFinder::kRunRows];
    for (std::size_t begin = rows.begin; begin < rows.end; begin += StumpFinder::kRunRows) {
        Range run{begin, std::min(begin + StumpFinder::kRunRows, rows.end)};
        sides.fill(run, right);
        for (std::size_t i = 0; i < run.size(); ++i) {
            double step = by_side[right[i]];
            margins_[begin + i] += is_positive(weights_[begin + i]) ? step : -step;
        }
        kernels_.exponentials(margins_.data() + begin, run.size(), falls);
        for (std::size_t i = 0; i < run.size(); ++i) {
            double row = row_weight(begin + i), old = weights_[begin + i];
            sums.potential += row * falls[i];
            double weight = row * std::min(1.0, falls[i]);
            if (variant_ == StumpVariant::logit) {
                // f is half the log odds, so the odds against the row's own class are e^(-2 y f).
                double odds = falls[i] * falls[i];
                double own = 1 / (1 + odds), other = 1 / (1 + 1 / odds);
                weight = row * std::max(own * other, kLeastWeight);
                double response = std::min(1 / own, kMostResponse);
                responses_[begin + i] = with_sign_of(weight * response, old);
                sums.absolute += weight * response;
                sums.squares += weight * response * response;
            }
            weights_[begin + i] = with_sign_of(weight, old);
            sums.weight += weight;
        }
        sums.wrong += count_wrong(run);
    }
    return sums;
}

void StumpBoost::reweigh(const Stump& stump, const double* by_side) {
    StumpSides sides(table_, stump, team_);
    std::vector<BlockSums> blocks(block_count(table_.rows()));
    team_.run(blocks.size(), [&](std::size_t index, int) {
        blocks[index] = reweigh_block(block(table_.rows(), index), sides, by_side);
    });
    BlockSums sums;
    for (const BlockSums& of_block : blocks) sums += of_block;
    potential_ = sums.potential;
    set_training_error(sums.wrong);
    scale_.weight = 1 / units_per_one(sums.weight, table_.rows());
    bool logit = variant_ == StumpVariant::logit;
    scale_.response = logit ? 1 / units_per_one(sums.absolute, table_.rows()) : scale_.weight;
    scale_.squares = logit ? sums.squares : sums.weight;
    sweep_weights();
}

double StumpBoost::wrong_weight(const Stump& stump) const {
    StumpSides sides(table_, stump, team_);
    double sum = 0;
    std::uint8_t right[StumpFinder::kRunRows];
    for (std::size_t begin = 0; begin < table_.rows(); begin += StumpFinder::kRunRows) {
        Range run{begin, std::min(begin + StumpFinder::kRunRows, table_.rows())};
        sides.fill(run, right);
        for (std::size_t i = 0; i < run.size(); ++i) {
            bool says_positive = stump.values[right[i]] > 0;
            if (says_positive != is_positive(weights_[begin + i]))
                sum += std::abs(weights_[begin + i]);
        }
    }
    return sum;
}

double StumpBoost::error_of(const StumpFinding& finding) const {
    auto all = static_cast<double>(finder_.total().weight);
    double error = 0;
    if (criterion() == StumpCriterion::error) {
        error = finding.stump.merit / (all * scale_.weight);
    } else if (variant_ != StumpVariant::logit) {
        auto wrong = [&](StumpSums side, double value) {
            return static_cast<double>(value > 0 ? side.negative() : side.positive());
        };
        error = (wrong(finding.left, finding.stump.values[0]) +
                 wrong(finding.right, finding.stump.values[1])) /
                all;
    } else {
        return wrong_weight(finding.stump) / (all * scale_.weight);
    }
    // Few units are no exact measure, and rows too light for one may be wrong nevertheless.
    if (error < kFewUnits) error = wrong_weight(finding.stump) / (all * scale_.weight);
    return error;
}

StumpStep StumpBoost::step_of(const StumpFinding& finding, double scale, double& z) const {
    StumpStep step;
    double all = static_cast<double>(finder_.total().weight);
    z = 0;
    const StumpSums sides[2] = {finding.left, finding.right};
    for (int right = 0; right < 2; ++right)
        for (int negative = 0; negative < 2; ++negative) {
            double value = scale * finding.stump.values[right];
            int which = 2 * right + negative;
            step.margin[which] = negative ? -value : value;
            step.factor[which] = exact_exp(-step.margin[which]);
            std::int64_t mass = negative ? sides[right].negative() : sides[right].positive();
            z += static_cast<double>(mass) / all * step.factor[which];
        }
    return step;
}

StumpRound StumpBoost::round(Ensemble& ensemble) {
    StumpFinding finding = finder_.best(criterion(), scale_);
    StumpRound report;
    report.stump = finding.stump;
    report.error = error_of(finding);
    report.training_error = training_error_;
    bool votes = criterion() == StumpCriterion::error;
    if (votes) {
        double odds = std::min((1 - report.error) / report.error, 1e300);
        report.alpha = report.error > 0 ? learning_rate_ * 0.5 * exact_log(odds)
                                        : std::numeric_limits<double>::infinity();
        if (report.error == 0) report.z = 0;
        if (report.error == 0 || report.error >= 0.5) return report;
    } else {
        report.alpha = variant_ == StumpVariant::logit ? learning_rate_ / 2 : learning_rate_;
    }
    append_stump(finding.stump, finding.stump.values, report.alpha, ensemble);
    report.taken = true;
    if (is_multiplicative()) {
        StumpStep step = step_of(finding, report.alpha, report.z);
        if (votes)
            report.z = (1 - report.error) * exact_exp(-report.alpha) +
                       report.error * exact_exp(report.alpha);
        for (double& factor : step.factor) factor /= report.z;
        multiply(finding.stump, step);
    } else {
        const double by_side[2] = {report.alpha * finding.stump.values[0],
                                   report.alpha * finding.stump.values[1]};
        double before = potential_;
        reweigh(finding.stump, by_side);
        report.z = potential_ / before;
    }
    report.training_error = training_error_;
    return report;
}

}  // namespace bosquet
