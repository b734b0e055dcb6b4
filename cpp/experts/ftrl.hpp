// Follow the regularised leader: p minimises ψ(p)/η - R·p over the simplex, where ψ is half the
// squared distance to the prior weights or the relative entropy to them.
#pragma once

#include <cmath>

#include "experts/rule.hpp"
#include "experts/simplex.hpp"

namespace bosquet {

class RegularisedLeader final : public Rule {
  public:
    explicit RegularisedLeader(const RuleSetup& setup)
        : Rule(setup),
          given_rate_(setup.rate),
          entropy_(setup.entropy),
          limit_(setup.entropy ? setup.range
                               : setup.range * std::sqrt(static_cast<double>(size()))),
          regret_(size(), 0.0),
          p_(size()),
          sorted_(size()) {
        double farthest = 0;
        for (std::size_t k = 0; k < size(); ++k)
            farthest = distance(k) > farthest ? distance(k) : farthest;
        scale_ = entropy_ ? 2 * std::sqrt(log_size()) : std::sqrt(farthest);
    }

    double rate() const override {
        if (given_rate_ > 0) return given_rate_;
        double limit = limit_.value();
        return limit > 0 ? scale_ / std::sqrt(limit * limit + squares_) : 0.0;
    }

    void weights(Awake awake, double* p) override {
        double eta = rate();
        if (entropy_) {
            for (std::size_t k = 0; k < size(); ++k) p_[k] = log_prior(k) + eta * regret_[k];
            softmax(p_.data(), awake, size(), p);
            return;
        }
        for (std::size_t k = 0; k < size(); ++k) p_[k] = prior_[k] + eta * regret_[k];
        project_to_simplex(p_, sorted_);
        normalise(p_.data(), prior_.data(), awake, size(), p);
    }

    void update(const double* excess) override {
        double norm;
        if (entropy_)
            norm = extremes(excess, size()).width();
        else
            norm =
                std::sqrt(sum_over(size(), [&](std::size_t k) { return excess[k] * excess[k]; }));
        double eta = rate();
        // With a fixed rate, which the user chose, no step is shrunk.
        double factor = given_rate_ > 0 ? 1.0 : limit_.admit(norm);
        norm *= factor;
        stability_ += eta * norm * norm / (entropy_ ? 8 : 2);
        squares_ += norm * norm;
        last_rate_ = eta;
        for (std::size_t k = 0; k < size(); ++k) regret_[k] += factor * excess[k];
    }

    // ψ(e_k)/η_n + Σ η_t |r_t|²/2 (for the entropy: the spread of r and 8), plus what the limit cut
    // off.
    double bound(std::size_t k) const override {
        double start = last_rate_ > 0 ? distance(k) / last_rate_ : 0.0;
        return start + stability_ + limit_.cut_off();
    }

    void visit(StateVisitor& visitor) override {
        visitor.numbers("regret", regret_);
        visitor.number("squares", squares_);
        visitor.number("stability", stability_);
        visitor.number("last_rate", last_rate_);
        limit_.visit(visitor);
    }

  private:
    double distance(std::size_t k) const {
        if (entropy_) return -log_prior(k);
        return 0.5 * sum_over(size(), [&](std::size_t j) {
                   double difference = (j == k ? 1.0 : 0.0) - prior_[j];
                   return difference * difference;
               });
    }

    double given_rate_;
    bool entropy_;
    ExcessLimit limit_;
    double scale_, squares_ = 0, stability_ = 0, last_rate_ = 0;
    std::vector<double> regret_, p_, sorted_;
};

}  // namespace bosquet
