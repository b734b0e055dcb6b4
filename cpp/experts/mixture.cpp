#include "experts/mixture.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

#include "base/error.hpp"
#include "base/random.hpp"

namespace bosquet {

namespace {

constexpr std::uint64_t kDrawStream = 0x65787065727473;  // "experts"
// Sums of a million squares of the excess stay finite below this value.
constexpr double kLargestExcess = 1e140;
// Squares are not 0 above this value; smaller values are set to 0.
constexpr double kSmallestExcess = 1e-140;
constexpr double kRangeSlack = 1 + 1e-9;

constexpr double kLargest = std::numeric_limits<double>::max();

// Whether all absolute values are at most `size`; false if one is NaN.
bool all_within(const double* values, std::size_t n, double size) {
    std::size_t within = 0;
    for (std::size_t i = 0; i < n; ++i) within += std::fabs(values[i]) <= size ? 1 : 0;
    return within == n;
}

std::string step_prefix(std::uint64_t number) { return "step " + std::to_string(number) + ": "; }

std::string number_text(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", value);
    return text;
}

// A sum over the experts that are awake; the forecasts of the others may be NaN.
template <class Term>
double sum_of(const ForecastRow& row, Term term) {
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
        throw InputError(
            "this loss needs numeric forecasts; it is not defined for class probabilities");
    if (rule_->feedback() == Feedback::regression &&
        (setup.loss != LossName::square || setup.randomised))
        throw InputError("ridge regression needs loss='square' and randomised=False");
    for (auto* list :
         {&totals_.regret, &totals_.expert_loss, &totals_.awake_rows, &totals_.weight_sum})
        list->assign(experts_, 0.0);
    excess_.assign(experts_, 0.0);
    row_excess_.assign(experts_, 0.0);
    equal_weights_.assign(experts_, 1.0);
    slope_.assign(loss_.width(), 0.0);
    mean_.assign(loss_.width(), 0.0);
}

bool ExpertMixture::in_range() const {
    return !(setup_.rule.range > 0) || totals_.largest_spread <= setup_.rule.range * kRangeSlack;
}

// ------------------------------------------------------------------------------- opening a step

void ExpertMixture::find_awake(ForecastRow& row, Awake mask, std::uint64_t number) const {
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
                throw InputError(step_prefix(number) + "expert " + std::to_string(k) +
                                 " predicts infinity; forecasts must be finite, or NaN for an "
                                 "expert that is asleep");
            awake = !std::isnan(value);
        }
        row.awake[k] = awake;
        count += awake;
    }
    if (count == 0)
        throw InputError(step_prefix(number) +
                         "every expert is asleep; at least one forecast must be available");
    row.all_awake = count == experts_;
    if (!row.all_awake && rule_->feedback() == Feedback::regression)
        throw InputError(
            step_prefix(number) +
            "an expert is asleep (NaN); ridge regression needs the forecasts of all experts");
}

void ExpertMixture::open_row(ForecastRow& row, const double* forecasts, Awake mask,
                             std::uint64_t number) {
    std::size_t width = loss_.width();
    row.forecasts = forecasts;
    find_awake(row, mask, number);
    for (std::size_t k = 0; loss_.of_probabilities() && k < experts_; ++k) {
        if (!is_awake(row.mask(), k)) continue;
        const char* problem = loss_.problem_of_forecast(forecasts + k * width);
        if (problem != nullptr)
            throw InputError(step_prefix(number) + "the forecast of expert " + std::to_string(k) +
                             " " + problem);
    }
    row.weights.resize(experts_);
    rule_->weights(row.mask(), row.weights.data());
    row.prediction.resize(width);
    if (draws()) row.chosen = draw_expert(row, number);
    predict_row(row);
}

