#include "experts/losses.hpp"

#include <cmath>

#include "base/error.hpp"
#include "base/math.hpp"

namespace bosquet {

namespace {

// Limits the log loss of a forecast that gives the truth probability 0 to 36.04.
constexpr double kMinProbability = 0x1p-52;
constexpr double kProbabilityError = 1e-6;

double log_loss(double probability) {
    return -portable_log(probability > kMinProbability ? probability : kMinProbability);
}

double log_slope(double probability) {
    return -1 / (probability > kMinProbability ? probability : kMinProbability);
}

template <class Formula>
void fill(const double* x, std::size_t count, double* out, Formula formula) {
    for (std::size_t k = 0; k < count; ++k) out[k] = formula(x[k]);
}

double sign(double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0; }

}  // namespace

LossName loss_of_name(const std::string& name) {
    constexpr const char* kNames[] = {"square", "absolute", "percentage", "pinball",
                                      "log",    "zero-one", "linear",     "given"};
    for (int i = 0; i < 8; ++i)
        if (name == kNames[i]) return static_cast<LossName>(i);
    throw InputError("loss='" + name +
                     "' is unknown; pass 'square', 'absolute', 'percentage', 'pinball', 'log', "
                     "'zero-one', 'linear' or 'given'");
}

double ExpertLoss::point(double x, double y) const {
    switch (name_) {
        case LossName::square:
            return (x - y) * (x - y);
        case LossName::absolute:
            return std::fabs(x - y);
        case LossName::percentage:
            return std::fabs(x - y) / std::fabs(y);
        case LossName::pinball:
            return ((y < x ? 1.0 : 0.0) - quantile_) * (x - y);
        case LossName::log:
            return log_loss(y > 0.5 ? x : 1 - x);
        case LossName::zero_one:
            return x == y ? 0.0 : 1.0;
        default:
            return x;
    }
}

double ExpertLoss::point_slope(double x, double y) const {
    switch (name_) {
        case LossName::square:
            return 2 * (x - y);
        case LossName::absolute:
            return sign(x - y);
        case LossName::percentage:
            return sign(x - y) / std::fabs(y);
        case LossName::pinball:
            return (y < x ? 1.0 : 0.0) - quantile_;
        case LossName::log:
            return y > 0.5 ? log_slope(x) : -log_slope(1 - x);
        case LossName::zero_one:
            return 0;
        default:
            return 1;
    }
}

double ExpertLoss::of_classes(const double* x, std::size_t truth) const {
    switch (name_) {
        case LossName::log:
            return log_loss(x[truth]);
        case LossName::zero_one: {
            std::size_t top = 0;
            for (std::size_t c = 1; c < classes_; ++c)
                if (x[c] > x[top]) top = c;
            return top == truth ? 0.0 : 1.0;
        }
        default: {
            double total = 0;
            for (std::size_t c = 0; c < classes_; ++c) {
                double difference = x[c] - (c == truth ? 1.0 : 0.0);
                total +=
                    name_ == LossName::square ? difference * difference : std::fabs(difference);
            }
            return total;
        }
    }
}

double ExpertLoss::value(const double* forecast, double truth) const {
    return classes_ > 0 ? of_classes(forecast, static_cast<std::size_t>(truth))
                        : point(*forecast, truth);
}

void ExpertLoss::values(const double* forecasts, std::size_t count, double truth,
                        double* out) const {
    if (classes_ > 0) {
        for (std::size_t k = 0; k < count; ++k) out[k] = value(forecasts + k * classes_, truth);
    } else if (name_ == LossName::square) {  // the most common loss, in a loop that vectorises
        fill(forecasts, count, out, [truth](double x) { return (x - truth) * (x - truth); });
    } else {
        fill(forecasts, count, out, [&](double x) { return point(x, truth); });
    }
}

void ExpertLoss::slope(const double* forecast, double truth, double* out) const {
    if (classes_ == 0) {
        *out = point_slope(*forecast, truth);
        return;
    }
    auto true_class = static_cast<std::size_t>(truth);
    for (std::size_t c = 0; c < classes_; ++c) {
        double difference = forecast[c] - (c == true_class ? 1.0 : 0.0);
        if (name_ == LossName::log)
            out[c] = c == true_class ? log_slope(forecast[c]) : 0.0;
        else
            out[c] = name_ == LossName::square ? 2 * difference : sign(difference);
    }
}

const char* ExpertLoss::problem_of_truth(double truth) const {
    if (!std::isfinite(truth)) return "is not finite; skip the step or impute the value";
    if (classes_ > 0) {
        bool whole = truth >= 0 && truth < static_cast<double>(classes_);
        if (!whole || truth != std::floor(truth))
            return "is not a class number (an integer in [0, n_classes))";
        return nullptr;
    }
    if (name_ == LossName::percentage && truth == 0)
        return "is not allowed, because the percentage error is undefined for 0; use another loss "
               "or skip the step";
    if (name_ == LossName::log && truth != 0 && truth != 1)
        return "must be 0 or 1; with loss='log' a forecast is the probability of 1";
    return nullptr;
}

const char* ExpertLoss::problem_of_forecast(const double* forecast) const {
    if (classes_ == 0) {
        if (name_ == LossName::log && !(*forecast >= 0 && *forecast <= 1))
            return "is not a probability in [0, 1]; with loss='log' a forecast is the probability "
                   "of 1";
        return nullptr;
    }
    double total = 0;
    for (std::size_t c = 0; c < classes_; ++c) {
        if (!(forecast[c] >= -kProbabilityError && forecast[c] <= 1 + kProbabilityError))
            return "is not between 0 and 1; forecasts must be class probabilities";
        total += forecast[c];
    }
    if (!(std::fabs(total - 1) <= kProbabilityError * static_cast<double>(classes_)))
        return "does not sum to 1 over the classes; forecasts must be class probabilities";
    return nullptr;
}

}  // namespace bosquet
