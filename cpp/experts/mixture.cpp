#include "experts/mixture.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/random.hpp"

namespace bosquet {

namespace {

constexpr std::uint64_t kDrawStream = 0x65787065727473;  // "experts"
// Squares of what a rule is told, a million times over, stay finite below this.
constexpr double kLargestExcess = 1e140;
constexpr double kSmallestExcess = 1e-140;  // and above this they are not 0; nothing is, below it
constexpr double kRangeSlack = 1 + 1e-9;

constexpr double kLargest = std::numeric_limits<double>::max();

// Whether all are numbers of at most that size; NaN is not.
bool all_within(const double* values, std::size_t n, double size) {
    std::size_t within = 0;
    for (std::size_t i = 0; i < n; ++i) within += std::fabs(values[i]) <= size ? 1 : 0;
    return within == n;
}

std::string at(std::uint64_t number) { return "step " + std::to_string(number) + ": "; }

std::string digits(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", value);
    return text;
}

// A sum over the experts awake; the forecasts of the others may be NaN.
template <class Term>
double sum_of(const Row& row, Term term) {
    if (row.all_awake) return sum_over(row.awake.size(), term);
    return sum_over(row.awake.size(), [&](std::size_t k) { return row.awake[k] ? term(k) : 0.0; });
}

}  // namespace

ExpertMixture::ExpertMixture(const MixtureSetup& setup)
    : setup_(setup),
      rule_(make_rule(setup.rule)),
      experts_(rule_->size()),
      loss_(setup.loss, setup.quantile, setup.classes) {
    bool of_numbers = setup.loss == LossName::percentage || setup.loss == LossName::pinball ||
                      setup.loss == LossName::linear;
    if (setup.classes > 0 && of_numbers)
        throw InputError("the loss is one of numbers, not of the probabilities of classes");
    if (rule_->feedback() == Feedback::regression &&
        (setup.loss != LossName::square || setup.randomised))
        throw InputError("the rule learns by least squares: loss 'square', not randomised");
    for (auto* list : {&totals_.regret, &totals_.expert_loss, &totals_.awake, &totals_.played})
        list->assign(experts_, 0.0);
    excess_.assign(experts_, 0.0);
    told_.assign(experts_, 0.0);
    equal_.assign(experts_, 1.0);
    slope_.assign(loss_.width(), 0.0);
    mean_.assign(loss_.width(), 0.0);
}

bool ExpertMixture::in_range() const {
    return !(setup_.rule.range > 0) || totals_.widest <= setup_.rule.range * kRangeSlack;
}

// ------------------------------------------------------------------------------- opening a step

void ExpertMixture::find_awake(Row& row, Awake mask, std::uint64_t number) const {
    std::size_t width = loss_.width();
    row.awake.resize(experts_);
    row.all_awake = mask == nullptr && all_within(row.forecasts, experts_ * width, kLargest);
    if (row.all_awake) return;
    std::size_t count = 0;
    for (std::size_t k = 0; k < experts_; ++k) {
        bool awake = is_awake(mask, k);
        for (std::size_t c = 0; awake && c < width; ++c) {
            double value = row.forecasts[k * width + c];
            if (std::isinf(value))
                throw InputError(at(number) + "expert " + std::to_string(k) +
                                 " predicts infinity; NaN stands for an expert that is asleep");
            awake = !std::isnan(value);
        }
        row.awake[k] = awake;
        count += awake;
    }
    if (count == 0)
        throw InputError(at(number) +
                         "every expert is asleep, so that there is nothing to predict with");
    row.all_awake = count == experts_;
    if (!row.all_awake && rule_->feedback() == Feedback::regression)
        throw InputError(at(number) + "an expert is asleep (NaN), and ridge regression needs all");
}

void ExpertMixture::open_row(Row& row, const double* forecasts, Awake mask, std::uint64_t number) {
    std::size_t width = loss_.width();
    row.forecasts = forecasts;
    find_awake(row, mask, number);
    for (std::size_t k = 0; loss_.of_probabilities() && k < experts_; ++k) {
        if (!is_awake(row.mask(), k)) continue;
        const char* complaint = loss_.complaint_of_forecast(forecasts + k * width);
        if (complaint != nullptr)
            throw InputError(at(number) + "the forecast of expert " + std::to_string(k) + " " +
                             complaint);
    }
    row.weights.resize(experts_);
    rule_->weights(row.mask(), row.weights.data());
    row.prediction.resize(width);
    if (draws()) row.chosen = drawn(row, number);
    predict_row(row);
}

// One expert by the weights; the draw belongs to the step, so that a repeated one is the same.
std::size_t ExpertMixture::drawn(const Row& row, std::uint64_t number) const {
    double left = uniform(setup_.seed, kDrawStream, number);
    std::size_t last = 0;
    for (std::size_t k = 0; k < experts_; ++k) {
        if (!(row.weights[k] > 0)) continue;
        last = k;
        left -= row.weights[k];
        if (left < 0) break;
    }
    return last;
}

void ExpertMixture::predict_row(Row& row) const {
    std::size_t width = loss_.width();
    if (draws()) {
        std::copy_n(row.forecasts + row.chosen * width, width, row.prediction.data());
        return;
    }
    if (width == 1 && !loss_.convex()) {
        row.prediction[0] = vote(row, row.weights.data());
        return;
    }
    for (std::size_t c = 0; c < width; ++c)
        row.prediction[c] = sum_of(
            row, [&](std::size_t k) { return row.weights[k] * row.forecasts[k * width + c]; });
}

// The label with the most weight behind it; of equal ones, that of the first expert.
double ExpertMixture::vote(const Row& row, const double* weights) const {
    double best = -1, label = 0;
    for (std::size_t k = 0; k < experts_; ++k) {
        if (!is_awake(row.mask(), k)) continue;
        double behind = 0;
        for (std::size_t j = 0; j < experts_; ++j)
            behind +=
                row.forecasts[j] == row.forecasts[k] && is_awake(row.mask(), j) ? weights[j] : 0.0;
        if (behind > best) {
            best = behind;
            label = row.forecasts[k];
        }
    }
    return label;
}

void ExpertMixture::open(const double* forecasts, Awake mask, std::size_t rows) {
    if (rows == 0) throw InputError("a step has at least one row");
    if (bandit() && rows > 1) throw InputError("a rule for bandits takes one row a step");
    std::size_t per_row = experts_ * loss_.width();
    // Into other rows first: a step that is not sound leaves the one that is open as it was.
    spare_.resize(rows);
    for (std::size_t i = 0; i < rows; ++i) {
        Row& row = spare_[i];
        row.truth_known = true;
        row.owned.assign(forecasts + i * per_row, forecasts + (i + 1) * per_row);
        open_row(row, row.owned.data(), mask ? mask + i * experts_ : nullptr, totals_.rows + i);
    }
    rows_.swap(spare_);
    open_rows_ = rows;
}

void ExpertMixture::predict(const double* forecasts, Awake mask, std::size_t rows, double* out) {
    std::size_t width = loss_.width();
    Row row;
    for (std::size_t i = 0; i < rows; ++i) {
        open_row(row, forecasts + i * experts_ * width, mask ? mask + i * experts_ : nullptr, i);
        std::copy(row.prediction.begin(), row.prediction.end(), out + i * width);
    }
}

// ------------------------------------------------------------------------------- closing a step

// The loss of the mean of the forecasts, which costs nothing to follow.
double ExpertMixture::of_uniform(const Row& row, double truth) {
    std::size_t width = loss_.width();
    if (width == 1 && !loss_.convex()) {
        mean_[0] = vote(row, equal_.data());
    } else {
        std::size_t awake = experts_;
        for (std::size_t k = 0; !row.all_awake && k < experts_; ++k) awake -= row.awake[k] ? 0 : 1;
        for (std::size_t c = 0; c < width; ++c)
            mean_[c] = sum_of(row, [&](std::size_t k) { return row.forecasts[k * width + c]; }) /
                       static_cast<double>(awake);
    }
    return loss_.value(mean_.data(), truth);
}

// Everyone's loss; nothing but the row is changed.
void ExpertMixture::judge_row(Row& row, double truth, std::uint64_t number) {
    const char* complaint = loss_.complaint_of_truth(truth);
    if (complaint != nullptr)
        throw InputError(at(number) + "the truth " + digits(truth) + " " + complaint);
    std::size_t width = loss_.width();
    row.truth = truth;
    row.losses.resize(experts_);
    loss_.values(row.forecasts, experts_, truth, row.losses.data());
    if (!row.all_awake)
        for (std::size_t k = 0; k < experts_; ++k)
            if (!row.awake[k]) row.losses[k] = 0;
    if (!all_within(row.losses.data(), experts_, kLargestExcess))
        for (std::size_t k = 0; k < experts_; ++k)
            if (!(std::fabs(row.losses[k]) <= kLargestExcess))
                throw InputError(at(number) + "the loss of expert " + std::to_string(k) +
                                 " is too large to work with; rescale forecasts and truths");
    row.expected =
        sum_over(experts_, [&](std::size_t k) { return row.weights[k] * row.losses[k]; });
    row.loss = draws() ? row.losses[row.chosen] : loss_.value(row.prediction.data(), truth);
    row.uniform = of_uniform(row, truth);
    if (width > 1 || setup_.loss == LossName::zero_one) return;
    if (!std::isfinite(row.loss) || !std::isfinite(row.uniform))
        throw InputError(at(number) + "the loss of the mixture is not finite; rescale");
}

// What the rule is told of a row: by how much each expert did better.
void ExpertMixture::add_excess(const Row& row, double truth) {
    std::size_t width = loss_.width();
    bool mean_loss = draws() || !loss_.convex();
    bool linearised = setup_.linearised && !mean_loss;
    if (linearised) loss_.slope(row.prediction.data(), truth, slope_.data());
    double own = mean_loss ? row.expected : row.loss;
    if (!linearised) {
        for (std::size_t k = 0; k < experts_; ++k) told_[k] = own - row.losses[k];
    } else if (width == 1) {
        double slope = slope_[0], said = row.prediction[0];
        for (std::size_t k = 0; k < experts_; ++k) told_[k] = slope * (said - row.forecasts[k]);
    } else {
        std::fill(told_.begin(), told_.end(), 0.0);
        for (std::size_t k = 0; k < experts_; ++k)
            for (std::size_t c = 0; c < width; ++c)
                told_[k] += slope_[c] * (row.prediction[c] - row.forecasts[k * width + c]);
    }
    if (!row.all_awake)
        for (std::size_t k = 0; k < experts_; ++k) told_[k] = row.awake[k] ? told_[k] : 0.0;
    for (std::size_t k = 0; k < experts_; ++k) excess_[k] += told_[k];
}

void ExpertMixture::check_excess() {
    for (double& r : excess_) r = std::fabs(r) < kSmallestExcess ? 0.0 : r;
    if (!all_within(excess_.data(), experts_, kLargestExcess))
        throw InputError(at(totals_.rows) +
                         "the losses are too large to work with; rescale forecasts and truths");
}

// The rule learns from rows that are judged and found sound.
void ExpertMixture::teach(std::size_t rows) {
    double width = 0;
    switch (rule_->feedback()) {
        case Feedback::excess:
            width = extremes(excess_.data(), experts_).width();
            rule_->update(excess_.data());
            break;
        case Feedback::regression:
            for (std::size_t i = 0; i < rows; ++i) {
                std::size_t numbers = loss_.width();
                if (numbers == 1) {
                    rule_->regress(rows_[i].forecasts, rows_[i].truth);
                    continue;
                }
                std::vector<double> column(experts_);
                for (std::size_t c = 0; c < numbers; ++c) {
                    for (std::size_t k = 0; k < experts_; ++k)
                        column[k] = rows_[i].forecasts[k * numbers + c];
                    auto of_truth = static_cast<std::size_t>(rows_[i].truth);
                    rule_->regress(column.data(), c == of_truth ? 1.0 : 0.0);
                }
            }
            break;
        case Feedback::bandit: {
            const Row& row = rows_[0];
            width = row.loss;
            rule_->reward(row.chosen, row.weights[row.chosen], row.loss, row.mask());
            break;
        }
    }
    totals_.widest = std::max(totals_.widest, width);
    ++totals_.updates;
}

void ExpertMixture::count(const Row& row) {
    ++totals_.rows;
    totals_.loss += row.loss;
    for (std::size_t k = 0; k < experts_; ++k) totals_.played[k] += row.weights[k];
    totals_.expected += row.expected;
    totals_.uniform += row.uniform;
    for (std::size_t k = 0; k < experts_; ++k) totals_.expert_loss[k] += row.losses[k];
    if (row.all_awake) {
        for (std::size_t k = 0; k < experts_; ++k) totals_.awake[k] += 1;
        for (std::size_t k = 0; k < experts_; ++k) totals_.regret[k] += row.loss - row.losses[k];
    } else {
        for (std::size_t k = 0; k < experts_; ++k) {
            totals_.awake[k] += row.awake[k] ? 1 : 0;
            totals_.regret[k] += row.awake[k] ? row.loss - row.losses[k] : 0.0;
        }
    }
    if (loss_.width() > 1 || !row.truth_known) return;
    double error = row.prediction[0] - row.truth, uniform_error = mean_[0] - row.truth;
    totals_.squares += error * error;
    totals_.uniform_squares += uniform_error * uniform_error;
    if (row.truth != 0) {
        totals_.percents += std::fabs(error / row.truth);
        totals_.uniform_percents += std::fabs(uniform_error / row.truth);
    }
}

void ExpertMixture::close(const double* truths, std::size_t rows) {
    if (open_rows_ == 0)
        throw InputError("there is no step to close: predict first (of a block, by predict_step)");
    if (rows != open_rows_)
        throw InputError("the step has " + std::to_string(open_rows_) + " rows, but " +
                         std::to_string(rows) + " truths came");
    std::fill(excess_.begin(), excess_.end(), 0.0);
    for (std::size_t i = 0; i < rows; ++i) {
        // The truth is checked there; the caller's array may change.
        judge_row(rows_[i], truths[i], totals_.rows + i);
        if (rule_->feedback() == Feedback::excess) add_excess(rows_[i], rows_[i].truth);
    }
    if (bandit() && rows_[0].loss < 0)
        throw InputError(at(totals_.rows) +
                         "a rule for bandits takes losses that are not negative");
    check_excess();
    teach(rows);
    for (std::size_t i = 0; i < rows; ++i) {
        if (rows > 1)
            of_uniform(rows_[i], rows_[i].truth);  // the mean of the forecasts, for its error
        count(rows_[i]);
    }
    open_rows_ = 0;
}

void ExpertMixture::close_judged(const double* losses, const double* own, const double* uniform,
                                 const double* excess, std::size_t rows) {
    if (open_rows_ == 0)
        throw InputError("there is no step to close: predict first (of a block, by predict_step)");
    if (rows != open_rows_) throw InputError("the losses are of another number of rows");
    for (std::size_t i = 0; i < rows; ++i) {
        Row& row = rows_[i];
        row.truth_known = false;
        row.losses.assign(losses + i * experts_, losses + (i + 1) * experts_);
        row.expected = 0;
        for (std::size_t k = 0; k < experts_; ++k) {
            if (!is_awake(row.mask(), k)) row.losses[k] = 0;
            if (!(std::fabs(row.losses[k]) <= kLargestExcess))
                throw InputError(at(totals_.rows + i) + "the loss of expert " + std::to_string(k) +
                                 " is not finite, or too large to work with");
            row.expected += row.weights[k] * row.losses[k];
        }
        row.loss = draws() ? row.losses[row.chosen] : own[i];
        row.uniform = uniform[i];
        if (!std::isfinite(row.loss) || !std::isfinite(row.uniform))
            throw InputError(at(totals_.rows + i) + "the loss of the mixture is not finite");
    }
    if (bandit() && rows_[0].loss < 0)
        throw InputError(at(totals_.rows) +
                         "a rule for bandits takes losses that are not negative");
    std::copy_n(excess, experts_, excess_.data());
    check_excess();
    teach(rows);
    for (std::size_t i = 0; i < rows; ++i) count(rows_[i]);
    open_rows_ = 0;
}

void ExpertMixture::close_bandit(double loss) {
    if (open_rows_ == 0)
        throw InputError("there is no step to close: predict first (of a block, by predict_step)");
    if (!bandit()) throw InputError("only a rule for bandits learns from the loss of one expert");
    if (!(loss >= 0 && loss <= kLargestExcess))
        throw InputError(at(totals_.rows) + "the loss " + digits(loss) +
                         " is not a number that is finite and not negative");
    Row& row = rows_[0];
    row.loss = loss;
    teach(1);
    ++totals_.rows;
    ++totals_.blind;
    totals_.loss += loss;
    for (std::size_t k = 0; k < experts_; ++k) {
        totals_.played[k] += row.weights[k];
        totals_.awake[k] += is_awake(row.mask(), k) ? 1 : 0;
    }
    open_rows_ = 0;
}

}  // namespace bosquet
