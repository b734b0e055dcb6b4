// Online gradient descent on the simplex: p ← projection of p + η r.
#pragma once

#include <cmath>

#include "experts/rule.hpp"
#include "experts/simplex.hpp"

namespace bosquet {

class OnlineGradientDescent final : public Rule {
  public:
    explicit OnlineGradientDescent(const RuleSetup& setup)
        : Rule(setup), given_rate_(setup.rate), p_(prior_), sorted_(size()) {}

    double rate() const override {
        if (given_rate_ > 0) return given_rate_;
        return squares_ > 0 ? 1 / std::sqrt(squares_) : 0.0;
    }

    void weights(Awake awake, double* p) override {
        normalise(p_.data(), prior_.data(), awake, size(), p);
    }

    void update(const double* excess) override {
        squares_ += sum_over(size(), [&](std::size_t k) { return excess[k] * excess[k]; });
        double eta = rate();
        for (std::size_t k = 0; k < size(); ++k) p_[k] += eta * excess[k];
        project_to_simplex(p_, sorted_);
    }

    // √2 D √Σ|r|² with the diameter D = √2 (Orabona 2019, chapter 4). With a fixed rate: |e_k -
    // prior|² / (2η) + η Σ|r|² / 2.
    double bound(std::size_t k) const override {
        if (!(given_rate_ > 0)) return 2 * std::sqrt(squares_);
        double distance = sum_over(size(), [&](std::size_t j) {
            double difference = (j == k ? 1.0 : 0.0) - prior_[j];
            return difference * difference;
        });
        return distance / (2 * given_rate_) + given_rate_ * squares_ / 2;
    }

    void visit(StateVisitor& visitor) override {
        visitor.numbers("weights", p_, 0);
        visitor.number("squares", squares_);
    }

  private:
    double given_rate_, squares_ = 0;
    std::vector<double> p_, sorted_;
};

}  // namespace bosquet
