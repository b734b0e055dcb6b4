// Prediction with expert advice: experts predict, the rule weights them, the truth arrives, and all
// losses are counted. A stream opens and closes one step at a time. A batch calls the same two
// functions in a loop, so that both give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "experts/losses.hpp"
#include "experts/rule.hpp"

namespace bosquet {

struct MixtureSetup {
    RuleSetup rule;
    LossName loss = LossName::square;
    double quantile = 0.5;
    // 0: a forecast is a number; otherwise the probabilities of that many classes.
    std::size_t classes = 0;
    bool linearised = true;   // the rule gets the gradient of the loss times the forecasts
    bool randomised = false;  // one expert is drawn by the weights and followed
    std::uint64_t seed = 0;
};

// Totals over all rows, for any rule; memory O(experts).
struct MixtureTotals {
    std::uint64_t rows = 0, updates = 0;
    std::uint64_t bandit_rows = 0;  // rows where only the loss of the drawn expert was observed
    double loss = 0, expected_loss = 0;
    double squared_error = 0, relative_error = 0;
    // Of the uniform mean of the forecasts.
    double uniform_loss = 0, uniform_squared_error = 0, uniform_relative_error = 0;
    double largest_spread = 0;  // the largest spread of the excess in a step
    // One entry per expert.
    std::vector<double> regret, expert_loss, awake_rows, weight_sum;

    void visit(StateVisitor& visitor);
};

// One row of forecasts with everything computed for it.
struct ForecastRow {
    const double* forecasts = nullptr;
    std::vector<double> owned;  // a copy of the forecasts, if the caller's array may change
    std::vector<std::uint8_t> awake;
    bool all_awake = true;
    std::vector<double> weights, prediction, losses;
    std::size_t chosen = 0;
    double loss = 0, expected = 0, uniform = 0, truth = 0;
    bool truth_known = true;

    Awake mask() const { return all_awake ? nullptr : awake.data(); }
};

// Where a batch writes its history; nullptr for what is not recorded.
struct MixtureHistory {
    double *weights = nullptr, *predictions = nullptr, *losses = nullptr;
    double *expert_losses = nullptr, *bounds = nullptr;
    std::int64_t* chosen = nullptr;
};

class ExpertMixture {
  public:
    explicit ExpertMixture(const MixtureSetup& setup);
    // Copies what `other` has learned and its open step.
    ExpertMixture(const ExpertMixture& other);

    std::size_t experts() const { return experts_; }
    std::size_t width() const { return loss_.width(); }
    bool draws() const { return setup_.randomised || bandit(); }
    bool bandit() const { return rule_->feedback() == Feedback::bandit; }

    // Opens a step of `rows` rows: forecasts (rows, experts, width), mask (rows, experts) or
    // nullptr. A step that is already open is replaced.
    void open(const double* forecasts, Awake mask, std::size_t rows);
    bool is_open() const { return open_rows_ > 0; }
    std::size_t open_rows() const { return open_rows_; }
    const ForecastRow& row(std::size_t i) const { return rows_[i]; }

    void close(const double* truths, std::size_t rows);
    // Closes the step with losses that the caller has computed: of the experts (rows, experts), of
    // the mixture, of the uniform mean, and the excess for the rule.
    void close_with_losses(const double* losses, const double* mixture_loss,
                           const double* uniform_loss, const double* excess, std::size_t rows);
    // Closes the step with the loss of the drawn expert only.
    void close_bandit(double loss);

    // Runs many steps of `block` rows each; an open step is discarded. Throws at the first invalid
    // step and undoes all others.
    void run(const double* forecasts, Awake mask, const double* truths, std::size_t rows,
             std::size_t block, MixtureHistory history);

    // Predicts rows with the current weights; opens no step.
    void predict(const double* forecasts, Awake mask, std::size_t rows, double* out);

    void weights(Awake mask, double* p) { rule_->weights(mask, p); }
    const Rule& rule() const { return *rule_; }
    const MixtureTotals& totals() const { return totals_; }
    // Whether the losses stayed within the range given to the rule.
    bool in_range() const;

    StateFields state() const;
    void restore(const StateFields& fields);

  private:
    void open_row(ForecastRow& row, const double* forecasts, Awake mask, std::uint64_t number);
    void find_awake(ForecastRow& row, Awake mask, std::uint64_t number) const;
    void predict_row(ForecastRow& row) const;
    void evaluate_row(ForecastRow& row, double truth, std::uint64_t number);
    void add_excess(const ForecastRow& row, double truth);
    void check_open() const;
    void check_bandit_loss() const;
    void check_excess();
    void update_rule(std::size_t rows);
    void count(const ForecastRow& row);
    void record(const ForecastRow& row, std::size_t at, const MixtureHistory& history) const;
    std::size_t draw_expert(const ForecastRow& row, std::uint64_t number) const;
    double uniform_loss(const ForecastRow& row, double truth);
    double vote(const ForecastRow& row, const double* weights) const;
    std::size_t leader() const;

    MixtureSetup setup_;
    std::unique_ptr<Rule> rule_;
    std::size_t experts_;
    ExpertLoss loss_;
    MixtureTotals totals_;
    std::vector<ForecastRow> rows_, next_rows_;
    std::size_t open_rows_ = 0;
    std::vector<double> excess_, row_excess_, slope_, equal_weights_, mean_;
};

}  // namespace bosquet