// Draws one expert by the weights. The draw depends on the number of the step only, so that
// repeating a step gives the same expert.
std::size_t ExpertMixture::draw_expert(const ForecastRow& row, std::uint64_t number) const {
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

void ExpertMixture::predict_row(ForecastRow& row) const {
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

// The label with the largest total weight; among equal ones, that of the first expert.
double ExpertMixture::vote(const ForecastRow& row, const double* weights) const {
    double best = -1, label = 0;
    for (std::size_t k = 0; k < experts_; ++k) {
        if (!is_awake(row.mask(), k)) continue;
        double votes = 0;
        for (std::size_t j = 0; j < experts_; ++j)
            votes +=
                row.forecasts[j] == row.forecasts[k] && is_awake(row.mask(), j) ? weights[j] : 0.0;
        if (votes > best) {
            best = votes;
            label = row.forecasts[k];
        }
    }
    return label;
}

void ExpertMixture::open(const double* forecasts, Awake mask, std::size_t rows) {
    if (rows == 0) throw InputError("forecasts has no rows; a step has at least one row");
    if (bandit() && rows > 1)
        throw InputError("forecasts has " + std::to_string(rows) +
                         " rows; a bandit rule takes one row per step");
    std::size_t per_row = experts_ * loss_.width();
    // Into spare rows first: if the step is invalid, the open step stays as it was.
    next_rows_.resize(rows);
    for (std::size_t i = 0; i < rows; ++i) {
        ForecastRow& row = next_rows_[i];
        row.truth_known = true;
        row.owned.assign(forecasts + i * per_row, forecasts + (i + 1) * per_row);
        open_row(row, row.owned.data(), mask ? mask + i * experts_ : nullptr, totals_.rows + i);
    }
    rows_.swap(next_rows_);
    open_rows_ = rows;
}

void ExpertMixture::predict(const double* forecasts, Awake mask, std::size_t rows, double* out) {
    std::size_t width = loss_.width();
    ForecastRow row;
    for (std::size_t i = 0; i < rows; ++i) {
        open_row(row, forecasts + i * experts_ * width, mask ? mask + i * experts_ : nullptr, i);
        std::copy(row.prediction.begin(), row.prediction.end(), out + i * width);
    }
}

// ------------------------------------------------------------------------------- closing a step

// The loss of the uniform mean of the forecasts, the baseline of every rule.
double ExpertMixture::uniform_loss(const ForecastRow& row, double truth) {
    std::size_t width = loss_.width();
    if (width == 1 && !loss_.convex()) {
        mean_[0] = vote(row, equal_weights_.data());
    } else {
        std::size_t awake = experts_;
        for (std::size_t k = 0; !row.all_awake && k < experts_; ++k) awake -= row.awake[k] ? 0 : 1;
        for (std::size_t c = 0; c < width; ++c)
            mean_[c] = sum_of(row, [&](std::size_t k) { return row.forecasts[k * width + c]; }) /
                       static_cast<double>(awake);
    }
    return loss_.value(mean_.data(), truth);
}

// Computes the losses of the experts and of the mixture; changes only the row.
void ExpertMixture::evaluate_row(ForecastRow& row, double truth, std::uint64_t number) {
    const char* problem = loss_.problem_of_truth(truth);
    if (problem != nullptr)
        throw InputError(step_prefix(number) + "the truth " + number_text(truth) + " " + problem);
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
                throw InputError(step_prefix(number) + "the loss of expert " + std::to_string(k) +
                                 " is too large (above 1e140); rescale forecasts and truths");
    row.expected =
        sum_over(experts_, [&](std::size_t k) { return row.weights[k] * row.losses[k]; });
    row.loss = draws() ? row.losses[row.chosen] : loss_.value(row.prediction.data(), truth);
    row.uniform = uniform_loss(row, truth);
    if (width > 1 || setup_.loss == LossName::zero_one) return;
    if (!std::isfinite(row.loss) || !std::isfinite(row.uniform))
        throw InputError(step_prefix(number) +
                         "the loss of the mixture is not finite; rescale forecasts and truths");
}

// Adds the excess of a row: by how much each expert was better than the mixture.
void ExpertMixture::add_excess(const ForecastRow& row, double truth) {
    std::size_t width = loss_.width();
    bool mean_loss = draws() || !loss_.convex();
    bool linearised = setup_.linearised && !mean_loss;
    if (linearised) loss_.slope(row.prediction.data(), truth, slope_.data());
    double own = mean_loss ? row.expected : row.loss;
    if (!linearised) {
        for (std::size_t k = 0; k < experts_; ++k) row_excess_[k] = own - row.losses[k];
    } else if (width == 1) {
        double slope = slope_[0], prediction = row.prediction[0];
        for (std::size_t k = 0; k < experts_; ++k)
            row_excess_[k] = slope * (prediction - row.forecasts[k]);
    } else {
        std::fill(row_excess_.begin(), row_excess_.end(), 0.0);
        for (std::size_t k = 0; k < experts_; ++k)
            for (std::size_t c = 0; c < width; ++c)
                row_excess_[k] += slope_[c] * (row.prediction[c] - row.forecasts[k * width + c]);
    }
    if (!row.all_awake)
        for (std::size_t k = 0; k < experts_; ++k)
            row_excess_[k] = row.awake[k] ? row_excess_[k] : 0.0;
    for (std::size_t k = 0; k < experts_; ++k) excess_[k] += row_excess_[k];
}

void ExpertMixture::check_excess() {
    for (double& r : excess_) r = std::fabs(r) < kSmallestExcess ? 0.0 : r;
    if (!all_within(excess_.data(), experts_, kLargestExcess))
        throw InputError(step_prefix(totals_.rows) +
                         "the losses are too large (above 1e140); rescale forecasts and truths");
}

// Updates the rule from rows that were evaluated and checked.
void ExpertMixture::update_rule(std::size_t rows) {
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
                    auto true_class = static_cast<std::size_t>(rows_[i].truth);
                    rule_->regress(column.data(), c == true_class ? 1.0 : 0.0);
                }
            }
            break;
        case Feedback::bandit: {
            const ForecastRow& row = rows_[0];
            width = row.loss;
            rule_->reward(row.chosen, row.weights[row.chosen], row.loss, row.mask());
            break;
        }
    }
    totals_.largest_spread = std::max(totals_.largest_spread, width);
    ++totals_.updates;
}

