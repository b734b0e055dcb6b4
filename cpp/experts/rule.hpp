// An aggregation rule: computes the weights of the experts for the next step from their past
// losses.
//
// A rule receives the excess of each step, r_k = (loss of the mixture) - (loss of expert k),
// instead of the losses. The regret is the sum of the excess, the excess keeps its precision if
// losses are large and similar, and an expert that is asleep has excess 0, as if it had predicted
// like the mixture. With that convention, the regret over the steps at which an expert was awake
// satisfies the same bound as without sleeping experts.
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

// The parameters of all rules. Each rule reads those that it needs.
struct RuleSetup {
    std::string name;
    std::vector<double> prior;   // one weight per expert, positive, with sum 1
    double range = 0;            // upper bound of the spread of the losses of a step; 0: unknown
    double rate = 0;             // learning rate; 0: chosen by the rule
    std::vector<double> grid;    // learning rates to choose among
    bool relative_grid = false;  // whether the rates are divided by the range
    double share = 0;            // share of the weight that is redistributed at each step
    double penalty = 0;          // penalty of the squared distance to the prior weights
    bool entropy = false;        // regulariser: entropy instead of the Euclidean distance
    double confidence = 0;       // probability with which a bound holds
};

// The feedback that a rule needs after a step.
enum class Feedback { excess, regression, bandit };

class Rule {
  public:
    explicit Rule(const RuleSetup& setup);
    virtual ~Rule() = default;

    virtual Feedback feedback() const { return Feedback::excess; }

    // Computes the weights of the next step, 0 for experts that are asleep. At least one is awake.
    virtual void weights(Awake awake, double* p) = 0;

    virtual void update(const double* excess);                    // Feedback::excess
    virtual void regress(const double* forecasts, double truth);  // Feedback::regression
    virtual void reward(std::size_t chosen, double probability, double loss,
                        Awake awake);  // Feedback::bandit

    // Upper bound of the regret to an expert after the steps so far; NaN if none is known.
    virtual double bound(std::size_t expert) const = 0;
    // The same for the regret to the best sequence of experts with that many shifts.
    virtual double bound_with_shifts(std::uint64_t shifts) const;

    // The same for the regret to a fixed combination u of the experts, for linearised losses.
    virtual double bound_to_combination(const double* u) const;

    // The learning rate of the next weights; NaN if there is not a single one.
    virtual double rate() const { return kNoBound; }

    virtual void visit(StateVisitor& visitor) = 0;

    std::size_t size() const { return prior_.size(); }

  protected:
    double log_prior(std::size_t k) const { return log_prior_[k]; }
    double log_size() const { return log_size_; }  // ln N, for N of at least 2

    std::vector<double> prior_;

  private:
    std::vector<double> log_prior_;
    double log_size_;
};

std::unique_ptr<Rule> make_rule(const RuleSetup& setup);

// Limits the excess for rules that need an upper bound of it in advance: a step that exceeds all
// steps before it is shrunk to the largest size so far. What is cut off sums to at most the largest
// excess (Cutkosky 2019, "Artificial constraints and hints").
class ExcessLimit {
  public:
    explicit ExcessLimit(double known) : known_(known), seen_(known) {}

    // Returns the factor by which a step of that size is shrunk.
    double admit(double size) {
        if (size <= seen_) return 1.0;
        double factor = seen_ / size;
        seen_ = size;
        return factor;
    }
    double value() const { return seen_; }
    double cut_off() const { return seen_ - known_; }
    void accept_as_known() { known_ = seen_; }  // from now on the limit counts as known in advance
    void visit(StateVisitor& visitor) {
        visitor.number("limit_known", known_);
        visitor.number("limit_seen", seen_);
    }

  private:
    double known_, seen_;
};

}  // namespace bosquet
