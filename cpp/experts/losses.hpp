// The loss of a forecast: of a number or of class probabilities.
#pragma once

#include <cstddef>
#include <string>

namespace bosquet {

// `given`: the caller computes the losses and passes them.
enum class LossName { square, absolute, percentage, pinball, log, zero_one, linear, given };

LossName loss_of_name(const std::string& name);

class ExpertLoss {
  public:
    ExpertLoss(LossName name, double quantile, std::size_t classes)
        : name_(name), quantile_(quantile), classes_(classes) {}

    LossName name() const { return name_; }
    std::size_t width() const { return classes_ > 0 ? classes_ : 1; }  // numbers in a forecast

    // Whether the loss is convex, so that the loss of a mixture of forecasts is at most their mean
    // loss.
    bool convex() const { return name_ != LossName::zero_one; }

    // Whether forecasts are probabilities, which have to be checked.
    bool of_probabilities() const { return classes_ > 0 || name_ == LossName::log; }

    // Losses of several forecasts of `width()` numbers each.
    void values(const double* forecasts, std::size_t count, double truth, double* out) const;
    double value(const double* forecast, double truth) const;
    // The derivative with respect to each number of one forecast.
    void slope(const double* forecast, double truth, double* out) const;

    // nullptr, or the second half of a message that describes what is wrong with a truth or a
    // forecast.
    const char* problem_of_truth(double truth) const;
    const char* problem_of_forecast(const double* forecast) const;

  private:
    double point(double x, double y) const;
    double point_slope(double x, double y) const;
    double of_classes(const double* x, std::size_t truth) const;

    LossName name_;
    double quantile_;
    std::size_t classes_;
};

}  // namespace bosquet