void ExpertMixture::count(const ForecastRow& row) {
    ++totals_.rows;
    totals_.loss += row.loss;
    for (std::size_t k = 0; k < experts_; ++k) totals_.weight_sum[k] += row.weights[k];
    totals_.expected_loss += row.expected;
    totals_.uniform_loss += row.uniform;
    for (std::size_t k = 0; k < experts_; ++k) totals_.expert_loss[k] += row.losses[k];
    if (row.all_awake) {
        for (std::size_t k = 0; k < experts_; ++k) totals_.awake_rows[k] += 1;
        for (std::size_t k = 0; k < experts_; ++k) totals_.regret[k] += row.loss - row.losses[k];
    } else {
        for (std::size_t k = 0; k < experts_; ++k) {
            totals_.awake_rows[k] += row.awake[k] ? 1 : 0;
            totals_.regret[k] += row.awake[k] ? row.loss - row.losses[k] : 0.0;
        }
    }
    if (loss_.width() > 1 || !row.truth_known) return;
    double error = row.prediction[0] - row.truth, uniform_error = mean_[0] - row.truth;
    totals_.squared_error += error * error;
    totals_.uniform_squared_error += uniform_error * uniform_error;
    if (row.truth != 0) {
        totals_.relative_error += std::fabs(error / row.truth);
        totals_.uniform_relative_error += std::fabs(uniform_error / row.truth);
    }
}

void ExpertMixture::check_open() const {
    if (open_rows_ == 0)
        throw InputError("no step is open; predict first (a block of rows with predict_step)");
}

void ExpertMixture::check_bandit_loss() const {
    if (bandit() && rows_[0].loss < 0)
        throw InputError(step_prefix(totals_.rows) +
                         "the loss is negative; a bandit rule needs non-negative losses");
}

void ExpertMixture::close(const double* truths, std::size_t rows) {
    check_open();
    if (rows != open_rows_)
        throw InputError("the step has " + std::to_string(open_rows_) + " rows, but " +
                         std::to_string(rows) + " truths were given; pass one truth per row");
    std::fill(excess_.begin(), excess_.end(), 0.0);
    for (std::size_t i = 0; i < rows; ++i) {
        // Use the checked copy `row.truth` below, since the caller's array may change.
        evaluate_row(rows_[i], truths[i], totals_.rows + i);
        if (rule_->feedback() == Feedback::excess) add_excess(rows_[i], rows_[i].truth);
    }
    check_bandit_loss();
    check_excess();
    update_rule(rows);
    for (std::size_t i = 0; i < rows; ++i) {
        if (rows > 1)
            uniform_loss(rows_[i], rows_[i].truth);  // sets mean_ again, whose error is counted
        count(rows_[i]);
    }
    open_rows_ = 0;
}

void ExpertMixture::close_with_losses(const double* losses, const double* mixture_loss,
                                      const double* uniform_loss, const double* excess,
                                      std::size_t rows) {
    check_open();
    if (rows != open_rows_)
        throw InputError("the step has " + std::to_string(open_rows_) + " rows, but losses has " +
                         std::to_string(rows));
    for (std::size_t i = 0; i < rows; ++i) {
        ForecastRow& row = rows_[i];
        row.truth_known = false;
        row.losses.assign(losses + i * experts_, losses + (i + 1) * experts_);
        row.expected = 0;
        for (std::size_t k = 0; k < experts_; ++k) {
            if (!is_awake(row.mask(), k)) row.losses[k] = 0;
            if (!(std::fabs(row.losses[k]) <= kLargestExcess))
                throw InputError(step_prefix(totals_.rows + i) + "the loss of expert " +
                                 std::to_string(k) + " is not finite or too large (above 1e140)");
            row.expected += row.weights[k] * row.losses[k];
        }
        row.loss = draws() ? row.losses[row.chosen] : mixture_loss[i];
        row.uniform = uniform_loss[i];
        if (!std::isfinite(row.loss) || !std::isfinite(row.uniform))
            throw InputError(step_prefix(totals_.rows + i) +
                             "the loss of the mixture is not finite");
    }
    check_bandit_loss();
    std::copy_n(excess, experts_, excess_.data());
    check_excess();
    update_rule(rows);
    for (std::size_t i = 0; i < rows; ++i) count(rows_[i]);
    open_rows_ = 0;
}

void ExpertMixture::close_bandit(double loss) {
    check_open();
    if (!bandit())
        throw InputError(
            "this rule needs the losses of all experts; only bandit rules learn from the loss of "
            "one");
    if (!(loss >= 0 && loss <= kLargestExcess))
        throw InputError(step_prefix(totals_.rows) + "the loss " + number_text(loss) +
                         " must be finite and non-negative");
    ForecastRow& row = rows_[0];
    row.loss = loss;
    update_rule(1);
    ++totals_.rows;
    ++totals_.bandit_rows;
    totals_.loss += loss;
    for (std::size_t k = 0; k < experts_; ++k) {
        totals_.weight_sum[k] += row.weights[k];
        totals_.awake_rows[k] += is_awake(row.mask(), k) ? 1 : 0;
    }
    open_rows_ = 0;
}

}  // namespace bosquet
