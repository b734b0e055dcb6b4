// A rule of aggregation: how much weight each expert has at the next step, given how they did.
//
// A rule is told the excess of each step, r_k = (loss of the mixture) - (loss of expert k), never
// the losses themselves: it is what regret adds up, it keeps its digits where losses are large and
// alike, and an expert that sleeps has the excess 0, as if it had predicted what the mixture did.
// With that convention the regret counted over the steps at which an expert was awake obeys the
// bound that the rule has without sleep.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "experts/state.hpp"
#include "experts/sums.hpp"

namespace bosquet {

constexpr double kNoBound = std::numeric_limits<double>::quiet_NaN();

// What a rule is made from. A rule reads what concerns it.
struct RuleSetup {
    std::string name;
    std::vector<double> prior;   // one weight an expert, positive, with sum 1
    double range = 0;            // losses at a step lie within this of each other; 0: unknown
    double rate = 0;             // learning rate; 0: the rule's own choice
    std::vector<double> grid;    // learning rates to choose among
    bool relative_grid = false;  // whether they are to be divided by the range
    double share = 0;            // of the weight that is handed out anew at each step
    double penalty = 0;          // of the squared distance from the prior weights
    bool entropy = false;        // entropy in place of the Euclidean distance as regulariser
    double confidence = 0;       // probability with which a bound is to hold
};

// What a rule has to be told after a step.
enum class Feedback { excess, regression, bandit };

class Rule {
  public:
    explicit Rule(const RuleSetup& setup);
    virtual ~Rule() = default;

    virtual Feedback feedback() const { return Feedback::excess; }

    // Weights of the next step, 0 for those asleep; at least one is awake.
    virtual void weights(Awake awake, double* p) = 0;

    virtual void update(const double* excess);                    // Feedback::excess
    virtual void regress(const double* forecasts, double truth);  // Feedback::regression
    virtual void reward(std::size_t chosen, double probability, double loss,
                        Awake awake);  // Feedback::bandit

    // What the regret to an expert cannot exceed after the steps so far; NaN if nothing is known.
    virtual double bound(std::size_t expert) const = 0;
    // The same against the best sequence of experts with that many shifts.
    virtual double bound_with_shifts(std::uint64_t shifts) const;

    // The same against a fixed combination u of the experts, for linearised losses.
    virtual double bound_to_combination(const double* u) const;

    // The learning rate that the next weights are computed with; NaN if there is not just one.
    virtual double rate() const { return kNoBound; }

    virtual void visit(StateVisitor& visitor) = 0;

    std::size_t size() const { return prior_.size(); }

  protected:
    double log_prior(std::size_t k) const { return log_prior_[k]; }
    double log_size() const { return log_size_; }  // ln N, of at least two experts

    std::vector<double> prior_;

  private:
    std::vector<double> log_prior_;
    double log_size_;
};

std::unique_ptr<Rule> make_rule(const RuleSetup& setup);

// The largest excess seen so far, for rules that have to know it beforehand: a step that exceeds
// everything before it is shrunk to the size known so far. What is cut off adds up to no more than
// the largest excess itself (Cutkosky 2019, "Artificial constraints and hints").
class Limit {
  public:
    explicit Limit(double known) : known_(known), seen_(known) {}

    // The factor to shrink a step of that size by.
    double admit(double size) {
        if (size <= seen_) return 1.0;
        double factor = seen_ / size;
        seen_ = size;
        return factor;
    }
    double value() const { return seen_; }
    double cut_off() const { return seen_ - known_; }
    void forget() { known_ = seen_; }  // from here on the limit counts as known
    void visit(StateVisitor& visitor) {
        visitor.number("limit_known", known_);
        visitor.number("limit_seen", seen_);
    }

  private:
    double known_, seen_;
};

}  // namespace bosquet
