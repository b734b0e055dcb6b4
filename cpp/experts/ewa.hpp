// Exponential weights: p_k ∝ prior_k exp(β R_k), which equals weights exp(-β L_k) of the cumulative
// losses.
#pragma once

#include <cmath>

#include "experts/rule.hpp"

namespace bosquet {

class ExponentialWeights final : public Rule {
  public:
    explicit ExponentialWeights(const RuleSetup& setup)
        : Rule(setup),
          given_rate_(setup.rate),
          given_range_(setup.range),
          range_(setup.range),
          regret_(size(), 0.0),
          score_(size()) {}

    // The fixed rate, or 2 √(ln N / t) / M, which minimises the sum of the two terms of the bound.
    double rate() const override {
        if (given_rate_ > 0) return given_rate_;
        if (!(range_ > 0)) return 0;
        return 2 * std::sqrt(log_size() / static_cast<double>(steps_ + 1)) / range_;
    }

    void weights(Awake awake, double* p) override {
        double beta = rate();
        for (std::size_t k = 0; k < size(); ++k) score_[k] = log_prior(k) + beta * regret_[k];
        softmax(score_.data(), awake, size(), p);
    }

    void update(const double* excess) override {
        double width = extremes(excess, size()).width(), beta = rate();
        double spread = width > given_range_ ? width : given_range_;
        double gap = beta * spread * spread / 8;
        // The mixability gap of a step is at most the spread of its losses. With a given range the
        // formula of the literature is kept. Before any spread was observed β is infinite, and the
        // spread is the only bound.
        if (!(given_range_ > 0) && (!(beta > 0) || gap > spread)) gap = spread;
        mixability_gaps_ += gap;
        last_rate_ = beta;
        range_ = width > range_ ? width : range_;
        for (std::size_t k = 0; k < size(); ++k) regret_[k] += excess[k];
        ++steps_;
    }

    // ln(1/prior) / β_n + Σ β_t s_t² / 8 for decreasing β_t, where s_t is the spread of the losses
    // (or the given range).
    double bound(std::size_t k) const override {
        return (last_rate_ > 0 ? -log_prior(k) / last_rate_ : 0.0) + mixability_gaps_;
    }

    void visit(StateVisitor& visitor) override {
        visitor.numbers("regret", regret_);
        visitor.number("range", range_);
        visitor.number("mixability_gaps", mixability_gaps_);
        visitor.number("last_rate", last_rate_);
        visitor.count("steps", steps_);
    }

  private:
    double given_rate_, given_range_, range_;
    double mixability_gaps_ = 0, last_rate_ = 0;
    std::uint64_t steps_ = 0;
    std::vector<double> regret_, score_;
};

}  // namespace bosquet
