// ML-Poly: p_k ∝ prior_k η_k max(R_k, 0) with one rate per expert, 1/η_k = B + Σ r_k², where B is
// the largest squared excess of any expert so far (Gaillard, Stoltz and van Erven 2014; B is
// learned online as in the R package opera).
#pragma once

#include <cmath>

#include "experts/rule.hpp"

namespace bosquet {

class MLPoly final : public Rule {
  public:
    explicit MLPoly(const RuleSetup& setup)
        : Rule(setup),
          largest_(setup.range * setup.range),
          regret_(size(), 0.0),
          squares_(size(), 0.0),
          unnormalised_(size()) {}

    void weights(Awake awake, double* p) override {
        for (std::size_t k = 0; k < size(); ++k) {
            double positive = regret_[k] > 0 ? regret_[k] : 0.0;
            unnormalised_[k] = positive > 0 ? prior_[k] * positive / (largest_ + squares_[k]) : 0.0;
        }
        normalise(unnormalised_.data(), prior_.data(), awake, size(), p);
    }

    void update(const double* excess) override {
        double step_size = extremes(excess, size()).magnitude();
        double before = largest_ > 0 ? growth(excess, largest_, false) : 0.0;
        bool first = !(largest_ > 0);
        largest_ = step_size * step_size > largest_ ? step_size * step_size : largest_;
        double after = largest_ > 0 ? growth(excess, largest_, true) : 0.0;
        // The potential Σ prior_k η_k max(R_k, 0)² grows by at most `before`, because the weights
        // are orthogonal to the excess. By the triangle inequality its square root grows by at most
        // √after, which is the smaller bound if a step is larger than all steps before it.
        double by_root = std::sqrt(potential_) + std::sqrt(after);
        double by_sum = potential_ + before;
        potential_ = first || by_root * by_root < by_sum ? by_root * by_root : by_sum;
        for (std::size_t k = 0; k < size(); ++k) {
            regret_[k] += excess[k];
            squares_[k] += excess[k] * excess[k];
        }
    }

    // √(Φ / (prior η_k)); at most √(N (1 + ln(1 + n)) (M² + Σ r_k²)) if the range M is given.
    double bound(std::size_t k) const override {
        return std::sqrt(potential_ * (largest_ + squares_[k]) / prior_[k]);
    }

    void visit(StateVisitor& visitor) override {
        visitor.numbers("regret", regret_);
        visitor.numbers("squares", squares_, 0);
        visitor.number("largest", largest_);
        visitor.number("potential", potential_);
    }

  private:
    double growth(const double* excess, double largest, bool with_step) const {
        return sum_over(size(), [&](std::size_t k) {
            double square = excess[k] * excess[k];
            return prior_[k] * square / (largest + squares_[k] + (with_step ? square : 0.0));
        });
    }

    double largest_, potential_ = 0;
    std::vector<double> regret_, squares_, unnormalised_;
};

}  // namespace bosquet
